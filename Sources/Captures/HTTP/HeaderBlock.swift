import CookieModel

/// The lines of one response's header block, whoever printed them: joins folded ones and takes what counts.
struct HeaderBlock: Sendable {
    let source: String
    private(set) var head: ResponseHead
    /// The field line at hand, which a folded line may still add to; `nil` where there is none to add to.
    private var field: [UInt8]?
    private var fieldLine = 0

    init(_ head: ResponseHead, source: String) {
        self.head = head
        self.source = source
    }

    var bufferedByteCount: Int { (field?.capacity ?? 0) + head.setCookie.bufferedByteCount }

    /// Takes a line that is not empty.
    mutating func take(_ line: Span<UInt8>, number: Int, into items: inout [CaptureItem]) {
        if ASCII.isBlank(line[0]) { return fold(line, number: number, into: &items) }
        endField(into: &items)
        var bytes: [UInt8] = []
        bytes.append(line)
        field = bytes
        fieldLine = number
    }

    /// Takes note of a line that was too long to keep.
    mutating func leaveOut(_ number: Int, into items: inout [CaptureItem]) {
        endField(into: &items)
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
        endField(into: &items)
        let place = CapturePlace(source: source, entry: head.index, line: head.line)
        let isFromProxy = isFromProxy || head.isFromProxy
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

    /// Adds a folded line to the field before it.
    private mutating func fold(_ line: Span<UInt8>, number: Int, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source, entry: head.index, line: number)
        guard let length = field?.count else {
            // Behind the status line, or behind a line that was left out: nothing that it belongs to.
            items.append(.failure(.fieldMalformed(at: place)))
            return
        }
        let text = line.trimmingBlanks(0..<line.count)
        guard length + 1 + text.count <= CaptureLimits.fieldByteCount else {
            items.append(.failure(.lineTooLong(at: CapturePlace(source: source, entry: head.index, line: fieldLine))))
            field = nil
            return
        }
        field?.append(ASCII.space)
        field?.append(line.extracting(text))
    }

    /// The field line at hand is complete.
    private mutating func endField(into items: inout [CaptureItem]) {
        guard let line = field else { return }
        field = nil
        if !head.take(line.span) {
            let place = CapturePlace(source: source, entry: head.index, line: fieldLine)
            items.append(.failure(.fieldMalformed(at: place)))
        }
    }
}
