/// A response in the cache of a jar.
package struct CachedResponseReport: Codable, Sendable {
    /// The URL without its query, and without secrets in its path; with the query if queries were requested.
    package let url: String
    /// `true` if the URL has a query that is left out; otherwise `nil`.
    package let hasQuery: Bool?
    /// The status code.
    package let status: Int
    /// How many octets of the disk it takes.
    package let octets: Int64
    /// Whether it may answer by its age: `fresh`, `stale`, or `invalid` if the server has to be asked in any case.
    package let state: String
    /// For how many seconds it remains fresh; negative if it has been stale for so long.
    package let timeToLive: Int64
    /// When it was stored (RFC 3339).
    package let stored: String
    /// When it was last used, to a few seconds (RFC 3339).
    package let used: String

    package init(
        url: String, hasQuery: Bool?, status: Int, octets: Int64, state: String, timeToLive: Int64, stored: String,
        used: String
    ) {
        self.url = url
        self.hasQuery = hasQuery
        self.status = status
        self.octets = octets
        self.state = state
        self.timeToLive = timeToLive
        self.stored = stored
        self.used = used
    }
}

/// A page of the responses in the cache of a jar.
package struct CachedResponseList: Codable, Sendable {
    /// The responses, in the order in which they were stored.
    package let responses: [CachedResponseReport]
    /// The cursor of the next page; `nil` on the last page.
    package let next: String?

    package init(responses: [CachedResponseReport], next: String? = nil) {
        self.responses = responses
        self.next = next
    }
}

/// A response in the cache of a jar, and what would happen with the next request.
package struct CachedResponseDetails: Codable, Sendable {
    /// A field of the response.
    package struct Field: Codable, Sendable {
        /// The name.
        package let name: String
        /// The value, if it is one that a cache goes by; otherwise `nil`.
        package let value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// Why the response does not answer by itself.
    package struct Reason: Codable, Sendable {
        /// The stable identifier of the reason; `docs/cache.md` lists them.
        package let id: String
        /// One sentence that explains it.
        package let explanation: String

        package init(id: String, explanation: String) {
            self.id = id
            self.explanation = explanation
        }
    }

    /// The response, as in the list.
    package let response: CachedResponseReport
    /// The number of its audience, from 1: a response answers only requests of its own audience.
    package let audience: Int
    /// Whose requests it answers: those of browsers and apps (`browser`), or of programs (`tool`).
    package let client: String
    /// How long it is fresh, in seconds.
    package let lifetime: Int64
    /// Where the lifetime comes from: `max-age`, `expires`, `heuristic`, or `none` if the server says nothing.
    package let lifetimeSource: String
    /// How old it is, in seconds.
    package let age: Int64
    /// The fields.
    package let fields: [Field]
    /// The names of the request fields that `Vary` names, in lower case.
    package let vary: [String]
    /// What would happen with a GET request like the one that it answered: `hit`, `hit-then-validate`, `validate`,
    /// `complete`, `forward` or `unavailable`.
    package let outcome: String
    /// The rule that would decide.
    package let rule: String
    /// Why the response would not answer by itself; empty if it would.
    package let reasons: [Reason]

    package init(
        response: CachedResponseReport, audience: Int, client: String, lifetime: Int64, lifetimeSource: String,
        age: Int64, fields: [Field], vary: [String], outcome: String, rule: String, reasons: [Reason]
    ) {
        self.response = response
        self.audience = audience
        self.client = client
        self.lifetime = lifetime
        self.lifetimeSource = lifetimeSource
        self.age = age
        self.fields = fields
        self.vary = vary
        self.outcome = outcome
        self.rule = rule
        self.reasons = reasons
    }
}

/// The responses to one URL in the cache of a jar.
package struct CachedResponseDetailsList: Codable, Sendable {
    /// The responses, one for each audience and each variant.
    package let responses: [CachedResponseDetails]

    package init(responses: [CachedResponseDetails]) {
        self.responses = responses
    }
}

/// How the cache of a jar would answer a request.
package struct CacheExplanationReport: Codable, Sendable {
    /// The method of the request.
    package let method: String
    /// The URL, without the secrets in it.
    package let url: String
    /// What would happen: `hit`, `hit-then-validate`, `validate`, `complete`, `forward` or `unavailable`.
    package let outcome: String
    /// The rule that would decide, as `Cache-Status` names it.
    package let rule: String
    /// How that rule treats the request: `never-store`, `always-ask`, `keep`, `stale-then-ask`, `reload`,
    /// `reload-everywhere`, `stored-only`, or `protocol` if RFC 9111 decides.
    package let treatment: String
    /// Why no stored response would answer by itself; empty if one would.
    package let reasons: [CachedResponseDetails.Reason]
    /// The number of the stored response that would be used, from 1 in ``responses``; `nil` for none.
    package let response: Int?
    /// The stored responses to the URL, each with the decision on the request if it were the only one.
    package let responses: [CachedResponseDetails]
    /// The offline package that answers before the cache, as `Cache-Status` names it; `nil` for none, and from a service,
    /// which does not look at packages.
    package let package: String?

    package init(
        method: String, url: String, outcome: String, rule: String, treatment: String,
        reasons: [CachedResponseDetails.Reason], response: Int?, responses: [CachedResponseDetails],
        package: String? = nil
    ) {
        self.method = method
        self.url = url
        self.outcome = outcome
        self.rule = rule
        self.treatment = treatment
        self.reasons = reasons
        self.response = response
        self.responses = responses
        self.package = package
    }

    /// The same decision if a package answers before the cache.
    package func answered(by name: String) -> CacheExplanationReport {
        CacheExplanationReport(
            method: method, url: url, outcome: outcome, rule: rule, treatment: treatment, reasons: reasons,
            response: response, responses: responses, package: name)
    }
}

/// How much a cache holds, and how often it has answered.
package struct CacheStatisticsReport: Codable, Sendable {
    /// What the cache of the whole database holds.
    package struct Whole: Codable, Sendable {
        /// How many responses.
        package let responses: Int64
        /// How many octets of the disk they take.
        package let octets: Int64
        /// How many requests each rule has answered from the cache.
        package let hits: [String: Int64]
        /// How many octets of bodies each rule has answered from the cache, which no server had to send.
        package let octetsSaved: [String: Int64]
        /// The path of the folder, whether it exists or not; `nil` if it is not known.
        package let folder: String?
        /// What keeps responses from being stored now, and what to do about it; `nil` if nothing is known.
        package let problem: String?

        package init(
            responses: Int64, octets: Int64, hits: [String: Int64], octetsSaved: [String: Int64], folder: String?,
            problem: String?
        ) {
            self.responses = responses
            self.octets = octets
            self.hits = hits
            self.octetsSaved = octetsSaved
            self.folder = folder
            self.problem = problem
        }
    }

    /// The name of the jar.
    package let jar: String
    /// How many responses of the jar.
    package let responses: Int64
    /// How many octets of the disk they take.
    package let octets: Int64
    /// The whole cache, which the jars of the database share; `nil` if the caller has no access to all jars.
    package let whole: Whole?

    package init(jar: String, responses: Int64, octets: Int64, whole: Whole?) {
        self.jar = jar
        self.responses = responses
        self.octets = octets
        self.whole = whole
    }
}

/// What was removed from a cache.
package struct CacheRemovalReport: Codable, Sendable {
    /// How many responses.
    package let removed: Int64
    /// How many octets of the disk they took.
    package let octets: Int64

    package init(removed: Int64, octets: Int64) {
        self.removed = removed
        self.octets = octets
    }
}
