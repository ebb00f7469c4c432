internal import CookieModel

/// A script of this module as it stands in its file: comments for those who read it there, and places for what differs.
struct ScriptTemplate {
    private let lines: [Substring]

    init(_ bytes: [UInt8]) {
        lines = Octets(bytes).utf8String?.split(separator: "\n") ?? []
    }

    /// The script with lines of code in its places and without comments.
    ///
    /// - Parameter parts: what stands in the place of a line `//{name}`, by name.
    func source(_ parts: [String: [String]]) -> String {
        var source = ""
        for line in lines {
            let indentation = line.prefix { $0 == " " }
            let text = line.dropFirst(indentation.count)
            guard text.hasPrefix("//") else {
                source += "\(line)\n"
                continue
            }
            guard text.hasPrefix("//{"), text.hasSuffix("}") else { continue }
            for part in parts[String(text.dropFirst(3).dropLast())] ?? [] { source += "\(indentation)\(part)\n" }
        }
        return source
    }
}
