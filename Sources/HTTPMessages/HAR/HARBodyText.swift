import WebPrimitives

/// Decodes the text of a body in pieces: a JSON string, and Base64 in it.
package struct HARBodyText: Sendable {
    private let isBase64: Bool
    /// Octets of the string that are not decoded yet.
    private var raw: [UInt8] = []
    /// Characters that do not fill a group of four.
    private var rest: [UInt8] = []
    /// Whether the string has ended.
    package private(set) var isComplete = false

    package init(isBase64: Bool) {
        self.isBase64 = isBase64
    }

    /// Decodes the next octets of the file.
    ///
    /// - Returns: The octets of the body that are complete; `nil` if the text is damaged.
    package mutating func decode(_ octets: [UInt8]) -> [UInt8]? {
        raw += octets
        let end = wholeCharacters()
        let piece = [ASCII.quote] + raw[..<end] + [ASCII.quote]
        raw.removeFirst(end)
        guard case .string(let text)? = JSONValue(parsing: piece.span) else { return nil }
        guard isBase64 else { return text.bytes }
        rest += text.lazy.filter { !ASCII.isBlank($0) && $0 != ASCII.lineFeed && $0 != ASCII.carriageReturn }
        let count = isComplete ? rest.count : rest.count - rest.count % 4
        defer { rest.removeFirst(count) }
        return Base64.decode(rest[..<count])
    }

    /// The number of octets up to the end of the string, or up to an incomplete escape.
    private mutating func wholeCharacters() -> Int {
        var index = 0
        while index < raw.count {
            switch raw[index] {
            case ASCII.quote:
                isComplete = true
                return index
            case ASCII.backslash:
                guard index + 1 < raw.count else { return index }
                let length = raw[index + 1] == UInt8(ascii: "u") ? 6 : 2
                guard index + length <= raw.count else { return index }
                guard length == 6, isFirstOfPair(at: index) else {
                    index += length
                    continue
                }
                // Its other half is decoded with it.
                guard index + 7 < raw.count else { return index }
                let hasOther = raw[index + 6] == ASCII.backslash && raw[index + 7] == UInt8(ascii: "u")
                guard !hasOther || index + 12 <= raw.count else { return index }
                index += hasOther ? 12 : 6
            default: index += 1
            }
        }
        return index
    }

    /// Whether an escape is for the first half of a pair of surrogates.
    private func isFirstOfPair(at index: Int) -> Bool {
        raw[index + 2] | 0x20 == UInt8(ascii: "d") && Array("89ABab".utf8).contains(raw[index + 3])
    }
}
