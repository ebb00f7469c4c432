import HTTPCaching
import WebPrimitives

/// A cache in memory that follows the decisions of a policy: the smallest program that does.
struct TestCache {
    /// A response with its body, as a client or the cache receives it.
    struct Reply {
        var status: Int
        var fields: MessageFields
        var body: [UInt8]
        /// Whether the message was complete.
        var isComplete = true
    }

    private struct Entry {
        var response: CachedResponse
        var body: [UInt8]

        /// The position of the body's first octet in the representation.
        var start: Int64 { if case .part(let positions, _) = response.extent { positions.lowerBound } else { 0 } }

        func octets(_ positions: Range<Int64>) -> [UInt8] {
            let bounds = (Int(positions.lowerBound - start)..<Int(min(positions.upperBound - start, Int64(body.count))))
                .clamped(to: 0..<body.count)
            return Array(body[bounds])
        }
    }

    /// Sends a request to the server at a time. Returns the answer and the time of its arrival; no answer if the server
    /// closes the connection.
    typealias Server = (CacheRequest, Timestamp) -> (Reply?, Timestamp)

    var policy = CachingPolicy()
    private var entries: [Entry] = []

    init(policy: CachingPolicy = CachingPolicy()) {
        self.policy = policy
    }

    var stored: [CachedResponse] { entries.map(\.response) }

    /// Answers a request.
    mutating func answer(_ request: CacheRequest, at now: Timestamp, from server: Server) -> Reply {
        let decision = policy.lookup(request, among: stored, now: now)
        switch decision.outcome {
        case .hit(let answer): return reply(answer, decision.choice?.index)
        case .hitThenValidate(let answer, let fields):
            let reply = reply(answer, decision.choice?.index)
            var validation = request
            validation.fields = fields
            _ = forward(validation, for: validation, after: decision, at: now, to: server)
            return reply
        case .validate(let fields), .forward(let fields):
            var sent = request
            sent.fields = fields
            return forward(sent, for: request, after: decision, at: now, to: server)
        case .complete(let fields):
            var sent = request
            sent.fields = fields
            let reply = forward(sent, for: sent, after: decision, at: now, to: server)
            return reply.status == 206 ? answer(request, at: now, from: server) : reply
        case .unavailable: return Reply(status: 504, fields: [:], body: [])
        }
    }

    private mutating func forward(
        _ sent: CacheRequest, for request: CacheRequest, after decision: LookupDecision?, at now: Timestamp,
        to server: Server
    ) -> Reply {
        let (received, arrival) = server(sent, now)
        let chosen = decision?.choice?.index
        guard let received else {
            let answer = chosen.flatMap { policy.staleAnswer(stored[$0], to: request, now: arrival, .unreachable) }
            if let answer { return reply(answer, chosen) }
            return Reply(status: 502, fields: [:], body: [])
        }
        let response = OriginResponse(
            status: received.status, fields: received.fields, requestTime: now, responseTime: arrival)
        if let decision {
            switch policy.validated(by: response, after: decision, for: request, stored: stored) {
            case .freshened(let chosen, let updates):
                for (index, update) in updates { entries[index].response = update }
                return reply(entries[chosen].response.answer(to: request, age: nil), chosen)
            case .stale(let answer): return reply(answer, chosen)
            case .repeated: return forward(request, for: request, after: nil, at: arrival, to: server)
            case .replaced: break
            }
        }
        let invalidation = Invalidation(by: response, to: request)
        for index in invalidation.affected(among: stored) {
            entries[index].response = entries[index].response.invalidated
        }
        for (index, update) in policy.freshened(byHead: response, to: request, among: stored) {
            entries[index].response = update
        }
        if let storable = policy.storing(response, for: request).response,
            let complete = storable.received(bodyLength: Int64(received.body.count), isComplete: received.isComplete)
        {
            store(Entry(response: complete, body: received.body))
        }
        var reply = received
        reply.fields.remove { field in Self.hopByHop.contains(field.name.lowercasedText) }
        let listed = received.fields.values("connection").flatMap {
            String(decoding: $0, as: UTF8.self).split(separator: ",")
        }
        let names = Set(listed.map { $0.filter { $0 != " " }.lowercased() })
        reply.fields.remove { names.contains($0.name.lowercasedText) }
        return reply
    }

    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]

    private mutating func store(_ entry: Entry) {
        for index in entries.indices.reversed() {
            guard let combination = entries[index].response.combined(with: entry.response) else { continue }
            let old = entries.remove(at: index)
            let body = combination.pieces.flatMap { ($0.source == .stored ? old : entry).octets($0.positions) }
            entries.append(Entry(response: combination.response, body: body))
            return
        }
        entries.removeAll { $0.response.url == entry.response.url && $0.response.nominated == entry.response.nominated }
        entries.append(entry)
    }

    private func reply(_ answer: StoredAnswer, _ index: Int?) -> Reply {
        let entry = index.map { entries[$0] }
        let body = answer.body.map { positions in entry?.octets(positions) ?? [] } ?? []
        return Reply(status: answer.status, fields: answer.fields, body: body)
    }
}

extension Octets {
    var lowercasedText: String { String(decoding: lowercased, as: UTF8.self) }
}
