import WebPrimitives

/// Reads JSON lines of our own, as ``CookieLineWriter`` writes them: a cookie a line, nothing lost.
///
/// A line that is no cookie is one failure. Empty lines are nothing.
struct CookieLineReader: LineFormatReader {
    let source: String
    var lines: LineBuffer

    /// A file whose first line has the number `firstLine` in `source`.
    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    func take(_ line: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        var stream = JSONStream(handler: CookieLine(), line: lines.number, column: 1)
        stream.read(line)
        guard stream.isComplete else {
            items.append(.failure(.lineMalformed("The line is not a JSON object.", at: place)))
            return
        }
        switch stream.handler.result {
        case .cookie(let record): items.append(.cookie(record, place))
        case .malformed(let finding): items.append(.failure(.lineMalformed(finding, at: place)))
        }
    }
}
