import RequestDecoration

/// One option of curl's as the user gave it, by its long name.
struct CurlOption: Equatable {
    /// The long name without dashes, and without the `no-` that turns a switch off.
    let name: String
    /// Whether a switch is on; true for options with a value.
    var isOn = true
    /// The value, octet for octet; `nil` for a switch.
    var value: [UInt8]?
    /// Whether it came from a file: options that people keep out of argument lists are passed on through a pipe.
    var isPrivate = false

    /// How a message calls it.
    var spelling: String { isOn ? "--\(name)" : "--no-\(name)" }

    /// The words of an argument list.
    var words: [[UInt8]] { [Array(spelling.utf8)] + (value.map { [$0] } ?? []) }

    /// The line of a configuration file.
    var configurationLine: [UInt8] {
        var line = Array(spelling.dropFirst(2).utf8)
        if let value { line += Array(" = ".utf8) + CurlConfiguration.quoted(value) }
        return line + [UInt8(ascii: "\n")]
    }

    /// The lower-case name of the field that a `--header` value is for.
    var fieldName: String? {
        guard name == "header", let value else { return nil }
        let end = value.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") } ?? value.endIndex
        return String(decoding: value[..<end].filter { !InputFile.isWhiteSpace($0) }, as: UTF8.self).lowercased()
    }

    /// The text after the colon of a `--header` value, trimmed; `nil` if there is no colon.
    var fieldValue: [UInt8]? {
        guard let value, let colon = value.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return Array(value[(colon + 1)...]).trimmed
    }
}

extension [UInt8] {
    /// The bytes without white space at the ends.
    var trimmed: [UInt8] {
        let rest = drop(while: InputFile.isWhiteSpace)
        guard let last = rest.lastIndex(where: { !InputFile.isWhiteSpace($0) }) else { return [] }
        return Array(rest[...last])
    }
}

// The options for the request's body.
extension CurlOption {
    /// The options that make a POST of the request.
    static let bodyNames: Set = [
        "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "form", "form-string", "json",
    ]

    /// The options that go when the body goes.
    static let bodyOptions: Set = bodyNames.union(["form-escape", "request", "upload-file"])

    /// The header fields that go when the body goes: those that describe it.
    static let bodyFields = Set(RedirectChain.bodyFieldNames)

    /// The files that the option takes from, `-` for standard input.
    private var files: [String] {
        guard let value else { return [] }
        let text = String(decoding: value, as: UTF8.self)
        switch name {
        case "data", "data-ascii", "data-binary", "json", "proxy-header":
            return text.hasPrefix("@") ? [String(text.dropFirst())] : []
        case "data-urlencode", "url-query":
            // NAME@FILE; after an equals sign everything is content.
            guard let mark = text.firstIndex(where: { $0 == "@" || $0 == "=" }), text[mark] == "@" else { return [] }
            return [String(text[text.index(after: mark)...])]
        case "upload-file":
            return [CurlTarget.isStandardInput(value) ? "-" : text]
        case "form":
            // NAME=@FILE,FILE;type=… and NAME=<FILE
            guard let equals = text.firstIndex(of: "=") else { return [] }
            let content = text[text.index(after: equals)...]
            guard content.hasPrefix("@") || content.hasPrefix("<") else { return [] }
            return content.dropFirst().prefix { $0 != ";" }.split(separator: ",").map {
                String($0.filter { $0 != "\"" })
            }
        default:
            return []
        }
    }

    /// Whether it takes standard input.
    var readsStandardInput: Bool { files.contains("-") }

    /// The files it takes, other than standard input.
    var bodyFiles: [String] { files.filter { $0 != "-" } }
}

/// The options of the installed curl, as its own `--help all` lists them: the names of each, and whether it takes a
/// value. A table of our own would be wrong for every other version.
struct CurlOptionTable {
    struct Entry: Equatable {
        /// The long name, without the `no-` that the list shows of some.
        let name: String
        let takesValue: Bool
        /// Whether the list shows it switched off, as `-N, --no-buffer`: so does the letter mean it.
        let isShownOff: Bool
    }

    private var long: [String: Entry] = [:]
    private var short: [UInt8: Entry] = [:]

    /// Reads the list; `nil` if the text is not such a list.
    init?(help: [UInt8]) {
        for line in help.split(separator: UInt8(ascii: "\n")) {
            read(line)
        }
        // Every curl has these, and has had more than a hundred for twenty years.
        guard long.count > 50, long["url"]?.takesValue == true, long["location"]?.takesValue == false,
            short[UInt8(ascii: "o")]?.takesValue == true
        else { return nil }
    }

    /// ` -o, --output <file>     Write to file instead of stdout`
    private mutating func read(_ line: ArraySlice<UInt8>) {
        var rest = line.drop { $0 == UInt8(ascii: " ") }
        var letter: UInt8?
        if rest.count > 3, rest.first == UInt8(ascii: "-"), rest[rest.startIndex + 2] == UInt8(ascii: ",") {
            letter = rest[rest.startIndex + 1]
            rest = rest.dropFirst(3).drop { $0 == UInt8(ascii: " ") }
        }
        guard rest.starts(with: Array("--".utf8)) else { return }
        rest = rest.dropFirst(2)
        let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
        var name = String(decoding: rest[..<end], as: UTF8.self).lowercased()
        let behind = end + 1 < rest.endIndex ? rest[end + 1] : nil
        let isShownOff = name.hasPrefix("no-")
        if isShownOff { name.removeFirst(3) }
        let takesValue = behind == UInt8(ascii: "<") || behind == UInt8(ascii: "[")
        let entry = Entry(name: name, takesValue: takesValue, isShownOff: isShownOff)
        long[name] = entry
        if let letter { short[letter] = entry }
    }

    /// The option with a letter.
    subscript(letter letter: UInt8) -> Entry? { short[letter] }

    /// The option with a long name, typed without its dashes; as in curl, a beginning will do that no other has.
    func entry(_ typed: String) -> (entry: Entry, isOn: Bool)? {
        var name = typed.lowercased()
        let isOn = !name.hasPrefix("no-")
        if !isOn { name.removeFirst(3) }
        if let entry = long[name] { return (entry, isOn) }
        let candidates = long.values.filter { !name.isEmpty && $0.name.hasPrefix(name) }
        guard candidates.count == 1, let entry = candidates.first else { return nil }
        return (entry, isOn)
    }
}
