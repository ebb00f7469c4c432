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

        func combined(with newer: Entry) -> Entry? {
            response.combined(with: newer.response).map { combination in
                let body = combination.pieces.flatMap { piece in
                    (piece.source == .stored ? self : newer).octets(piece.positions)
                }
                return Entry(response: combination.response, body: body)
            }
        }
    }

    /// Sends a request to the server at a time. Returns the answer and the time of its arrival; no answer if the server
    /// closes the connection.
    typealias Server = (CacheRequest, Timestamp) -> (Reply?, Timestamp)

    var policy = CachingPolicy()
    /// The rules that decided.
    private(set) var appliedRules: Set<String> = []
    private var entries: [Entry] = []

    init(policy: CachingPolicy = CachingPolicy()) {
        self.policy = policy
    }

    var stored: [CachedResponse] { entries.map(\.response) }

    /// Answers a request.
    mutating func answer(_ request: CacheRequest, at now: Timestamp, from server: Server) -> Reply {
        let decision = policy.lookup(request, among: stored, now: now)
        appliedRules.insert(decision.rule.description)
        switch decision.outcome {
        case .hit(let answer): return reply(answer, decision.choice?.index)
        case .hitThenValidate(let answer, let fields):
            let reply = reply(answer, decision.choice?.index)
            var validation = request
            validation.fields = fields
            _ = forward(validation, for: validation, after: decision, at: now, to: server)
            return reply
        case .validate(let fields), .forward(let fields), .complete(let fields):
            var sent = request
            sent.fields = fields
            return forward(sent, for: request, after: decision, at: now, to: server)
        case .unavailable: return Reply(status: 504, fields: [:], body: [])
        }
    }

    private mutating func forward(
        _ sent: CacheRequest, for request: CacheRequest, after decision: LookupDecision, at now: Timestamp,
        to server: Server
    ) -> Reply {
        let (received, arrival) = server(sent, now)
        let chosen = decision.choice?.index
        guard let received else {
            let answer = chosen.flatMap { policy.staleAnswer(stored[$0], to: request, now: arrival, .unreachable) }
            return answer.map { self.reply($0, chosen) } ?? Reply(status: 502, fields: [:], body: [])
        }
        let response = OriginResponse(
            status: received.status, fields: received.fields, requestTime: now, responseTime: arrival)
        switch policy.validated(by: response, after: decision, for: request, stored: stored) {
        case .freshened(let chosen, let answer, let updates, let removed):
            for (index, update) in updates { entries[index].response = update }
            let reply = self.reply(answer, chosen)
            remove(Set(removed))
            return reply
        case .stale(let answer): return reply(answer, chosen)
        case .repeated:
            return forward(request, for: request, after: decision.repeated(request), at: arrival, to: server)
        case .completed(let part, let answer):
            guard let chosen,
                let rest = part.received(bodyLength: Int64(received.body.count), isComplete: received.isComplete),
                let whole = entries[chosen].combined(with: Entry(response: rest, body: received.body)),
                case .whole = whole.response.extent
            else { return forward(request, for: request, after: decision.repeated(request), at: arrival, to: server) }
            entries[chosen] = whole
            return reply(answer, chosen)
        case .replaced(let unsuitable):
            apply(response, to: request)
            store(received, response, for: request, unsuitable: Set(unsuitable))
        }
        var reply = received
        reply.fields.removeConnectionFields()
        return reply
    }

    /// Marks what a response invalidates, or updates by a HEAD request.
    private mutating func apply(_ response: OriginResponse, to request: CacheRequest) {
        let invalidation = Invalidation(by: response, to: request)
        for index in invalidation.affected(among: stored) {
            entries[index].response = entries[index].response.invalidated(at: invalidation.time)
        }
        for (index, update) in policy.freshened(byHead: response, to: request, among: stored) {
            entries[index].response = update
        }
    }

    /// Stores a response if it may be, and removes what it supersedes.
    private mutating func store(
        _ received: Reply, _ response: OriginResponse, for request: CacheRequest, unsuitable: Set<Int>
    ) {
        let storable = policy.storing(response, for: request).response
        guard
            let new = storable?.received(bodyLength: Int64(received.body.count), isComplete: received.isComplete)
        else { return remove(unsuitable) }
        let replacement = policy.replacement(by: new, to: request, among: stored)
        let entry = Entry(response: replacement.response, body: received.body)
        let whole = entries.lazy.compactMap { $0.combined(with: entry) }.first
        remove(unsuitable.union(replacement.superseded))
        entries.append(whole ?? entry)
    }

    private mutating func remove(_ indices: Set<Int>) {
        entries = entries.indices.filter { !indices.contains($0) }.map { entries[$0] }
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
