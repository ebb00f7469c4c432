import WebPrimitives

/// The reader of a format of lines: gets each line whole, wherever the pieces were cut.
protocol LineFormatReader: FormatReader {
    /// The capture's name in places.
    var source: String { get }
    /// What cuts the pieces into lines.
    var lines: LineBuffer { get set }

    /// Takes a line, without its line feed.
    mutating func take(_ line: Span<UInt8>, into items: inout [CaptureItem])

    /// Takes note of a line that was too long to be kept.
    mutating func leaveOutLine(into items: inout [CaptureItem])

    /// Takes the end of the lines.
    mutating func finishLines(into items: inout [CaptureItem])
}

extension LineFormatReader {
    var bufferedByteCount: Int { lines.bufferedByteCount }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var position = 0
        while let line = lines.next(in: bytes, from: &position) {
            switch line {
            case .inPiece(let range): take(bytes.extracting(range), into: &items)
            case .joined(let line): take(line.span, into: &items)
            case .tooLong: leaveOutLine(into: &items)
            }
        }
    }

    /// The last line counts without its line feed too: many exporters leave it away.
    mutating func finish(into items: inout [CaptureItem]) {
        switch lines.last() {
        case .joined(let line): take(line.span, into: &items)
        case .tooLong: leaveOutLine(into: &items)
        case .inPiece, nil: break
        }
        finishLines(into: &items)
    }

    mutating func finishLines(into items: inout [CaptureItem]) {}

    mutating func leaveOutLine(into items: inout [CaptureItem]) {
        items.append(.failure(.lineTooLong(at: place)))
    }

    /// Where the line at hand stands.
    var place: CapturePlace { CapturePlace(source: source, line: lines.number) }
}
