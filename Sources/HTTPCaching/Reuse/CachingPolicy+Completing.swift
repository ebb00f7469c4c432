import WebPrimitives

extension CachingPolicy {
    /// The decision on a request for which only incomplete responses are stored; `nil` if none of them can be completed.
    func completing(
        _ request: CacheRequest, among stored: [CachedResponse], _ rule: AppliedRule, now: Timestamp
    ) -> LookupDecision? {
        // Section 3.3: A cache MAY complete a stored incomplete response by making a subsequent range request and combining
        // the successful response with the stored response.
        let isPlain = request.method == "GET" && !Self.conditions.contains { request.fields.has($0) }
        switch rule.treatment {
        case .protocol, .keep, .validate, .staleThenValidate: break
        case .neverStore, .reload, .storedOnly: return nil
        }
        guard isPlain, !request.directives.forbidsForwarding, !request.directives.forbidsStoring else { return nil }
        // The parts of one representation have one URL.
        let completable = choosable(for: request, among: stored).filter { index in
            stored[index].url == request.url && stored[index].completingFields != nil
        }
        guard let index = mostRecent(completable, of: stored), let range = stored[index].completingFields
        else { return nil }
        let choice = LookupDecision.Choice(index: index, freshness: freshness(of: stored[index], now: now))
        let fields = MessageFields(request.fields.lines + range.lines)
        return LookupDecision(outcome: .complete(fields: fields), choice: choice, rule: rule, reasons: [.incomplete])
    }

    private static let conditions: [StaticString] = ["range", "if-range", "if-none-match", "if-modified-since"]

    /// What the response to a request for the missing part means; `nil` if it answers the client's request.
    func completion(
        of part: CachedResponse, at index: Int, by response: OriginResponse, for request: CacheRequest
    ) -> ValidationOutcome? {
        switch response.status {
        case 206:
            // A combination that is not whole has no answer.
            guard let rest = storing(response, for: request).response,
                let answer = part.combined(with: rest)?.response.answer(to: request, age: nil)
            else { return .repeated }
            return .completed(part: rest, answer: answer)
        case 416:
            // Nothing is missing if the representation ends where the part does.
            guard case .part(let positions, let total) = part.extent, positions.lowerBound == 0,
                total == nil || total == positions.upperBound,
                ContentRange.unsatisfiedTotal(response.fields) == positions.upperBound,
                part.sharesStrongValidator(with: response.fields, receivedAt: response.responseTime)
            else { return .repeated }
            var whole = part
            whole.extent = .whole(length: positions.upperBound)
            let age = freshness(of: whole, now: response.responseTime).age
            guard let answer = whole.answer(to: request, age: age) else { return .repeated }
            return .freshened(chosen: index, answer: answer, updates: [index: whole], removed: [])
        // The client has sent no condition.
        case 304: return .repeated
        default: return nil
        }
    }
}
