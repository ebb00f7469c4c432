import CookieModel

/// Assembles responses from the events of the Chrome DevTools Protocol.
///
/// A request has a hop for each redirect. `responseReceivedExtraInfo` has the header fields from the wire, including
/// `Set-Cookie`, and may come before or after the events of its hop; the two are matched by their order.
struct DevToolsLog: Sendable {
    private struct Hop {
        let url: String
        let method: String?
        let time: Timestamp?
        var evidence: RequestEvidence
    }

    /// A response as it was on the wire.
    private struct Response {
        let place: CapturePlace
        let status: Int
        let setCookie: SetCookieLines
        let location: Octets?
        let partitionKey: PartitionKey?
    }

    /// A request's header and cookies from the wire.
    private struct Sent {
        var head = RequestHead()
        var cookies: [CookieRecord] = []
    }

    private struct Exchange {
        var hops: [Hop] = []
        var sent: [Sent] = []
        var waiting: [Response] = []
        /// How many hops have their response.
        var answered = 0
    }

    /// How many requests are remembered, and how many bytes of them.
    private static let requestLimit = 10_000
    private static let byteLimit = 1 << 24

    let source: String
    private var exchanges: [Octets: Exchange] = [:]
    private(set) var byteCount = 0
    /// Whether any event of the network was read.
    private(set) var hasEvents = false

    init(source: String) {
        self.source = source
    }

    /// Takes one entry of a log: an event, or the message of a driver around it. False if it is neither.
    mutating func take(_ value: JSONValue, at place: CapturePlace, into items: inout [CaptureItem]) -> Bool {
        guard let event = DevToolsLog.event(in: value) else { return false }
        guard let method = event["method"]?.octets, let parameters = event["params"]?.object,
            let id = parameters["requestId"]?.octets
        else { return true }
        switch method {
        case "Network.requestWillBeSent": takeRequest(parameters, id, into: &items)
        case "Network.requestWillBeSentExtraInfo": takeSent(parameters, id)
        case "Network.responseReceived": takeReceived(parameters, id, at: place, into: &items)
        case "Network.responseReceivedExtraInfo": takeResponse(parameters, id, at: place, into: &items)
        default: break
        }
        return true
    }

    /// Takes the end of the log.
    mutating func finish(into items: inout [CaptureItem]) {
        let waiting = exchanges.values.flatMap(\.waiting).sorted { ($0.place.entry ?? 0) < ($1.place.entry ?? 0) }
        for response in waiting where !response.setCookie.isEmpty {
            items.append(.failure(.entryMalformed("Its request is not in the log."), at: response.place))
        }
        exchanges = [:]
        if !hasEvents { items.append(.failure(.noEvents, at: CapturePlace(source: source))) }
    }

    /// The event in an entry: the entry itself, or the value of the `message` that a driver adds, as JSON or as text.
    private static func event(in value: JSONValue) -> JSONObject? {
        var value = value
        for _ in 0..<3 {
            guard let object = value.object else { return nil }
            switch object["message"] {
            case .string(let text):
                guard let inner = text.withSpan({ JSONValue(parsing: $0) }) else { return nil }
                value = inner
            case .object(let inner): value = .object(inner)
            default: return object["method"] != nil || object["id"] != nil ? object : nil
            }
        }
        return value.object
    }

    // MARK: Events

    private mutating func takeRequest(
        _ parameters: JSONObject, _ id: Octets, into items: inout [CaptureItem]
    ) {
        hasEvents = true
        guard let request = parameters["request"]?.object, let url = request["url"]?.text, url.hasPrefix("http"),
            makeRoom(for: url.utf8.count + id.count, id)
        else { return }
        var evidence = RequestEvidence()
        evidence.isDocument = parameters["type"]?.octets == "Document"
        if !evidence.isDocument, parameters["type"] != nil { evidence.destination = .subresource }
        evidence.initiator =
            evidence.isDocument ? parameters["initiator"]?.object?["url"]?.text : parameters["documentURL"]?.text
        var head = RequestHead()
        head.evidence = evidence
        head.take(request["headers"]?.object)
        var exchange = exchanges[id] ?? Exchange()
        if parameters["redirectResponse"] != nil, parameters["redirectHasExtraInfo"]?.boolean == false,
            exchange.answered < exchange.hops.count
        {
            exchange.answered += 1
        }
        head.evidence.redirects = exchange.hops.suffix(20).map(\.url)
        var time: Timestamp?
        if case .number(let seconds)? = parameters["wallTime"] { time = Timestamp(microseconds: seconds.millionths) }
        exchange.hops.append(Hop(url: url, method: request["method"]?.text, time: time, evidence: head.evidence))
        match(&exchange, into: &items)
        exchanges[id] = exchange
    }

    private mutating func takeSent(_ parameters: JSONObject, _ id: Octets) {
        var sent = Sent()
        sent.head.take(parameters["headers"]?.object)
        let members = CookieMembers(dialect: .devTools, host: nil)
        for associated in parameters["associatedCookies"]?.elements ?? [] {
            guard let object = associated.object, object["blockedReasons"]?.elements?.isEmpty ?? true,
                let cookie = object["cookie"], case .cookie(let record) = members.cookie(cookie)
            else { continue }
            sent.cookies.append(record)
        }
        let size = sent.head.bufferedByteCount + sent.cookies.reduce(0) { $0 + $1.value.count + 256 }
        guard makeRoom(for: size, id) else { return }
        exchanges[id, default: Exchange()].sent.append(sent)
    }

    private mutating func takeResponse(
        _ parameters: JSONObject, _ id: Octets, at place: CapturePlace, into items: inout [CaptureItem]
    ) {
        hasEvents = true
        let key = parameters["cookiePartitionKey"]
        let site = key?.text ?? key?.object?["topLevelSite"]?.text
        let partitionKey = site.flatMap { try? RequestURL($0) }.map { _ in
            PartitionKey(
                topLevelSite: site ?? "",
                hasCrossSiteAncestor: key?.object?["hasCrossSiteAncestor"]?.boolean ?? false)
        }
        let response = DevToolsLog.response(
            parameters["headers"]?.object, status: parameters["statusCode"]?.integer, partitionKey, at: place)
        guard makeRoom(for: response.setCookie.bufferedByteCount, id) else {
            return items.append(.failure(.entryTooLarge, at: place))
        }
        var exchange = exchanges[id] ?? Exchange()
        exchange.waiting.append(response)
        match(&exchange, into: &items)
        exchanges[id] = exchange
    }

    /// Without an extra event, the response itself has the fields, as in older browsers.
    private mutating func takeReceived(
        _ parameters: JSONObject, _ id: Octets, at place: CapturePlace, into items: inout [CaptureItem]
    ) {
        hasEvents = true
        guard parameters["hasExtraInfo"]?.boolean != true, let object = parameters["response"]?.object,
            var exchange = exchanges[id], exchange.answered < exchange.hops.count, exchange.waiting.isEmpty
        else { return }
        exchange.waiting.append(
            DevToolsLog.response(object["headers"]?.object, status: object["status"]?.integer, nil, at: place))
        match(&exchange, into: &items)
        exchanges[id] = exchange
    }

    private static func response(
        _ headers: JSONObject?, status: Int?, _ partitionKey: PartitionKey?, at place: CapturePlace
    ) -> Response {
        var lines = SetCookieLines()
        var location: Octets?
        for (name, value) in zip(headers?.names ?? [], headers?.values ?? []) {
            guard let value = value.octets else { continue }
            if name.withSpan({ $0.equalsIgnoringCase("set-cookie") }) {
                let octets = HARTextEncoding.windows1252.octets(of: value.bytes)
                lines.append(joined: octets.span)
            } else if name.withSpan({ $0.equalsIgnoringCase("location") }) {
                location = value
            }
        }
        return Response(
            place: place, status: status ?? 0, setCookie: lines, location: location, partitionKey: partitionKey)
    }

    /// Gives out the responses whose hops are known.
    private func match(_ exchange: inout Exchange, into items: inout [CaptureItem]) {
        while exchange.answered < exchange.hops.count, !exchange.waiting.isEmpty {
            let response = exchange.waiting.removeFirst()
            let hop = exchange.hops[exchange.answered]
            let sent = exchange.answered < exchange.sent.count ? exchange.sent[exchange.answered] : Sent()
            exchange.answered += 1
            var evidence = hop.evidence
            evidence.complete(with: sent.head.evidence)
            evidence.partitionKey = response.partitionKey
            evidence.location = response.location
            if response.setCookie.isOverfull { items.append(.failure(.responseTooLarge, at: response.place)) }
            var captured = CapturedResponse(
                url: hop.url, method: hop.method, status: response.status, time: hop.time,
                setCookie: response.setCookie.octets, evidence: evidence, requestCookies: sent.head.cookies.octets,
                place: response.place)
            captured.requestRecords = sent.cookies
            items.append(.response(captured))
        }
    }

    /// Makes room for more of a request. Returns `false` if it cannot.
    private mutating func makeRoom(for size: Int, _ id: Octets) -> Bool {
        let isNew = exchanges[id] == nil
        if byteCount + size > Self.byteLimit || isNew && exchanges.count >= Self.requestLimit {
            // Those that are answered are rarely asked for again.
            exchanges = exchanges.filter { !$0.value.waiting.isEmpty || $0.value.answered < $0.value.hops.count }
            byteCount = exchanges.isEmpty ? 0 : byteCount
            if exchanges.count >= Self.requestLimit || byteCount + size > Self.byteLimit {
                exchanges = [:]
                byteCount = 0
            }
        }
        byteCount += size
        return size <= Self.byteLimit
    }
}

extension RequestEvidence {
    /// Adds the evidence from the wire, which takes precedence.
    fileprivate mutating func complete(with sent: RequestEvidence) {
        fetchSite = sent.fetchSite ?? fetchSite
        destination = sent.destination ?? destination
        hasStorageAccessField = hasStorageAccessField || sent.hasStorageAccessField
        origin = sent.origin ?? origin
        referrer = sent.referrer ?? referrer
        accepts = sent.accepts ?? accepts
        isFromBrowser = isFromBrowser || sent.isFromBrowser
    }
}
