import WebPrimitives

/// A JSON object of the plainest kind: a few members that are text of printable ASCII without escapes, small whole
/// numbers, true or false, or a list of such objects, each once.
///
/// Nearly all frequent requests have this form, and reading it takes a tenth of the time. Everything else, well formed
/// or not, is left to the decoder, which reports errors.
struct FlatJSONObject {
    private enum Value {
        case text(Range<Int>)
        case number(Int)
        case bool(Bool)
        case objects([FlatJSONObject])
    }

    /// How many members an object has at most. No document that is read so has more, and each is compared with all.
    static let memberLimit = 16

    private let bytes: [UInt8]
    private var members: [(name: Range<Int>, value: Value)] = []

    /// Reads an object; `nil` if it is of another kind.
    init?(_ bytes: [UInt8]) {
        var position = 0
        self.init(bytes, &position, depth: 0)
        guard next(&position) == nil else { return nil }
    }

    /// Reads the object that is next.
    private init?(_ bytes: [UInt8], _ position: inout Int, depth: Int) {
        self.bytes = bytes
        guard next(&position) == UInt8(ascii: "{") else { return nil }
        repeat {
            guard members.count < FlatJSONObject.memberLimit, let name = text(&position),
                next(&position) == UInt8(ascii: ":"), let value = value(&position, depth),
                !members.contains(where: { bytes[$0.name] == bytes[name] })
            else { return nil }
            members.append((name, value))
            switch next(&position) {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "}"): return
            default: return nil
            }
        } while true
    }

    /// How many members there are.
    var count: Int { members.count }

    /// The text of a member; `nil` if the object has no such text.
    func text(_ name: StaticString) -> String? {
        guard case .text(let range)? = value(of: name) else { return nil }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// The number of a member; `nil` if the object has no such number.
    func number(_ name: StaticString) -> Int? {
        guard case .number(let number)? = value(of: name) else { return nil }
        return number
    }

    /// The objects of a member; `nil` if the object has no such array.
    func objects(_ name: StaticString) -> [FlatJSONObject]? {
        guard case .objects(let objects)? = value(of: name) else { return nil }
        return objects
    }

    /// The truth of a member; `nil` if the object has no such Boolean.
    func bool(_ name: StaticString) -> Bool? {
        guard case .bool(let truth)? = value(of: name) else { return nil }
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

    /// The place of a text, after its first quotation mark.
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

    private func value(_ position: inout Int, _ depth: Int) -> Value? {
        let start = position
        guard let first = next(&position) else { return nil }
        switch first {
        case UInt8(ascii: "\""):
            position = start
            return text(&position).map { .text($0) }
        case UInt8(ascii: "t"): return rest("rue", &position) ? .bool(true) : nil
        case UInt8(ascii: "f"): return rest("alse", &position) ? .bool(false) : nil
        case UInt8(ascii: "1")...UInt8(ascii: "9"): return .number(number(first, &position))
        case UInt8(ascii: "[") where depth == 0: return objects(&position).map { .objects($0) }
        default: return nil
        }
    }

    /// Whether a word goes on so.
    private func rest(_ word: StaticString, _ position: inout Int) -> Bool {
        let word = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[position...].starts(with: word) else { return false }
        position += word.count
        return true
    }

    /// A whole number of at most nine digits. One that goes on, in whatever way, is followed by no comma and no bracket.
    private func number(_ first: UInt8, _ position: inout Int) -> Int {
        var number = Int(first - UInt8(ascii: "0"))
        let end = min(bytes.count, position + 8)
        while position < end, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            number = number * 10 + Int(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        return number
    }

    private func objects(_ position: inout Int) -> [FlatJSONObject]? {
        var objects: [FlatJSONObject] = []
        while true {
            guard let object = FlatJSONObject(bytes, &position, depth: 1) else { return nil }
            objects.append(object)
            switch next(&position) {
            case UInt8(ascii: ","): continue
            case UInt8(ascii: "]"): return objects
            default: return nil
            }
        }
    }
}
