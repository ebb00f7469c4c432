/// Reads cookie files: seven columns a line, separated by tabs, as Netscape wrote them and curl, wget, yt-dlp and
/// browsers' exporters do. ``NetscapeLine`` says what a line may be.
///
/// A line that is no cookie line is one failure. Empty lines and comments are nothing.
struct NetscapeReader: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var parser = NetscapeLine()

    /// A file whose first line has the number `firstLine` in `source`.
    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        switch parser.parse(bytes.extracting(bytes.droppingCarriageReturn)) {
        case .nothing: break
        case .cookie(let record): items.append(.cookie(record, place))
        case .malformed(let finding): items.append(.failure(.lineMalformed(finding, at: place)))
        }
    }
}
