import WebPrimitives

@testable import HTTPCaching

/// The times and messages that the rule tables are written with.
enum Sample {
    /// 2026-11-21T00:00:00Z, when every response is received.
    static let start = Timestamp(seconds: 1_795_219_200)

    /// The time so many seconds after the start.
    static func after(_ seconds: Int64) -> Timestamp { start.advanced(bySeconds: seconds) }

    /// The date so many seconds after the start.
    static func date(_ seconds: Int64) -> Octets { Octets(after(seconds).httpDate) }

    static func request(
        _ method: Octets = "GET", _ url: String = "https://shop.example/a", _ fields: MessageFields = [:]
    ) throws -> CacheRequest {
        CacheRequest(method: method, url: try RequestURL(url), fields: fields)
    }

    static func response(_ status: Int = 200, _ fields: MessageFields = [:]) -> OriginResponse {
        OriginResponse(status: status, fields: fields, requestTime: start, responseTime: start)
    }

    /// A stored response with a body of ten octets.
    static func stored(
        _ fields: MessageFields, _ url: String = "https://shop.example/a", for requestFields: MessageFields = [:],
        status: Int = 200, at seconds: Int64 = 0
    ) throws -> CachedResponse {
        var policy = CachingPolicy()
        policy.rules = .protocolOnly
        let response = OriginResponse(
            status: status, fields: fields, requestTime: after(seconds), responseTime: after(seconds))
        let decision = policy.storing(response, for: try request("GET", url, requestFields))
        guard let storable = decision.response, let stored = storable.received(bodyLength: 10, isComplete: true)
        else { throw NotStored(obstacles: decision.obstacles) }
        return stored
    }

    struct NotStored: Error {
        let obstacles: [StoringObstacle]
    }

    /// What becomes of a request, in one word, and the reasons.
    static func outcome(
        _ request: CacheRequest, _ stored: [CachedResponse], after seconds: Int64 = 0, isOffline: Bool = false,
        policy: CachingPolicy = CachingPolicy(), requestPolicy: RequestCachePolicy = .useProtocolCachePolicy
    ) -> String {
        let decision = policy.lookup(
            request, among: stored, now: after(seconds), isOffline: isOffline, requestPolicy: requestPolicy)
        let word =
            switch decision.outcome {
            case .hit: "hit"
            case .hitThenValidate: "hit-then-validate"
            case .validate: "validate"
            case .complete: "complete"
            case .forward: "forward"
            case .unavailable: "unavailable"
            }
        return ([word] + decision.reasons.map(\.rawValue)).joined(separator: " ")
    }
}

extension URLVariation {
    func areEquivalent(_ left: RequestURL, _ right: RequestURL) -> Bool {
        var target = Target(left)
        return areEquivalent(&target, right)
    }
}
