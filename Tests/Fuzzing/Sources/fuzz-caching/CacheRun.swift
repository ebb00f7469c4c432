import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// A cache that lives through a script, and what must hold of it at every step.
struct CacheRun {
    /// 2026-11-21T00:00:00Z.
    static let start = Timestamp(seconds: 1_795_219_200)

    private var policy = CachingPolicy(rules: .standard)
    private var stored: [CachedResponse] = []
    private var now = CacheRun.start
    /// The request that waits for the server.
    private var pending: (request: CacheRequest, decision: LookupDecision, sent: Timestamp)?

    init(_ script: CacheScript) {
        policy.servesStaleWhenDisconnected = true
        for step in script.steps {
            switch step {
            case .request(let request): look(request)
            case .response(let status, let fields, let body): take(status, fields, body)
            case .failure(let failure): fail(failure)
            case .advance(let seconds): now = now.advanced(bySeconds: seconds)
            }
            Invariant.holds(stored.allSatisfy(\.mayBeStored), "nothing with no-store or Vary: * is stored")
            Invariant.holds(stored.allSatisfy(StoredCheck.isSane), "what is stored has positions that it can have")
        }
    }

    private mutating func look(_ request: CacheRequest) {
        for isOffline in [true, false] {
            let decision = policy.lookup(request, among: stored, now: now, isOffline: isOffline)
            StoredCheck.check(decision, on: request, among: stored, isOffline: isOffline)
            pending = (request, decision, now)
        }
    }

    private mutating func fail(_ failure: ServerFailure) {
        guard let pending, let index = pending.decision.choice?.index, stored.indices.contains(index) else { return }
        let response = stored[index]
        guard let answer = policy.staleAnswer(response, to: pending.request, now: now, failure) else { return }
        StoredCheck.check(answer, of: response, to: pending.request)
        Invariant.holds(
            !response.isInvalid && !response.directives.needsValidation, "no response that needs a validation answers")
        Invariant.holds(
            !response.directives.forbidsStale || policy.freshness(of: response, now: now).isFresh,
            "no stale response answers that may not")
    }

    private mutating func take(_ status: Int, _ fields: MessageFields, _ body: CacheScript.Body) {
        guard let (request, decision, sent) = pending else { return }
        pending = nil
        // Another step may have changed what is stored only if the request was answered.
        guard decision.choice.map({ stored.indices.contains($0.index) }) ?? true else { return }
        let response = OriginResponse(status: status, fields: fields, requestTime: sent, responseTime: now)
        switch policy.validated(by: response, after: decision, for: request, stored: stored) {
        case .freshened(let chosen, let answer, let updates, let removed):
            StoredCheck.check(answer, of: updates[chosen] ?? stored[chosen], to: request)
            Invariant.holds(
                Set(updates.keys).isDisjoint(with: removed) && updates.values.allSatisfy(\.mayBeStored),
                "a response is updated or removed")
            Invariant.holds(
                !request.directives.forbidsStoring || updates.isEmpty, "a request with no-store stores nothing")
            for (index, update) in updates { stored[index] = update }
            remove(removed)
        case .stale(let answer):
            guard let index = decision.choice?.index else { return Invariant.holds(false, "what answers was chosen") }
            StoredCheck.check(answer, of: stored[index], to: request)
        case .completed(let part, let answer):
            guard let index = decision.choice?.index else {
                return Invariant.holds(false, "what is completed was chosen")
            }
            complete(index, by: part, answer, request, body)
        case .repeated:
            let again = policy.validated(
                by: response, after: decision.repeated(request), for: request, stored: stored)
            guard case .replaced = again else { return Invariant.holds(false, "a request is repeated once") }
        case .replaced(let unsuitable):
            replace(unsuitable, by: response, request, body)
        }
    }

    private mutating func complete(
        _ index: Int, by part: CachedResponse, _ answer: StoredAnswer, _ request: CacheRequest, _ body: CacheScript.Body
    ) {
        guard let rest = part.received(bodyLength: body.length, isComplete: body.isComplete),
            let combination = stored[index].combined(with: rest)
        else { return }
        StoredCheck.check(combination, of: stored[index], and: rest)
        if combination.response.extent.isWhole { StoredCheck.check(answer, of: combination.response, to: request) }
        stored[index] = combination.response
        if !stored[index].mayBeStored { remove([index]) }
    }

    private mutating func replace(
        _ unsuitable: [Int], by response: OriginResponse, _ request: CacheRequest, _ body: CacheScript.Body
    ) {
        Invariant.holds(unsuitable.allSatisfy { stored.indices.contains($0) }, "what is out of date is stored")
        let invalidation = Invalidation(by: response, to: request)
        let affected = invalidation.affected(among: stored)
        Invariant.holds(
            affected.allSatisfy { stored[$0].url.isSameOrigin(as: request.url) }, "no other origin is invalidated")
        for index in affected { stored[index] = stored[index].invalidated(at: invalidation.time) }
        for (index, update) in policy.freshened(byHead: response, to: request, among: stored) { stored[index] = update }
        let storable = policy.storing(response, for: request).response
        Invariant.holds(
            storable == nil || request.method == "GET" || request.method == "POST", "only GET and POST are stored")
        guard let new = storable?.received(bodyLength: body.length, isComplete: body.isComplete) else {
            return remove(unsuitable)
        }
        StoredCheck.checkStorable(new, response, request)
        let replacement = policy.replacement(by: new, to: request, among: stored)
        let combination = stored.lazy.compactMap { old in
            old.combined(with: replacement.response).map { (old, $0) }
        }.first
        if let (old, whole) = combination { StoredCheck.check(whole, of: old, and: replacement.response) }
        remove(unsuitable + replacement.superseded)
        stored.append(replacement.response)
        if let (_, whole) = combination, whole.response.mayBeStored { stored[stored.count - 1] = whole.response }
    }

    private mutating func remove(_ indices: [Int]) {
        Invariant.holds(indices.allSatisfy { stored.indices.contains($0) }, "what is removed is stored")
        let unwanted = Set(indices)
        stored = stored.indices.filter { !unwanted.contains($0) }.map { stored[$0] }
    }
}
