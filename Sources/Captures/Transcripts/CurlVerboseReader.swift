import HTTPMessages
import WebPrimitives

/// Reads what `curl -v` tells on standard error: `> ` before the lines of requests, `< ` before those of responses, `* `
/// before remarks, `{ ` and `} ` before counts of bytes.
///
/// **A body must never set a cookie.** Where bodies were written among these lines (`2>&1`), a body can look like any of
/// them; so no response counts that follows a line of another kind.
struct CurlVerboseReader: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var transcript: ClientTranscript
    /// Whether a line came that is none of curl's.
    private var isMixed = false
    private var isOver = false

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
        if !transcript.hasResponses, !isOver {
            items.append(.failure(.noResponses(at: CapturePlace(source: source))))
        }
    }

    mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !isOver else { return }
        let whole = bytes.extracting(bytes.droppingCarriageReturn)
        let line = whole.extracting(TranscriptLine.start(of: whole)..<whole.count)
        guard line.count > 0, line.count == 1 || line[1] == ASCII.space else { return takeOther(line) }
        let text = line.extracting(min(2, line.count)..<line.count)
        switch line[0] {
        case UInt8(ascii: "<"):
            if isMixed, StatusLine(text) != nil {
                items.append(.failure(.responseSkipped(at: place)))
                isOver = true
                return
            }
            transcript.takeResponseLine(text, number: lines.number, into: &items)
        case UInt8(ascii: ">"): transcript.takeRequestLine(text)
        case UInt8(ascii: "*"): transcript.takeRemark(text)
        case ASCII.leftBrace, ASCII.rightBrace: break
        default: takeOther(line)
        }
    }

    private mutating func takeOther(_ line: Span<UInt8>) {
        if transcript.hasResponses, !isProgress(line) { isMixed = true }
    }

    /// Whether a line is of the progress meter: nothing but figures, or its heading.
    private func isProgress(_ line: Span<UInt8>) -> Bool {
        if line.hasPrefix("  % Total ") || line.hasPrefix("                                 Dload ") { return true }
        for index in 0..<line.count {
            switch line[index] {
            case ASCII.space, ASCII.hyphen, ASCII.colon, ASCII.dot, ASCII.carriageReturn, 0x6B, 0x4D, 0x47: continue
            default: guard ASCII.isDigit(line[index]) else { return false }
            }
        }
        return true
    }
}
