extension CookiePolicy {
    /// Retrieves cookies that a store keeps sealed (section 5.8.3).
    ///
    /// - Parameters:
    ///   - cookies: the cookies of the request host's registrable domain, in any order, with sealed values.
    ///   - open: gives the value of a cookie that would go; `nil` where it cannot be read, and the cookie stays as
    ///     ``ExclusionReason/unreadable``. Cookies that stay are left without a value.
    package func retrieval(
        from cookies: [Cookie], for context: RequestContext, now: Timestamp, opening open: (Cookie) -> Octets?
    ) -> Retrieval {
        let rules = RetrievalRules(context, self, now: now)
        var retrieval = Retrieval()
        var room = RequestRoom(limits)
        for var cookie in cookies.sorted(by: { $0.precedes($1) }) {
            var reasons = rules.exclusionReasons(for: cookie)
            let value = reasons.isEmpty ? open(cookie) : nil
            cookie.value = value ?? []
            if reasons.isEmpty {
                if value == nil {
                    reasons.insert(.unreadable)
                } else if !room.takes(cookie.pair.count) {
                    cookie.value = []
                    reasons.insert(.requestLimit)
                }
            }
            if reasons.isEmpty {
                retrieval.included.append(cookie)
            } else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: cookie, reasons: reasons))
            }
        }
        return retrieval
    }
}
