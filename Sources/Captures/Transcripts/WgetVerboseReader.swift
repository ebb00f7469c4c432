/// Reads what `wget -S` tells on standard error: `--2026-11-21 02:56:22--  URL` before each request, and the lines of
/// the response indented by two spaces.
struct WgetVerboseReader: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var transcript: ClientTranscript

    init(source: String, url: String?, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
        transcript = ClientTranscript(source: source, url: url)
    }

    var bufferedByteCount: Int { lines.bufferedByteCount + transcript.bufferedByteCount }

    mutating func leaveOutLine(into items: inout [CaptureItem]) {
        transcript.leaveOutLine(lines.number, into: &items)
    }

    mutating func finish(into items: inout [CaptureItem]) {
        if case .joined(let line) = lines.last() { take(line.span, into: &items) }
        transcript.finish(lineCount: lines.number, into: &items)
        if !transcript.hasResponses { items.append(.failure(.noResponses(at: CapturePlace(source: source)))) }
    }

    mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        if line.hasPrefix("  ") {
            let text = line.extracting(2..<line.count)
            // Each response of a retry begins without an empty line after the one before.
            if StatusLine(text) != nil { transcript.endResponse(into: &items) }
            guard !text.isEmpty else { return }
            transcript.takeResponseLine(text, number: lines.number, into: &items)
            return
        }
        transcript.endResponse(into: &items)
        if let start = WgetVerboseReader.urlStart(line) { transcript.ask(for: line.extracting(start..<line.count)) }
    }

    /// Where the URL begins in a line such as `--2026-11-21 02:56:22--  https://example.com/`.
    static func urlStart(_ line: Span<UInt8>) -> Int? {
        let stamp: StaticString = "--0000-00-00 00:00:00--  "
        guard line.count > stamp.utf8CodeUnitCount else { return nil }
        for index in 0..<stamp.utf8CodeUnitCount {
            let expected = stamp.utf8Start[index]
            guard expected == ASCII.zero ? ASCII.isDigit(line[index]) : line[index] == expected else { return nil }
        }
        return stamp.utf8CodeUnitCount
    }
}
