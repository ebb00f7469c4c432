import CookieModel
import HTTPMessages

/// The parts read of one header block, and what they imply about the bytes after it.
struct CapturedHead {
    /// The responses that may follow the block.
    enum Sequel {
        /// Another response of the same transfer may: of the same URL, or of the one in `Location`.
        case sameURL
        case location(Octets)
        /// Nothing but the body.
        case none
    }

    /// The place of the status line.
    let place: CapturePlace
    let statusLine: StatusLine
    private(set) var setCookie = SetCookieLines()
    private(set) var date: Timestamp?
    private(set) var location: Octets?
    private var contentLength: Int?
    private var isLengthUnusable = false

    init(_ statusLine: StatusLine, at place: CapturePlace) {
        self.statusLine = statusLine
        self.place = place
    }

    var status: Int { statusLine.status }

    /// Takes one field line, folded lines joined. Returns `false` if it is not a field line.
    mutating func take(_ field: Span<UInt8>) -> Bool {
        guard let parts = field.fieldParts else { return false }
        let name = field.extracting(parts.name)
        let value = field.extracting(parts.value)
        if name.equalsIgnoringCase("set-cookie") {
            setCookie.append(value)
        } else if name.equalsIgnoringCase("location") {
            // The first that is not empty, as in curl.
            if location == nil, !value.isEmpty { location = value.withUnsafeBufferPointer { Octets($0) } }
        } else if name.equalsIgnoringCase("date") {
            date = date ?? CookieDate.parse(value)
        } else if name.equalsIgnoringCase("content-length") {
            takeLength(value)
        } else if name.equalsIgnoringCase("transfer-encoding") || name.equalsIgnoringCase("content-encoding") {
            // The body as printed is decoded, so no field tells its length.
            isLengthUnusable = true
        }
        return true
    }

    private mutating func takeLength(_ value: Span<UInt8>) {
        let isNumber = value.indices.allSatisfy { ASCII.isDigit(value[$0]) }
        let length = isNumber ? String(validating: value).flatMap { Int($0) } : nil
        if length == nil || contentLength ?? length != length { isLengthUnusable = true }
        contentLength = length
    }

    /// How long the body is, as far as that can be relied on; `nil` for up to the end.
    var bodyLength: Int? {
        if status / 100 == 1 || status == 204 || status == 304 || statusLine.opensTunnel { return 0 }
        return isLengthUnusable ? nil : contentLength
    }

    /// The responses that may follow the block, according to its status.
    var sequel: Sequel {
        switch status {
        case 100..<200, 401, 407: return .sameURL
        case 301, 302, 303, 307, 308:
            guard let location else { return .none }
            return .location(location)
        default: return statusLine.opensTunnel ? .sameURL : .none
        }
    }

    /// Emits the response.
    ///
    /// - Parameters:
    ///   - time: when it came; `nil` for its own `Date`.
    ///   - request: the known part of the request's header.
    ///   - isFromProxy: whether it is known to be a proxy's own response, which sets no cookies for the server behind
    ///     it.
    func emit(
        at url: TranscriptURL, method: String?, time: Timestamp? = nil, request: RequestHead,
        isFromProxy: Bool = false, into items: inout [CaptureItem]
    ) {
        let isFromProxy = isFromProxy || statusLine.isFromProxy
        var evidence = request.evidence
        evidence.location = location
        if isFromProxy, !setCookie.isEmpty { items.append(.failure(.proxyCookies, at: place)) }
        if setCookie.isOverfull { items.append(.failure(.responseTooLarge, at: place)) }
        items.append(
            .response(
                CapturedResponse(
                    url: url.text ?? "", urlOrigin: url.origin, method: method, status: status, time: time ?? date,
                    setCookie: isFromProxy ? [] : setCookie.octets, evidence: evidence,
                    requestCookies: isFromProxy ? [] : request.cookies.octets, place: place)))
    }
}

/// The lines of one response's header block, from any program: joins folded lines and takes the fields that count.
struct HeaderBlock: Sendable {
    private(set) var head: CapturedHead
    private var fields = FieldLines()

    init(_ statusLine: StatusLine, at place: CapturePlace) {
        head = CapturedHead(statusLine, at: place)
    }

    var bufferedByteCount: Int { fields.bufferedByteCount + head.setCookie.bufferedByteCount }

    /// Takes a line that is not empty.
    mutating func take(_ line: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        apply(fields.take(line, number: place.line ?? 0), into: &items)
    }

    /// Takes note of a line that was too long to keep.
    mutating func leaveOutLine(at place: CapturePlace, into items: inout [CaptureItem]) {
        apply(fields.end(), into: &items)
        items.append(.failure(.lineTooLong, at: self.place(of: place.line)))
    }

    /// Ends the block and emits the response: see ``CapturedHead/emit(at:method:time:request:isFromProxy:into:)``.
    mutating func end(
        at url: TranscriptURL, method: String? = nil, time: Timestamp? = nil, request: RequestHead = RequestHead(),
        isFromProxy: Bool = false, into items: inout [CaptureItem]
    ) {
        apply(fields.end(), into: &items)
        head.emit(at: url, method: method, time: time, request: request, isFromProxy: isFromProxy, into: &items)
    }

    private mutating func apply(_ outcome: FieldLines.Outcome, into items: inout [CaptureItem]) {
        switch outcome {
        case .none: break
        case .field(let field):
            if !head.take(field.octets.span) { items.append(.failure(.fieldMalformed, at: place(of: field.number))) }
        // After the status line, or after a line that was left out: it continues nothing.
        case .misplaced(let line): items.append(.failure(.fieldMalformed, at: place(of: line)))
        case .tooLong(let line): items.append(.failure(.lineTooLong, at: place(of: line)))
        }
    }

    private func place(of line: Int?) -> CapturePlace {
        CapturePlace(source: head.place.source, entry: head.place.entry, line: line)
    }
}

/// The URL of the current response: the one that was given or recorded, or where a redirect led.
struct TranscriptURL: Sendable {
    var text: String?
    var origin: CapturedResponse.URLOrigin

    /// Moves to the URL of the response that may come next. Returns `false` if none may.
    mutating func follow(_ sequel: CapturedHead.Sequel) -> Bool {
        switch sequel {
        case .none:
            return false
        case .sameURL:
            return true
        case .location(let reference):
            guard let text, let base = try? RequestURL(text), let next = try? base.resolving(reference) else {
                return false
            }
            self.text = next.description
            origin = .redirect
            return true
        }
    }
}

/// Collects the Set-Cookie lines of one response, within ``CaptureLimits/responseByteCount``.
struct SetCookieLines {
    /// The lines, in order.
    private(set) var octets: [Octets] = []
    /// How many bytes are held.
    private(set) var bufferedByteCount = 0
    /// Whether a line was left out since there was no more room.
    private(set) var isOverfull = false

    /// Whether there is no line.
    var isEmpty: Bool { octets.isEmpty }

    /// Adds one field value, without the white space at its ends (RFC 9110, section 5.5).
    mutating func append(_ value: Span<UInt8>) {
        let range = value.trimmingBlanks(0..<value.count)
        guard bufferedByteCount + range.count + (octets.count + 1) * 64 <= CaptureLimits.responseByteCount else {
            isOverfull = true
            return
        }
        octets.append(Octets(value.array(range)))
        bufferedByteCount += range.count
    }

    /// Adds the lines of a value that joins several with line feeds, as browsers' developer tools do. Empty lines
    /// between them are no lines; a value without a line feed is one line, even an empty one.
    mutating func append(joined value: Span<UInt8>) {
        guard value.firstIndex(of: ASCII.lineFeed, from: 0) != nil else { return append(value) }
        var start = 0
        while start < value.count {
            let end = value.firstIndex(of: ASCII.lineFeed, from: start) ?? value.count
            let line = value.extracting(start..<end)
            let text = line.trimmingBlanks(line.droppingCarriageReturn)
            if !text.isEmpty { append(line.extracting(text)) }
            start = end + 1
        }
    }
}
