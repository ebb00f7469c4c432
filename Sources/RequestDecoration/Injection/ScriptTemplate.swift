internal import CookieModel

/// A script of this module as it stands in its file: comments for those who read it there, and places for what differs.
struct ScriptTemplate {
    private let lines: [Substring]

    init(_ bytes: [UInt8]) {
        lines = Octets(bytes).utf8String?.split(separator: "\n") ?? []
    }

    /// The script with code in its places and without comments.
    ///
    /// - Parameter parts: the line that stands in the place of a line `//{name}`, by name.
    func source(_ parts: [String: String]) -> String {
        var source = ""
        for line in lines {
            let indentation = line.prefix { $0 == " " }
            let text = line.dropFirst(indentation.count)
            guard text.hasPrefix("//") else {
                source += "\(line)\n"
                continue
            }
            guard text.hasPrefix("//{"), let part = parts[String(text.dropFirst(3).dropLast())] else { continue }
            source += "\(indentation)\(part)\n"
        }
        return source
    }
}
