/// Writes a flat JSON object, members in the order they are given.
struct JSONWriter {
    private var members: [[UInt8]] = []

    mutating func append(_ name: String, _ text: String) {
        members.append(JSONWriter.quoted(name) + [UInt8(ascii: ":")] + JSONWriter.quoted(text))
    }

    mutating func append(_ name: String, _ number: Int64) {
        members.append(JSONWriter.quoted(name) + Array(":\(number)".utf8))
    }

    /// A member with an array of strings.
    mutating func append(_ name: String, texts: [String]) {
        let elements = Array(texts.map(JSONWriter.quoted).joined(separator: [UInt8(ascii: ",")]))
        append(name, object: [UInt8(ascii: "[")] + elements + [UInt8(ascii: "]")])
    }

    /// A member whose value is JSON already.
    mutating func append(_ name: String, object: [UInt8]) {
        members.append(JSONWriter.quoted(name) + [UInt8(ascii: ":")] + object)
    }

    /// The object.
    var bytes: [UInt8] {
        [UInt8(ascii: "{")] + Array(members.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "}")]
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var output = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0x00..<0x20:
                let digits = String(byte, radix: 16)
                output += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            default: output.append(byte)
            }
        }
        return output + [UInt8(ascii: "\"")]
    }
}
