import Captures

/// The syntax of curl's configuration files.
enum CurlConfiguration {
    /// A line that holds an option.
    struct Line: Equatable {
        /// The option: with its dashes where it has any.
        let option: [UInt8]
        let value: [UInt8]?
    }

    /// The lines of a file that hold options.
    static func lines(_ text: [UInt8]) -> [Line] {
        text.split(separator: UInt8(ascii: "\n")).compactMap(line)
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Line? {
        let text = text.drop(while: InputFile.isWhiteSpace)
        guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "/"), first != UInt8(ascii: "*")
        else { return nil }
        // Only behind a name without dashes do '=' and ':' separate.
        let hasDash = first == UInt8(ascii: "-")
        func separates(_ byte: UInt8) -> Bool {
            InputFile.isWhiteSpace(byte) || (!hasDash && (byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")))
        }
        let end = text.firstIndex(where: separates) ?? text.endIndex
        let rest = text[end...].drop(while: separates)
        let option = Array(text[..<end])
        guard rest.first != UInt8(ascii: "\"") else { return Line(option: option, value: unquoted(rest.dropFirst())) }
        let value = rest.prefix { !InputFile.isWhiteSpace($0) }
        return Line(option: option, value: value.isEmpty ? nil : Array(value))
    }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var value: [UInt8] = []
        var isEscaped = false
        for byte in text {
            if isEscaped {
                switch byte {
                case UInt8(ascii: "t"): value.append(0x09)
                case UInt8(ascii: "n"): value.append(0x0A)
                case UInt8(ascii: "v"): value.append(0x0B)
                case UInt8(ascii: "r"): value.append(0x0D)
                default: value.append(byte)
                }
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                break
            } else {
                value.append(byte)
            }
        }
        return value
    }

    /// A value in quotes, such that curl reads the same octets.
    static func quoted(_ value: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "\"")] + CurlConfigurationWriter.escaped(value) + [UInt8(ascii: "\"")]
    }
}
