import CookieModel

/// Writes a configuration file for `curl --config`, with the Cookie field of a request.
///
/// As a header, since curl takes a `cookie` without an equals sign for a file's name. curl sends neither to another host
/// that it is redirected to.
package struct CurlConfigurationWriter: FormatWriter {
    private var header = HeaderWriter()
    private var isEmpty = true

    func begin(_ bytes: inout [UInt8]) {}

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        if isEmpty { bytes += "header = \"".utf8 }
        isEmpty = false
        var text: [UInt8] = []
        header.write(record, to: &text)
        bytes += CurlConfigurationWriter.escaped(text)
    }

    func end(_ bytes: inout [UInt8]) {
        if !isEmpty { bytes += "\"\n".utf8 }
    }

    /// Octets as they stand between the quotes of a value, such that curl reads the same ones.
    package static func escaped(_ octets: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for byte in octets {
            switch byte {
            case ASCII.quote, ASCII.backslash: text += [ASCII.backslash, byte]
            case ASCII.lineFeed: text += "\\n".utf8
            case ASCII.carriageReturn: text += "\\r".utf8
            default: text.append(byte)
            }
        }
        return text
    }
}
