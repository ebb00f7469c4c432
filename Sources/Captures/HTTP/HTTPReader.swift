import CookieModel
import HTTPMessages
import WebPrimitives

/// Reads responses as they are on the wire: header blocks with or without bodies.
///
/// **A body must never set a cookie.** So a header block is read only in its place: at the beginning, and after a
/// response that the same transfer continues from (``CapturedHead/Sequel``): an informational one, a proxy's
/// `200 Connection established`, a redirect with a `Location`, `401` and `407`. The next header block may be
/// - directly after the header block (empty lines between them do not count): header dumps have no bodies, and curl
///   does not print the body of a response that it continues from, whatever its Content-Length is;
/// - or after a body, if a Content-Length gives its end and neither Transfer-Encoding nor Content-Encoding indicates
///   that it is printed decoded.
///
/// Everything else up to the end of the input is body and is passed over. If it looks like a response at one of these
/// two places, it is reported, so that no cookie is lost silently.
///
/// Lines end with CRLF or LF. Folded lines are joined with a space (RFC 9112, section 5.2). A line that is longer than
/// the limit, or not a field, is left out and reported. Octets are kept unchanged: the cookie rules decide on control
/// characters. A block that lacks its empty line is cut off: its complete lines count, an incomplete one could have
/// lost its `Secure` and does not.
struct HTTPReader: FormatReader {
    enum Stage {
        case statusLine
        case fields
        /// After a header block, where a body of the given length may begin, or another header block.
        case boundary(bodyLength: Int?)
        case body(Int)
        /// Nothing more is read.
        case rest
    }

    let source: String
    private var url: TranscriptURL
    var stage = Stage.statusLine
    var lines: LineBuffer
    private var block: HeaderBlock?
    private var blockCount = 0
    /// The bytes at a boundary, while they may still be a status line; empty lines before it were only counted.
    var probe: [UInt8] = []
    var blankCount = 0
    /// Whether a header block at the boundary is read, not just reported.
    var mayContinue = false

    /// The responses to a request for the URL that the caller names.
    init(_ start: CaptureStart) {
        source = start.source
        url = TranscriptURL(text: start.url, origin: .given)
        lines = LineBuffer(firstNumber: start.line)
    }

    var bufferedByteCount: Int {
        lines.bufferedByteCount + (block?.bufferedByteCount ?? 0)
    }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var position = 0
        while position < bytes.count {
            switch stage {
            case .statusLine, .fields:
                guard let line = lines.next(in: bytes, from: &position) else { return }
                switch line {
                case .inPiece(let range): take(bytes.extracting(range), into: &items)
                case .joined(let line): take(line.span, into: &items)
                case .tooLong: takeTooLong(into: &items)
                }
            case .boundary(let bodyLength):
                position = readBoundary(bytes, from: position, bodyLength: bodyLength, into: &items)
            case .body(let length):
                let end = position + min(length, bytes.count - position)
                lines.skip(lines: bytes.extracting(position..<end).lineFeedCount)
                stage = end - position == length ? .boundary(bodyLength: nil) : .body(length - (end - position))
                position = end
            case .rest:
                return
            }
        }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source, entry: blockCount > 0 ? blockCount : nil, line: lines.number + 1)
        switch stage {
        case .statusLine where blockCount == 0 && StatusLine.match(lastLine.span) == .no:
            items.append(.failure(.statusLineMalformed, at: place))
        case .statusLine:
            items.append(.failure(.headersTruncated, at: place))
        case .fields:
            items.append(.failure(.headersTruncated, at: place))
            endBlock(into: &items)
        case .boundary where mayContinue && !probe.isEmpty:
            items.append(.failure(.headersTruncated, at: place))
        case .boundary, .body, .rest:
            break
        }
    }

    private var lastLine: [UInt8] {
        var rest = lines
        guard case .joined(let line)? = rest.last() else { return [] }
        return line
    }

    private mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        let place = place
        if case .statusLine = stage {
            // `curl -i URL >FILE 2>&1` begins with the progress meter.
            let start = blockCount == 0 ? CurlProgress.end(in: line) : 0
            let rest = line.extracting(start..<line.count)
            if blockCount == 0, CurlProgress.isWhole(rest) { return }
            beginBlock(rest, into: &items)
        } else if line.isEmpty {
            endBlock(into: &items)
        } else {
            block?.take(line, at: place, into: &items)
        }
    }

    /// The place of the current line.
    private var place: CapturePlace { CapturePlace(source: source, entry: blockCount, line: lines.number) }

    private mutating func takeTooLong(into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source, entry: max(blockCount, 1), line: lines.number)
        guard case .statusLine = stage else {
            block?.leaveOutLine(at: place, into: &items)
            return
        }
        items.append(.failure(.lineTooLong, at: place))
        stage = .rest
    }

    private mutating func beginBlock(_ line: Span<UInt8>, into items: inout [CaptureItem]) {
        blockCount += 1
        guard let statusLine = StatusLine(line) else {
            items.append(.failure(.statusLineMalformed, at: place))
            stage = .rest
            return
        }
        guard url.text != nil else {
            items.append(.failure(.urlMissing, at: place))
            stage = .rest
            return
        }
        block = HeaderBlock(statusLine, at: place)
        stage = .fields
    }

    /// The header block is complete: emits the response and decides what may come next.
    private mutating func endBlock(into items: inout [CaptureItem]) {
        guard var block else { return }
        self.block = nil
        block.end(at: url, into: &items)
        mayContinue = url.follow(block.head.sequel)
        stage = .boundary(bodyLength: block.head.bodyLength ?? .max)
    }
}

// The boundary after a header block or a body.
extension HTTPReader {
    /// Looks for a status line; whatever else is there is body.
    ///
    /// - Parameter bodyLength: how long the body is that may begin here, `.max` if that is not known, `nil` if a
    ///   body has just ended.
    mutating func readBoundary(
        _ bytes: Span<UInt8>, from start: Int, bodyLength: Int?, into items: inout [CaptureItem]
    ) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if probe.isEmpty, byte == ASCII.lineFeed || byte == ASCII.carriageReturn {
                blankCount += 1
                if byte == ASCII.lineFeed { lines.skip(lines: 1) }
                continue
            }
            probe.append(byte)
            switch StatusLine.match(probe.span) {
            case .partly:
                continue
            case .yes:
                beginHead(into: &items)
            case .no:
                beginBody(bodyLength)
            }
            // Whatever comes next reads the last byte once more.
            return position - 1
        }
        return position
    }

    /// The probe is a status line, as far as it must be.
    private mutating func beginHead(into items: inout [CaptureItem]) {
        if mayContinue {
            lines.begin(with: probe.dropLast())
            stage = .statusLine
        } else {
            items.append(.failure(.responseSkipped, at: CapturePlace(source: source, line: lines.number + 1)))
            stage = .rest
        }
        resetProbe()
    }

    /// The probe is no status line: all bytes since the boundary, but the last one, belong to a body.
    ///
    /// Where the body is shorter than these, a status line cannot begin among them either: `HTTP/` begins with the
    /// only H in it, and empty lines were passed over.
    private mutating func beginBody(_ bodyLength: Int?) {
        let count = blankCount + probe.count - 1
        if let bodyLength, bodyLength != .max, count <= bodyLength {
            stage = .body(bodyLength - count)
        } else {
            stage = .rest
        }
        resetProbe()
    }

    private mutating func resetProbe() {
        probe = []
        blankCount = 0
    }
}
