import WebPrimitives

extension CookiePolicy {
    /// Retrieves cookies that a store keeps sealed: ``RetrievalRules/retrieval(from:opening:)`` for one request.
    package func retrieval(
        from cookies: [Cookie], for context: RequestContext, now: Timestamp, opening open: (Cookie) -> Octets?
    ) -> Retrieval {
        RetrievalRules(context, self, now: now).retrieval(from: cookies, opening: open)
    }
}
