/// A JSON object of the plainest kind: members that are text of printable ASCII without escapes, or true or false, each
/// once.
///
/// Nearly every request that is asked for often is one, and read so in a tenth of the time. What is not, well formed or
/// else, is for the decoder, which knows what is wrong with it.
struct PlainObject {
    private enum Value {
        case text(Range<Int>)
        case truth(Bool)
    }

    private let bytes: [UInt8]
    private var members: [(name: Range<Int>, value: Value)] = []

    /// Reads an object; `nil` where it is of another kind.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        var position = 0
        guard next(&position) == UInt8(ascii: "{") else { return nil }
        repeat {
            guard let name = text(&position), next(&position) == UInt8(ascii: ":"), let value = value(&position),
                !members.contains(where: { bytes[$0.name] == bytes[name] })
            else { return nil }
            members.append((name, value))
            switch next(&position) {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "}"):
                guard next(&position) == nil else { return nil }
                return
            default: return nil
            }
        } while true
    }

    /// How many members there are.
    var count: Int { members.count }

    /// The text of a member; `nil` where there is none.
    func text(_ name: StaticString) -> String? {
        guard case .text(let range)? = value(of: name) else { return nil }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// The truth of a member; `nil` where there is none.
    func truth(_ name: StaticString) -> Bool? {
        guard case .truth(let truth)? = value(of: name) else { return nil }
        return truth
    }

    private func value(of name: StaticString) -> Value? {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return members.first { bytes[$0.name].elementsEqual(name) }?.value
    }

    /// The next byte that is no white space; `nil` at the end.
    private func next(_ position: inout Int) -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
            default: return byte
            }
        }
        return nil
    }

    /// The place of a text, behind its first quotation mark.
    private func text(_ position: inout Int) -> Range<Int>? {
        guard next(&position) == UInt8(ascii: "\"") else { return nil }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return start..<(position - 1)
            }
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        return nil
    }

    private func value(_ position: inout Int) -> Value? {
        let start = position
        if let text = text(&position) { return .text(text) }
        position = start
        guard let first = next(&position) else { return nil }
        for (word, truth) in [("true", true), ("false", false)] as [(StaticString, Bool)] {
            let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            guard first == word[0], bytes[(position - 1)...].starts(with: word) else { continue }
            position += word.count - 1
            return .truth(truth)
        }
        return nil
    }
}
