import CookieModel

/// Reads cookie files: seven columns a line, separated by tabs, as Netscape wrote them and curl, wget, yt-dlp and
/// browsers' exporters do. ``NetscapeLine`` says what a line may be.
///
/// A line that is no cookie line is one failure. Empty lines and comments are nothing. A line and the same one with the
/// mark of HttpOnly right behind it are one cookie: so ``NetscapeWriter`` writes those for tools that do not know the mark.
struct NetscapeReader: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var parser = NetscapeLine()
    /// The last cookie, whose next line may be the same with the mark.
    private var waiting: (record: CookieRecord, place: CapturePlace)?

    /// A file whose first line has the number `firstLine` in `source`.
    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        switch parser.parse(bytes.extracting(bytes.droppingCarriageReturn)) {
        case .nothing: break
        case .cookie(let record):
            if let plain = waiting?.record, record.isHTTPOnly, !plain.isHTTPOnly {
                var marked = plain
                marked.isHTTPOnly = true
                if marked == record { waiting = nil }
            }
            passOn(into: &items)
            waiting = (record, place)
        case .malformed(let finding):
            passOn(into: &items)
            items.append(.failure(.lineMalformed(finding, at: place)))
        }
    }

    mutating func leaveOutLine(into items: inout [CaptureItem]) {
        passOn(into: &items)
        items.append(.failure(.lineTooLong(at: place)))
    }

    mutating func finishLines(into items: inout [CaptureItem]) {
        passOn(into: &items)
    }

    private mutating func passOn(into items: inout [CaptureItem]) {
        if let (record, place) = waiting { items.append(.cookie(record, place)) }
        waiting = nil
    }
}
