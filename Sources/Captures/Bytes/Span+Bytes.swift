extension Span<UInt8> {
    /// Whether these bytes are `text`, letters compared without case. `text` must be lower case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in 0..<count where ASCII.lowercased(self[index]) != text.utf8Start[index] { return false }
        return true
    }

    /// Whether these bytes are `text`.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    /// Whether these bytes begin with `text`.
    @inline(__always)
    func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// These bytes without the carriage return that a line of theirs may end with.
    var droppingCarriageReturn: Range<Int> {
        count > 0 && self[count - 1] == ASCII.carriageReturn ? 0..<(count - 1) : 0..<count
    }

    /// The range within `range` that is left when spaces and tabs are cut from both ends.
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, ASCII.isBlank(self[lower]) { lower += 1 }
        while upper > lower, ASCII.isBlank(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }

    /// The number of line feeds.
    var lineFeedCount: Int {
        var total = 0
        var position = 0
        while let next = firstIndex(of: ASCII.lineFeed, from: position) {
            total += 1
            position = next + 1
        }
        return total
    }
}

extension [UInt8] {
    /// Appends the bytes of `span`.
    @inline(__always)
    mutating func append(_ span: Span<UInt8>) {
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension String {
    /// The text that `bytes` are, `nil` where they are not UTF-8.
    init?(validating bytes: Span<UInt8>) {
        guard let text = bytes.withUnsafeBufferPointer({ String(validating: $0, as: UTF8.self) }) else { return nil }
        self = text
    }

    /// The text that `bytes` are; what is not UTF-8 in them becomes U+FFFD.
    init(repairing bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
