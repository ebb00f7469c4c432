extension CookiePolicy {
    /// Retrieves cookies for a request or a script's access: the retrieval algorithm (section 5.8.3).
    ///
    /// The caller updates the last-access-times of ``Retrieval/included`` (step 5).
    ///
    /// - Parameters:
    ///   - cookies: the cookies of the request host's registrable domain, in any order.
    ///   - context: the request or access.
    ///   - now: the time of the retrieval.
    public func retrieval(from cookies: [Cookie], for context: RequestContext, now: Timestamp) -> Retrieval {
        let rules = RetrievalRules(context, self, now: now)
        return Retrieval(cookies.sorted { $0.precedes($1) }, rules)
    }
}

extension Retrieval {
    /// Divides cookies, which are in order, into those that go and those that stay.
    init(_ cookies: [Cookie], _ rules: RetrievalRules) {
        for cookie in cookies {
            let reasons = rules.exclusionReasons(for: cookie)
            if reasons.isEmpty {
                included.append(cookie)
            } else {
                excluded.append(Exclusion(cookie: cookie, reasons: reasons))
            }
        }
    }
}
