/// Reads cookie files: seven columns a line, separated by tabs, as Netscape wrote them and curl, wget, yt-dlp and
/// browsers' exporters do. ``NetscapeLine`` says what a line may be.
///
/// A line that is no cookie line is one failure. Empty lines and comments are nothing.
struct NetscapeReader: FormatReader {
    private let source: String
    private var lines: LineBuffer
    private var parser = NetscapeLine()

    /// A file whose first line has the number `firstLine` in `source`.
    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    var bufferedByteCount: Int { lines.bufferedByteCount }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var position = 0
        while let line = lines.next(in: bytes, from: &position) {
            switch line {
            case .inPiece(let range): take(bytes.extracting(range), into: &items)
            case .joined(let bytes): take(bytes.span, into: &items)
            case .tooLong: items.append(.failure(.lineTooLong(at: place)))
            }
        }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        // The last line counts without its line feed too: many exporters leave it away.
        switch lines.last() {
        case .joined(let bytes): take(bytes.span, into: &items)
        case .tooLong: items.append(.failure(.lineTooLong(at: place)))
        case .inPiece, nil: break
        }
    }

    private var place: CapturePlace {
        CapturePlace(source: source, line: lines.number)
    }

    private mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        switch parser.parse(bytes.extracting(bytes.droppingCarriageReturn)) {
        case .nothing: break
        case .cookie(let record): items.append(.cookie(record, place))
        case .malformed(let finding): items.append(.failure(.lineMalformed(finding, at: place)))
        }
    }
}
