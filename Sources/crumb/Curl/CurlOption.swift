/// One option of curl's as the user gave it, by its long name.
struct CurlOption: Equatable {
    /// The long name without dashes, and without the `no-` that turns a switch off.
    let name: String
    /// Whether a switch is on; true for options with a value.
    var isOn = true
    /// The value, octet for octet; `nil` for a switch.
    var value: [UInt8]?
    /// Whether it came from a file: what people keep out of argument lists is given back through a pipe.
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

    /// What stands behind the colon of a `--header` value, trimmed; `nil` where there is no colon.
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
