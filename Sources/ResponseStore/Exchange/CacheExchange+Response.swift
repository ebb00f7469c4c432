import CookieModel
package import HTTPCaching
package import WebPrimitives

extension CacheExchange {
    /// Decides on the response of the server, and changes what is stored accordingly.
    ///
    /// - Parameters:
    ///   - response: The final response.
    ///   - bodyLength: The length that its head gives for the body; `nil` if it gives none.
    ///   - mayStore: Whether its end will show that the body is complete.
    ///   - now: The current time.
    package mutating func take(
        _ response: OriginResponse, bodyLength: Int64?, mayStore: Bool, now: Timestamp
    ) async -> Step {
        let (cache, request) = (state.cache, state.request)
        forwardedStatus = response.status
        let verdict = cache.portals.verdict(
            on: response, to: request, inPlaceOf: chosen?.response, now: now)
        if verdict == .ofPortal { return await answerOffline(now: now).map { .answer($0) } ?? .pass }
        await cache.invalidate(by: response, to: request)
        if verdict == .doubtful { return .pass }
        if !state.stored.isEmpty { await refresh(now: now) }
        let outcome = cache.policy.validated(
            by: response, after: state.decision, for: request, stored: state.stored.map(\.response))
        return await step(after: outcome, response, bodyLength: bodyLength, mayStore: mayStore)
    }

    /// What the outcome of a validation means for the client, after the changes to what is stored.
    private mutating func step(
        after outcome: ValidationOutcome, _ response: OriginResponse, bodyLength: Int64?, mayStore: Bool
    ) async -> Step {
        let (cache, stored) = (state.cache, state.stored)
        switch outcome {
        case .freshened(let chosen, let head, let updates, let removed):
            let answer = await CacheExchange.open(head, of: stored[chosen], cache)
            await cache.using { responses in
                for (index, update) in updates { responses.update(stored[index], with: update) }
                responses.remove(removed.map { stored[$0] })
            }
            return answer.map { .answer($0) } ?? repeated()
        case .stale(let head):
            guard let chosen else { return .pass }
            return await openStale(head, of: chosen).map { .answer($0) } ?? .pass
        case .repeated: return repeated()
        case .completed(let part, let head):
            // The octets of both are passed on as they come, so they have to fit.
            guard let chosen, case .part(let stored, _) = chosen.response.extent,
                case .part(let rest, let total?) = part.extent, rest == stored.upperBound..<total,
                bodyLength == Int64(rest.count), let whole = chosen.response.combined(with: part)?.response,
                let answer = await CacheExchange.open(head, of: chosen, cache)
            else { return repeated() }
            await store(whole, bodyLength: whole.extent.total)
            return .complete(answer)
        case .replaced(let unsuitable):
            await replace(unsuitable, by: response, bodyLength: bodyLength, mayStore: mayStore)
            return .pass
        }
    }

    private mutating func repeated() -> Step {
        restart(nil)
        return .again
    }

    /// Replaces the candidates by what they are now: one may have been invalidated while the request was on its way.
    private mutating func refresh(now: Timestamp) async {
        let current = await candidates(now: now)
        let byID = Dictionary(current.map { ($0.id, $0) }) { first, _ in first }
        state.stored = state.stored.map { byID[$0.id] ?? $0 }
    }

    /// Begins to store a response, and marks what it shows to be out of date. What it replaces is removed when it is there.
    private mutating func replace(
        _ unsuitable: [Int], by response: OriginResponse, bodyLength: Int64?, mayStore: Bool
    ) async {
        let (cache, request, stored) = (state.cache, state.request, state.stored)
        let updates =
            stored.isEmpty
            ? [:] : cache.policy.freshened(byHead: response, to: request, among: stored.map(\.response))
        if mayStore, !dependsOnLogin(response), let storable = cache.policy.storing(response, for: request).response {
            await store(storable, bodyLength: bodyLength)
        }
        // If no client waits, a body that breaks off is a failure like any other, and changes nothing.
        let outdated = state.isBackground && storing != nil ? [] : unsuitable
        guard !updates.isEmpty || !outdated.isEmpty else { return }
        await cache.using { responses in
            for (index, update) in updates where !update.isInvalid { responses.update(stored[index], with: update) }
            // Departure: section 4.3.3 would remove them. If the new one is not stored, or breaks off, they are better
            // than nothing when there is no network. They answer nothing else without a validation.
            let marked = updates.filter { $0.value.isInvalid }.keys + outdated
            responses.invalidate(marked.map { stored[$0] })
        }
    }

    /// Whether a response depends on the credential of a login, which the cache does not see.
    private func dependsOnLogin(_ response: OriginResponse) -> Bool {
        state.hasLogin
            && response.fields.values("vary").contains { value in
                value.split(separator: ASCII.comma).contains { name in
                    Octets(Array(name)).trimmingBlanks.lowercased == "authorization"
                }
            }
    }

    /// - Parameter bodyLength: The length of what is passed on; `nil` if it is not known.
    private mutating func store(_ response: CachedResponse, bodyLength: Int64?) async {
        let (cache, request, audience) = (state.cache, state.request, state.audience)
        let site = request.url.host.registrableDomain(cache.suffixes)
        let writer = await cache.reading {
            $0.begin(response, to: request, policy: cache.policy, jar: cache.jar, audience: audience, site: site)
        }
        storing = writer.flatMap { BodyStoring($0, length: bodyLength, in: cache) } ?? storing
    }

    // MARK: - Its body

    /// Stores octets of the body. Call it before they are passed on: a client that has the whole response finds it stored.
    package func append(_ octets: [UInt8], now: Timestamp) async {
        await storing?.append(octets, now: now)
    }

    /// Ends the body. Call it before its end is passed on.
    package func finish(now: Timestamp) async {
        await storing?.finish(isComplete: true, now: now)
    }

    /// Ends the body before its end. A part is stored if nothing is yet.
    package func breakOff(now: Timestamp) async {
        await storing?.finish(isComplete: false, unless: !state.stored.isEmpty, now: now)
    }
}
