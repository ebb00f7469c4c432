import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// What must hold of stored responses and of the answers that they give.
enum StoredCheck {
    /// The positions that a response has.
    private static func positions(of response: CachedResponse) -> Range<Int64> {
        switch response.extent {
        case .whole(let length): 0..<(length ?? .max)
        case .part(let positions, _): positions
        }
    }

    static func isSane(_ response: CachedResponse) -> Bool {
        let positions = positions(of: response)
        let fields = response.fields
        return positions.lowerBound >= 0 && response.extent.total.map { positions.upperBound <= $0 } ?? true
            && !fields.has("set-cookie") && !fields.has("connection") && !fields.has("transfer-encoding")
            && !fields.has("proxy-authorization")
    }

    static func check(
        _ decision: LookupDecision, on request: CacheRequest, among stored: [CachedResponse], isOffline: Bool
    ) {
        let chosen = decision.choice.map { stored[$0.index] }
        if let chosen {
            Invariant.holds(chosen.mayBeStored && chosen.url.isSameOrigin(as: request.url), "the chosen one may answer")
            Invariant.holds(
                chosen.url == request.url || chosen.fields.has("no-vary-search"),
                "only its own URL, unless it says more")
            var presented = PresentedFields(request.fields)
            Invariant.holds(chosen.nominated.match(&presented), "the fields that Vary names are the same")
        }
        switch decision.outcome {
        case .hit(let answer), .hitThenValidate(let answer, _):
            guard let chosen else { return Invariant.holds(false, "what answers was chosen") }
            check(answer, of: chosen, to: request)
            guard decision.rule.treatment == .protocol, !request.fields.has("cache-control") else { return }
            Invariant.holds(
                !chosen.isInvalid && !chosen.directives.needsValidation, "what needs a validation does not answer")
            let isFresh = decision.choice?.freshness.isFresh ?? false
            Invariant.holds(
                isFresh || chosen.directives.staleWhileRevalidating != nil && !chosen.directives.forbidsStale,
                "a stale response does not answer unless the server permits it")
        case .validate(let fields), .complete(let fields), .forward(let fields):
            Invariant.holds(!isOffline, "offline, nothing is sent")
            if case .forward = decision.outcome {
                Invariant.holds(fields == request.fields, "a request is forwarded as it is")
            } else {
                Invariant.holds(chosen != nil, "a condition is about the chosen one")
            }
        case .unavailable:
            Invariant.holds(isOffline || request.directives.forbidsForwarding, "a request is sent unless it may not be")
        }
    }

    static func check(_ answer: StoredAnswer, of response: CachedResponse, to request: CacheRequest) {
        if let body = answer.body {
            let stored = positions(of: response)
            Invariant.holds(
                body.isEmpty || stored.lowerBound <= body.lowerBound && body.upperBound <= stored.upperBound,
                "a body has no octets but stored ones")
        }
        Invariant.holds(request.method == "GET" || answer.body == nil, "only GET has a body")
        Invariant.holds(![204, 304].contains(answer.status) || answer.body == nil, "these statuses have none either")
        Invariant.holds(
            [response.status, 206, 304, 416].contains(answer.status),
            "a status is the stored one or answers a condition")
        if answer.status == 206, response.status == 200 {
            let range = ContentRange(answer.fields)
            Invariant.holds(range?.positions == answer.body, "Content-Range names the octets")
            Invariant.holds(range?.total == response.extent.total, "and the length of the whole")
            Invariant.holds(ByteRange(request.fields) != nil, "a part answers a request for a part")
        }
        if answer.status != 206, answer.body != nil {
            Invariant.holds(response.extent.isWhole, "a part is never the whole")
        }
        Invariant.holds(!answer.fields.has("set-cookie"), "a stored response sets no cookie")
    }

    /// A response that is about to be stored, judged by what is plainly there.
    static func checkStorable(_ new: CachedResponse, _ response: OriginResponse, _ request: CacheRequest) {
        for (fields, isRequest) in [(response.fields, false), (request.fields, true)] {
            let values = fields.values("cache-control")
            guard !values.contains(where: { $0.contains(UInt8(ascii: "\"")) }) else { continue }
            let names = values.flatMap { $0.split(separator: UInt8(ascii: ",")) }
                .map { Octets($0.trimmed.map(\.lowercased)) }
            let isUnderstood = !isRequest && names.contains { $0.starts(with: "must-understand".utf8) }
            Invariant.holds(!names.contains("no-store") || isUnderstood, "no-store is respected")
        }
        Invariant.holds(!response.fields.values("vary").contains("*"), "Vary: * is not stored")
        Invariant.holds(response.status >= 200 && response.status != 304, "only a final answer is stored")
        var presented = PresentedRequest(request)
        Invariant.holds(presented.matches(new), "a response answers its own request")
    }

    static func check(
        _ combination: CachedResponse.Combination, of old: CachedResponse, and new: CachedResponse
    ) {
        var position = positions(of: combination.response).lowerBound
        for piece in combination.pieces {
            let source = piece.source == .stored ? old : new
            let stored = positions(of: source)
            Invariant.holds(
                piece.positions.lowerBound == position && !piece.positions.isEmpty
                    && stored.lowerBound <= position && piece.positions.upperBound <= stored.upperBound,
                "pieces follow each other, each within its source")
            position = piece.positions.upperBound
        }
        Invariant.holds(position == positions(of: combination.response).upperBound, "pieces reach the end")
        Invariant.holds(
            old.sharesStrongValidator(with: new.fields, receivedAt: new.responseTime),
            "pieces are of one representation")
    }
}
