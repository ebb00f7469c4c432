import CookieModel
import HTTPMessages

/// The lines of one response's header block, whoever printed them: joins folded ones and takes what counts.
struct HeaderBlock: Sendable {
    let source: String
    private(set) var head: CapturedHead
    private var fields = FieldLines()

    init(_ head: CapturedHead, source: String) {
        self.head = head
        self.source = source
    }

    var bufferedByteCount: Int { fields.bufferedByteCount + head.setCookie.bufferedByteCount }

    /// Takes a line that is not empty.
    mutating func take(_ line: Span<UInt8>, number: Int, into items: inout [CaptureItem]) {
        apply(fields.take(line, number: number), into: &items)
    }

    /// Takes note of a line that was too long to keep.
    mutating func leaveOut(_ number: Int, into items: inout [CaptureItem]) {
        apply(fields.end(), into: &items)
        items.append(.failure(.lineTooLong(at: CapturePlace(source: source, entry: head.index, line: number))))
    }

    /// Ends the block and gives the response out.
    ///
    /// - Parameters:
    ///   - time: when it came; `nil` for its own `Date`.
    ///   - request: what is known of the request's header.
    ///   - isFromProxy: whether it is known to be a proxy's own, which sets no cookies for the server behind it.
    mutating func end(
        at url: TranscriptURL, method: String? = nil, time: Timestamp? = nil, request: RequestHead = RequestHead(),
        isFromProxy: Bool = false, into items: inout [CaptureItem]
    ) {
        apply(fields.end(), into: &items)
        let place = CapturePlace(source: source, entry: head.index, line: head.line)
        let isFromProxy = isFromProxy || head.statusLine.isFromProxy
        var evidence = request.evidence
        evidence.location = head.location
        if isFromProxy, !head.setCookie.isEmpty { items.append(.failure(.proxyCookies(at: place))) }
        if head.setCookie.isOverfull { items.append(.failure(.responseTooLarge(at: place))) }
        items.append(
            .response(
                CapturedResponse(
                    url: url.text ?? "", urlOrigin: url.origin, method: method, status: head.status,
                    time: time ?? head.date,
                    setCookie: isFromProxy ? [] : head.setCookie.octets, evidence: evidence,
                    requestCookies: isFromProxy ? [] : request.cookies.octets, place: place)))
    }

    private mutating func apply(_ outcome: FieldLines.Outcome, into items: inout [CaptureItem]) {
        func place(_ line: Int) -> CapturePlace { CapturePlace(source: source, entry: head.index, line: line) }
        switch outcome {
        case .none: break
        case .field(let field):
            if !head.take(field.octets.span) { items.append(.failure(.fieldMalformed(at: place(field.number)))) }
        // Behind the status line, or behind a line that was left out: nothing that it belongs to.
        case .misplaced(let line): items.append(.failure(.fieldMalformed(at: place(line))))
        case .tooLong(let line): items.append(.failure(.lineTooLong(at: place(line))))
        }
    }
}
