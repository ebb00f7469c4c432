import WebPrimitives

/// What a format of lines holds: gets each line whole, wherever the pieces were cut.
protocol LineContent: Sendable {
    /// Takes a line, without its line feed.
    mutating func take(_ line: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem])

    /// Takes note of a line that was too long to be kept.
    mutating func leaveOutLine(at place: CapturePlace, into items: inout [CaptureItem])

    /// Takes the end of the lines.
    ///
    /// - Parameter place: the last line.
    mutating func finish(at place: CapturePlace, into items: inout [CaptureItem])

    /// How many bytes of earlier lines are held.
    var bufferedByteCount: Int { get }
}

extension LineContent {
    var bufferedByteCount: Int { 0 }

    mutating func leaveOutLine(at place: CapturePlace, into items: inout [CaptureItem]) {
        items.append(.failure(.lineTooLong, at: place))
    }

    mutating func finish(at place: CapturePlace, into items: inout [CaptureItem]) {}
}

/// The reader of a format of lines.
struct LineReader<Content: LineContent>: FormatReader {
    private let source: String
    private var lines: LineBuffer
    private var content: Content

    /// Reads lines into `content`.
    init(_ content: Content, _ start: CaptureStart) {
        self.content = content
        source = start.source
        lines = LineBuffer(firstNumber: start.line)
    }

    var bufferedByteCount: Int { lines.bufferedByteCount + content.bufferedByteCount }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var position = 0
        var place = CapturePlace(source: source)
        while let line = lines.next(in: bytes, from: &position) {
            place.line = lines.number
            switch line {
            case .inPiece(let range): content.take(bytes.extracting(range), at: place, into: &items)
            case .joined(let line): content.take(line.span, at: place, into: &items)
            case .tooLong: content.leaveOutLine(at: place, into: &items)
            }
        }
    }

    /// The last line counts without its line feed too: many exporters leave it away.
    mutating func finish(into items: inout [CaptureItem]) {
        let line = lines.last()
        let place = CapturePlace(source: source, line: lines.number)
        switch line {
        case .joined(let line): content.take(line.span, at: place, into: &items)
        case .tooLong: content.leaveOutLine(at: place, into: &items)
        case .inPiece, nil: break
        }
        content.finish(at: place, into: &items)
    }
}
