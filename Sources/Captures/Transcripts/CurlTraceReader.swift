import HTTPMessages
import WebPrimitives

/// Reads the output of `curl --trace-ascii` and `curl --trace`: a heading for each piece of data, followed by its
/// bytes, 64 a line as text or 16 a line in hexadecimal.
///
/// Each line of bytes begins with its offset. A line that begins where the one before ended continues it; one that
/// begins two bytes later follows a CRLF. As text, curl writes a dot for every byte that is not printable ASCII, so
/// octets beyond ASCII are lost; `--trace` keeps them.
struct CurlTraceReader: TranscriptContent {
    private enum Section {
        case requestHeader
        case responseHeader
        /// A remark, or data that is not needed.
        case other
    }

    var transcript: ClientTranscript
    private var section = Section.other
    /// The current line of a header, and the offset of its end so far.
    private var text: [UInt8] = []
    private var textPlace = CapturePlace(source: "")
    private var offset = 0
    private var isOpen = false
    private var isTooLong = false

    init(_ start: CaptureStart) {
        transcript = ClientTranscript(start)
    }

    var bufferedByteCount: Int { transcript.bufferedByteCount + text.capacity }

    mutating func finish(at place: CapturePlace, into items: inout [CaptureItem]) {
        endSection(into: &items)
        transcript.finish(at: place, into: &items)
    }

    mutating func take(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        let whole = bytes.extracting(bytes.droppingCarriageReturn)
        if let (start, offset) = dataLine(whole) {
            guard section != .other else { return }
            takeData(whole.extracting(start..<whole.count), from: offset, at: place, into: &items)
            return
        }
        let line = whole.extracting(TranscriptLine.start(of: whole)..<whole.count)
        endSection(into: &items)
        if line.hasPrefix("== Info: ") {
            transcript.takeRemark(line.extracting(9..<line.count))
        } else if line.hasPrefix("=> Send header, ") {
            section = .requestHeader
        } else if line.hasPrefix("<= Recv header, ") {
            section = .responseHeader
        }
    }

    /// Where the bytes begin in a line such as `0040: …`, and their offset; `nil` for a line of another kind.
    private func dataLine(_ line: Span<UInt8>) -> (start: Int, offset: Int)? {
        var offset = 0
        var position = 0
        while position < line.count, position < 12, let digit = ASCII.hexadecimalValue(line[position]) {
            offset = offset << 4 | Int(digit)
            position += 1
        }
        guard position >= 4, position + 1 < line.count, line[position] == ASCII.colon,
            line[position + 1] == ASCII.space
        else { return nil }
        return (position + 2, offset)
    }

    private mutating func takeData(
        _ data: Span<UInt8>, from offset: Int, at place: CapturePlace, into items: inout [CaptureItem]
    ) {
        if let bytes = octets(inHexadecimal: data) {
            if !isOpen { begin(at: place) }
            append(bytes.span)
            self.offset = offset + bytes.count
            while let end = text.firstIndex(of: ASCII.lineFeed) {
                let rest = Array(text[(end + 1)...])
                text.removeSubrange(end...)
                endLine(into: &items)
                begin(at: place)
                text = rest
            }
            // The empty text after the section's last CRLF is not a line.
            if text.isEmpty { isOpen = false }
            return
        }
        if isOpen, offset != self.offset { endLine(into: &items) }
        if !isOpen { begin(at: place) }
        append(data)
        self.offset = offset + data.count
    }

    private mutating func begin(at place: CapturePlace) {
        isOpen = true
        isTooLong = false
        text.removeAll(keepingCapacity: text.capacity <= 4096)
        textPlace = place
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        if isTooLong || text.count + bytes.count > CaptureLimits.fieldByteCount {
            isTooLong = true
            text = []
        } else {
            text.append(bytes)
        }
    }

    /// The bytes of a line of `--trace`: pairs of digits in 16 columns, and the same bytes as text after them; `nil`
    /// for any other line.
    private func octets(inHexadecimal line: Span<UInt8>) -> [UInt8]? {
        guard line.count > 48, line.count <= 48 + 16 else { return nil }
        let count = line.count - 48
        var bytes: [UInt8] = []
        for column in 0..<16 {
            let position = column * 3
            guard line[position + 2] == ASCII.space else { return nil }
            if column < count {
                guard let high = ASCII.hexadecimalValue(line[position]),
                    let low = ASCII.hexadecimalValue(line[position + 1])
                else { return nil }
                bytes.append(UInt8(high << 4 | low))
            } else {
                guard line[position] == ASCII.space, line[position + 1] == ASCII.space else { return nil }
            }
        }
        return bytes
    }

    private mutating func endSection(into items: inout [CaptureItem]) {
        if isOpen { endLine(into: &items) }
        section = .other
        offset = 0
    }

    private mutating func endLine(into items: inout [CaptureItem]) {
        isOpen = false
        if isTooLong { return transcript.leaveOutLine(at: textPlace, into: &items) }
        let bytes = text
        let line = bytes.span.extracting(bytes.span.droppingCarriageReturn)
        switch section {
        case .requestHeader: transcript.takeRequestLine(line)
        case .responseHeader: transcript.takeResponseLine(line, at: textPlace, into: &items)
        case .other: break
        }
    }
}

/// Reads the output of `curl -v` on standard error: `> ` before the lines of requests, `< ` before those of responses,
/// `* ` before remarks, `{ ` and `} ` before counts of bytes.
///
/// **A body must never set a cookie.** If bodies were written among these lines (`2>&1`), a body can look like any of
/// them. So a response that follows a line of another kind does not count.
struct CurlVerboseReader: TranscriptContent {
    var transcript: ClientTranscript
    /// Whether there was a line that is not curl's own.
    private var isMixed = false
    private var isOver = false

    init(_ start: CaptureStart) {
        transcript = ClientTranscript(start)
    }

    mutating func take(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard !isOver else { return }
        let whole = bytes.extracting(bytes.droppingCarriageReturn)
        let line = whole.extracting(TranscriptLine.start(of: whole)..<whole.count)
        guard line.count > 0, line.count == 1 || line[1] == ASCII.space else { return takeOther(line) }
        let text = line.extracting(min(2, line.count)..<line.count)
        switch line[0] {
        case UInt8(ascii: "<"):
            if isMixed, StatusLine(text) != nil {
                items.append(.failure(.responseSkipped, at: place))
                isOver = true
                return
            }
            transcript.takeResponseLine(text, at: place, into: &items)
        case UInt8(ascii: ">"): transcript.takeRequestLine(text)
        case UInt8(ascii: "*"): transcript.takeRemark(text)
        case ASCII.leftBrace, ASCII.rightBrace: break
        default: takeOther(line)
        }
    }

    private mutating func takeOther(_ line: Span<UInt8>) {
        if transcript.hasResponses, !CurlProgress.isWhole(line) { isMixed = true }
    }
}
