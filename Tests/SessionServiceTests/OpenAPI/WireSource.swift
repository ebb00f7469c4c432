import Foundation

/// The types of documents and their members, read from the sources of `SessionWire`: what only the sources have is the
/// comment beside each member.
///
/// The sources are plain: a type or a member is one line, indented by its depth, below its comment. ``SchemaTests`` decode
/// the types themselves with the result.
struct WireSource {
    struct Member {
        let name: String
        /// The type as it is written, with a question mark if the member may be missing.
        let type: String
        let comment: String
    }

    struct WireType {
        let comment: String
        var members: [Member] = []
        /// The cases with their raw values.
        var cases: [Member] = []
    }

    /// The types by name; a nested one has the names of those around it in front, with dots.
    private(set) var types: [String: WireType] = [:]
    /// The names of documents with the details of a request, by their generic types.
    private var detailed: [String: String] = [:]

    init() throws {
        for file in try FileManager.default.contentsOfDirectory(at: Self.folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "swift" {
            read(try String(contentsOf: file, encoding: .utf8))
        }
        let details = types["RequestDetails"]?.members ?? []
        for (type, name) in detailed {
            let members = types[String(type.dropFirst("Detailed<".count).dropLast())]?.members ?? []
            // The details come after the URL that they belong to.
            let end = (members.firstIndex { $0.name.hasPrefix("url") } ?? -1) + 1
            types[name]?.members = members[..<end] + details + members[end...]
        }
    }

    /// The name of a type in the sources.
    func name(of type: Any.Type) -> String { detailed["\(type)"] ?? "\(type)" }

    /// The folder of the package's sources.
    static var folder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/SessionWire")
            .standardized
    }

    /// The type that a member names: one nested in the member's type or beside it, or one of the module.
    func name(of type: String, in outer: String) -> String {
        var outer = outer[...]
        while !outer.isEmpty {
            if types["\(outer).\(type)"] != nil { return "\(outer).\(type)" }
            outer = outer.lastIndex(of: ".").map { outer[..<$0] } ?? ""
        }
        return type
    }

    private mutating func read(_ text: String) {
        var names: [Substring] = []
        var comment: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let content = line.drop { $0 == " " }
            let depth = (line.count - content.count) / 4
            if let match = content.wholeMatch(of: /\/\/\/ ?(.*)/) {
                if !match.output.1.isEmpty { comment.append(match.output.1) }
                continue
            }
            defer { comment = [] }
            let said = Self.published(comment.joined(separator: " "))
            if let match = content.wholeMatch(of: /(?:public|package) typealias (\w+) = (Detailed<\w+>)/) {
                detailed[String(match.output.2)] = String(match.output.1)
                types[String(match.output.1)] = WireType(comment: said)
            }
            if depth < names.count, content == "}" {
                names.removeLast(names.count - depth)
            } else if depth == names.count,
                let match = content.wholeMatch(of: /(?:public|package) (?:struct|enum) (\w+).*\{/)
            {
                names.append(match.output.1)
                types[names.joined(separator: ".")] = WireType(comment: said)
            } else if depth == names.count, !names.isEmpty {
                let name = names.joined(separator: ".")
                if let member = Self.member(content, said) { types[name]?.members.append(member) }
                if let match = content.wholeMatch(of: /case (\w+)(?: = "(.*)")?/) {
                    let value = match.output.2 ?? match.output.1
                    types[name]?.cases.append(Member(name: String(value), type: "", comment: said))
                }
            }
        }
    }

    /// A member that a line declares. Those of a report that is filled step by step begin with a value.
    private static func member(_ line: Substring, _ comment: String) -> Member? {
        let pattern =
            /(?:public|package) (?:\w+\(set\) )?(?:let|var) (\w+)(?:: ([^={]+?))?(?: = (0|\w+\(\)|\[\]|\[:\]))?/
        guard let match = line.wholeMatch(of: pattern), let type = match.output.2 ?? match.output.3 else { return nil }
        let inferred = type == "0" ? "Int" : type.replacing("()", with: "")
        return Member(name: String(match.output.1), type: String(inferred), comment: comment)
    }

    /// A comment in the words of JSON.
    private static func published(_ comment: String) -> String {
        comment.replacing("``", with: "`").replacing("`nil`", with: "absent")
    }
}
