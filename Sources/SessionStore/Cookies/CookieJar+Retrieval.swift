public import CookieModel
internal import GRDB

extension CookieJar {
    /// Retrieves the cookies for a request (section 5.8.3 of the draft), notes the access, and says of the cookies that
    /// stay why.
    ///
    /// Sees every write that was acknowledged before, by whatever process. A cookie whose stored value was tampered with
    /// is left out, with the reason `unreadable`.
    public func retrieve(for context: RequestContext, now: Timestamp) throws(SessionStoreError) -> Retrieval {
        try answer(SiteQuestion(context, to: self, now: now)) { $0.retrieve(&$1) }
    }

    /// Retrieves the cookie-string for a request (section 5.8.3) and notes the access: what ``retrieve(for:now:)``
    /// gives, for those who do not ask why.
    public func cookieString(for context: RequestContext, now: Timestamp) throws(SessionStoreError) -> Octets {
        try answer(SiteQuestion(context, to: self, now: now)) { $0.cookieString(&$1) }
    }

    private func answer<Answer: Sendable>(
        _ question: consuming SiteQuestion, _ body: (inout CachedSite, inout SiteQuestion) -> Answer
    ) throws(SessionStoreError) -> Answer {
        let answer: Answer
        if let cached = try cachedAnswer(&question, body) {
            answer = cached
        } else {
            let site = question.rules.site
            var rows = CachedSite(
                try database.read { try CookieRows(database: $0, jarID: id).cookies(site: site) })
            answer = body(&rows, &question)
        }
        try noteAccess(question)
        return answer
    }

    private func cachedAnswer<Answer: Sendable>(
        _ question: inout SiteQuestion, _ body: (inout CachedSite, inout SiteQuestion) -> Answer
    ) throws(SessionStoreError) -> Answer? {
        // A database in memory has one connection, and its rows are near enough.
        guard database.isOnDisk else { return nil }
        return try SessionStoreError.catching(database.path) { try database.cache.answer(&question, body) }
    }

    private func noteAccess(_ question: borrowing SiteQuestion) throws(SessionStoreError) {
        let cookies = question.accesses.cookies
        guard !cookies.isEmpty else { return }
        let (site, now) = (question.rules.site, question.rules.now)
        do {
            // Another process may hold the lock for as long as it reads a capture: no header waits for that.
            try database.writeUnlessBusy { connection in
                let rows = CookieRows(database: connection, jarID: id)
                for cookie in cookies { try rows.touch(cookie, site: site, now: now) }
            }
        } catch  where error.code == .databaseBusy || error.code == .databaseReadOnly || error.code == .diskFull {
            // The header is right without it: the time matters for eviction only.
        }
    }
}
