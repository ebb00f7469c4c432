import CookieModel
import HTTPMessages

/// The places of responses in a net-log, as Chromium writes it with `--log-net-log`: the events of a request have the
/// same source number, and `constants` gives the meaning of each event's number.
///
/// Only a log of `--net-log-capture-mode=IncludeSensitive` (or `Everything`) has the values of Set-Cookie lines.
/// Stripped values are reported.
struct NetLogOutline: JSONOutline {
    enum Context: Sendable {
        case document
        case members
        case constants
        case eventTypes
        case tickOffset
        case events
        case event
    }

    private enum EventType {
        case requestStart
        case requestHeaders
        case requestEnd
        case responseHeaders
    }

    private struct Request {
        let url: Octets
        let method: String?
        var head = RequestHead()

        /// How many bytes are remembered for it.
        var byteCount: Int { url.count + head.bufferedByteCount }
    }

    static let start = Context.document

    /// How many requests are remembered at a time, and how many bytes of URLs and cookies.
    private static let requestLimit = 10_000
    private static let byteLimit = 1 << 24

    private let source: String
    private(set) var entryCount = 0
    private var hasEvents = false
    private var types: [Int: EventType] = [:]
    /// When the log's clock read 0, in milliseconds since 1970.
    private var tickOffset = 0
    private var requests: [Int: Request] = [:]
    private var byteCount = 0

    init(source: String) {
        self.source = source
    }

    var bufferedByteCount: Int { byteCount }

    mutating func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: Context
    ) -> JSONPart<Context> {
        switch (context, container) {
        case (.document, .object): return .enter(.members)
        case (.members, .object) where name.equals("constants"): return .enter(.constants)
        case (.members, .array) where name.equals("events"):
            hasEvents = true
            return .enter(.events)
        case (.constants, .object) where name.equals("logEventTypes"): return .take(.eventTypes)
        case (.constants, nil) where name.equals("timeTickOffset"): return .take(.tickOffset)
        case (.events, .object): return .take(.event)
        default: return .skip
        }
    }

    mutating func take(
        _ value: JSONValue, as context: Context, named name: Octets, isWhole: Bool, into items: inout [CaptureItem]
    ) {
        switch context {
        case .eventTypes: value.object.map { takeTypes($0) }
        case .tickOffset: tickOffset = NetLogOutline.integer(value) ?? 0
        case .event: value.object.map { takeEvent($0, isWhole: isWhole, into: &items) }
        case .document, .members, .constants, .events: break
        }
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        guard isWhole, !hasEvents else { return }
        let finding = "The input is JSON without events, so it is not a net-log."
        items.append(.failure(.inputUnrecognized(finding), at: CapturePlace(source: source)))
    }

    private mutating func takeTypes(_ names: JSONObject) {
        func type(_ name: StaticString, _ type: EventType) {
            if let number = names[name]?.integer { types[number] = type }
        }
        type("URL_REQUEST_START_JOB", .requestStart)
        type("HTTP_TRANSACTION_SEND_REQUEST_HEADERS", .requestHeaders)
        type("HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS", .requestHeaders)
        type("HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS", .requestHeaders)
        type("REQUEST_ALIVE", .requestEnd)
        type("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", .responseHeaders)
    }

    private mutating func takeEvent(_ event: JSONObject, isWhole: Bool, into items: inout [CaptureItem]) {
        guard let type = event["type"]?.integer.flatMap({ types[$0] }),
            let id = event["source"]?.object?["id"]?.integer
        else { return }
        let parameters = event["params"]?.object
        switch type {
        case .requestStart:
            guard let url = parameters?["url"]?.octets else { return }
            let earlier = forget(id)
            guard requests.count < Self.requestLimit, byteCount + url.count <= Self.byteLimit else { return }
            var request = Request(url: url, method: parameters?["method"]?.text)
            if let parameters { request.head.evidence = NetLogOutline.evidence(parameters) }
            if let earlier {
                request.head.evidence.redirects =
                    earlier.head.evidence.redirects.suffix(20) + [earlier.url.withSpan { String(repairing: $0) }]
            }
            byteCount += request.byteCount
            requests[id] = request
        case .requestHeaders: takeRequestHeaders(parameters?["headers"]?.elements ?? [], of: id)
        case .requestEnd:
            // Phase 2 ends the request that phase 1 began.
            if event["phase"]?.integer == 2 { forget(id) }
        case .responseHeaders:
            entryCount += 1
            let place = CapturePlace(source: source, entry: entryCount)
            guard isWhole else { return items.append(.failure(.entryTooLarge, at: place)) }
            takeResponse(parameters?["headers"]?.elements ?? [], of: requests[id], event, at: place, into: &items)
        }
    }

    @discardableResult
    private mutating func forget(_ id: Int) -> Request? {
        guard let request = requests.removeValue(forKey: id) else { return nil }
        byteCount -= request.byteCount
        return request
    }

    private mutating func takeRequestHeaders(_ lines: [JSONValue], of id: Int) {
        guard var request = requests[id] else { return }
        var head = RequestHead()
        head.evidence = request.head.evidence
        for line in lines {
            guard let text = line.octets, text.count <= Self.byteLimit - byteCount - head.bufferedByteCount else {
                continue
            }
            NetLogText(text).octets.withSpan { head.take(line: $0) }
        }
        byteCount += head.bufferedByteCount - request.head.bufferedByteCount
        request.head = head
        requests[id] = request
    }

    /// The evidence, in the event that starts a request, for its context.
    private static func evidence(_ parameters: JSONObject) -> RequestEvidence {
        var evidence = RequestEvidence()
        switch parameters["request_type"]?.octets {
        case "main frame": evidence.destination = .page
        case "sub frame": evidence.destination = .frame
        case "other": evidence.destination = .subresource
        default: break
        }
        evidence.initiator = parameters["initiator"]?.text.flatMap { $0.hasPrefix("http") ? $0 : nil }
        if let site = parameters["network_isolation_key"]?.text?.split(separator: " ").first, site.hasPrefix("http") {
            let own = parameters["site_for_cookies"]?.text?.contains("site=\(site);") ?? true
            evidence.partitionKey = PartitionKey(topLevelSite: String(site), hasCrossSiteAncestor: !own)
        }
        return evidence
    }

    private func takeResponse(
        _ lines: [JSONValue], of request: Request?, _ event: JSONObject, at place: CapturePlace,
        into items: inout [CaptureItem]
    ) {
        guard let first = lines.first?.octets, let statusLine = first.withSpan({ StatusLine($0) }) else {
            return items.append(.failure(.entryMalformed("Its headers do not begin with a status line."), at: place))
        }
        guard let request else {
            return items.append(.failure(.entryMalformed("Its request is not in the log."), at: place))
        }
        var head = CapturedHead(statusLine, at: place)
        for line in lines.dropFirst() {
            guard let text = line.octets, NetLogText(text).octets.withSpan({ head.take($0) }) else {
                items.append(.failure(.fieldMalformed, at: place))
                continue
            }
        }
        if head.setCookie.isOverfull { items.append(.failure(.responseTooLarge, at: place)) }
        var evidence = request.head.evidence
        evidence.location = head.location
        var setCookie = head.setCookie.octets
        let strippedCount = setCookie.count { NetLogOutline.isStripped($0) }
        if strippedCount > 0 {
            items.append(.failure(.valuesStripped(strippedCount), at: place))
            setCookie.removeAll { NetLogOutline.isStripped($0) }
        }
        let time = NetLogOutline.integer(event["time"]).map { moment in
            Timestamp(microseconds: (Int64(tickOffset) &+ Int64(moment)) &* 1000)
        }
        items.append(
            .response(
                CapturedResponse(
                    url: request.url.withSpan { String(repairing: $0) }, method: request.method, status: head.status,
                    time: time, setCookie: setCookie, evidence: evidence,
                    requestCookies: request.head.cookies.octets.filter { !NetLogOutline.isStripped($0) }, place: place))
        )
    }

    /// Whether Chromium left the value out: `[33 bytes were stripped]`.
    private static func isStripped(_ line: Octets) -> Bool {
        line.withSpan { $0.hasPrefix("[") } && Array(line.suffix(20)) == Array("bytes were stripped]".utf8)
    }

    /// A number, or the string that Chromium makes of a large one.
    private static func integer(_ value: JSONValue?) -> Int? {
        value?.integer ?? value?.text.flatMap { Int($0) }
    }
}

/// The text of a net-log's string: Chromium writes one that is not ASCII with a mark before it and percent signs within.
struct NetLogText {
    /// The mark ends in U+200B and a space.
    private static let mark = Array("%ESCAPED:\u{200B} ".utf8)

    /// The octets that the string represents.
    let octets: Octets

    init(_ written: Octets) {
        let bytes = written.bytes
        guard bytes.starts(with: NetLogText.mark) else {
            octets = written
            return
        }
        octets = Octets(PercentEncoding.decode(bytes.span.extracting(NetLogText.mark.count..<bytes.count)))
    }
}
