import CookieModel
import HTTPMessages
import SessionOperations

/// What `crumb cache warm` has loaded.
struct CacheWarmReport: Encodable {
    /// What became of a response in the cache.
    enum Outcome: String, Encodable, CaseIterable {
        /// It was stored.
        case stored
        /// The cache had answered, and no server was asked.
        case fresh
        /// The server has said that the stored response is still valid.
        case validated
        /// No server could be asked, and the cache had answered.
        case stale
        /// It was not stored.
        case notStored = "not-stored"
        /// There was no response, or not all of it.
        case failed
        /// It would be requested over https from a host that is not decrypted, so it was not requested.
        case notDecrypted = "not-decrypted"
    }

    /// A request, and its response.
    struct Response: Encodable {
        /// The URL without its query, and without secrets in its path.
        let url: String
        /// `true` if the URL has a query that is left out; otherwise `nil`.
        let hasQuery: Bool?
        /// What it is for, as in `Sec-Fetch-Dest`; `nil` if a browser has loaded it.
        var destination: String?
        /// The status code; `nil` if there was no response.
        var status: Int?
        /// How many octets the content has; `nil` if a browser has loaded it.
        var octets: Int?
        /// What became of it.
        var outcome: Outcome
        /// The gateway's member of the Cache-Status field (RFC 9211).
        var cacheStatus: String?
        /// Why it was not stored, or why there is no response.
        var reason: String?
        /// The whole URL; `nil` if it is not known.
        var target: RequestURL?
        /// Whether it is not stored although the server and the rules permit it.
        var isLost = false

        private enum CodingKeys: String, CodingKey {
            case url, hasQuery, destination, status, octets, outcome, cacheStatus, reason
        }

        init(
            _ url: RequestURL, _ outcome: Outcome, destination: PageLink.Destination? = nil, status: Int? = nil,
            octets: Int? = nil, cacheStatus: String? = nil, reason: String? = nil
        ) {
            self.url = SecretRedaction.url(url.withoutQuery.description)
            hasQuery = url.query.isEmpty ? nil : true
            self.destination = destination?.rawValue
            self.status = status
            self.octets = octets
            self.outcome = outcome
            self.cacheStatus = cacheStatus
            self.reason = reason
        }

        /// The URL for a person.
        var shownURL: String { hasQuery == true ? "\(url)?…" : url }
    }

    /// The responses in the order in which they came.
    var responses: [Response] = []
    /// The places in ``responses`` of the redirects from the pages that were named, and of what came at last.
    private(set) var arrivals: [RequestURL: [Int]] = [:]
    /// Whether a page has come with a redirect: a browser follows it by itself.
    var acceptsRedirects = false
    /// How many of the pages that were named came without an error status, and are in the cache.
    var pages: Int { arrivals.keys.count { obstacle(of: $0) == nil } }
    /// How many resources were left out because of --depth, --requests or --octets.
    var leftOut = 0
    /// How many pages and stylesheets have a coding that cannot be read, so that what they name was not found.
    var unread = 0
    /// How many octets came.
    var octets: Int { responses.reduce(0) { $0 + ($1.octets ?? 0) } }

    /// Adds a response to a page that was named.
    ///
    /// - Parameter isRedirected: Whether a redirect from the page has led to it.
    mutating func append(_ response: Response, to page: RequestURL, isRedirected: Bool = false) {
        // Of several responses to one URL, the last one is in the cache.
        let redirects = (isRedirected ? arrivals[page] ?? [] : []).filter { responses[$0].target != response.target }
        responses.append(response)
        arrivals[page] = redirects + [responses.count - 1]
    }

    /// Why a page that was named did not come, or does not open from the cache; `nil` if it does.
    func obstacle(of page: RequestURL) -> String? {
        guard let places = arrivals[page], let last = places.last else {
            return "no request for it has passed the gateway"
        }
        for redirect in places.dropLast().map({ responses[$0] }) {
            guard let reason = obstacle(of: redirect, acceptsRedirects: true) else { continue }
            return "the redirect from \(redirect.shownURL) is not in the cache: \(reason)"
        }
        return obstacle(of: responses[last], acceptsRedirects: acceptsRedirects)
    }

    private func obstacle(of response: Response, acceptsRedirects: Bool) -> String? {
        if let reason = response.reason, response.outcome == .failed || response.isLost { return reason }
        switch response.outcome {
        case .failed: return "no response came"
        case .notDecrypted: return "its host is not decrypted: name it with --intercept"
        case .stale: return "no server could be asked; a response from before has answered"
        case .stored, .fresh, .validated, .notStored:
            let status = response.status ?? 0
            let hasCome = (200...(acceptsRedirects ? 399 : 299)).contains(status)
            guard hasCome else { return "it came with status \(status)" }
            guard response.outcome == .notStored else { return nil }
            return response.reason
                ?? "the cache has not stored it\(response.cacheStatus.map { " (Cache-Status: \($0))" } ?? "")"
        }
    }

    /// Corrects what was announced as stored and is not there.
    ///
    /// - Parameter obstacle: Why the response to a URL, with content of a length if that is known, is not stored; `nil` if
    ///   it is.
    mutating func correct(_ obstacle: (RequestURL, _ octets: Int?) -> String?) {
        for index in responses.indices where responses[index].outcome == .stored || responses[index].isLost {
            guard let target = responses[index].target, let reason = obstacle(target, responses[index].octets)
            else { continue }
            (responses[index].outcome, responses[index].reason, responses[index].isLost) = (.notStored, reason, true)
        }
    }

    func count(of outcome: Outcome) -> Int { responses.count { $0.outcome == outcome } }

    private enum CodingKeys: String, CodingKey {
        case responses, pages, octets, leftOut, unread, outcomes
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(responses, forKey: .responses)
        try members.encode(pages, forKey: .pages)
        try members.encode(octets, forKey: .octets)
        try members.encode(leftOut, forKey: .leftOut)
        try members.encode(unread, forKey: .unread)
        let counts = Outcome.allCases.map { ($0.rawValue, count(of: $0)) }
        try members.encode(Dictionary(uniqueKeysWithValues: counts), forKey: .outcomes)
    }

    /// The sums for a person.
    var sentence: String {
        var parts = ["\(counted(count(of: .stored), "response")) stored"]
        let others: [(Int, String)] = [
            (count(of: .fresh), "already fresh"), (count(of: .validated), "still valid"),
            (count(of: .stale), "from before, since no server could be asked"),
            (count(of: .notStored), "not stored"), (count(of: .failed), "failed"),
            (count(of: .notDecrypted), "of hosts that are not decrypted (--intercept)"),
            (leftOut, "left out by the limits"), (unread, "not searched because of their coding"),
        ]
        parts += others.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return parts.joined(separator: ", ")
    }
}

extension CacheWarmReport.Outcome {
    /// What a Cache-Status member of the gateway says; `nil` for none.
    init(status member: String?) {
        let parameters = Set((member ?? "").split(separator: ";").map { $0.trimmingPrefix { $0 == " " } })
        if parameters.contains("stored") {
            self = .stored
        } else if parameters.contains("hit") {
            self = parameters.contains("detail=offline") ? .stale : .fresh
        } else if ["fwd=stale", "fwd=bypass", "fwd=request", "fwd=partial"].contains(where: parameters.contains),
            !parameters.contains(where: { $0.hasPrefix("fwd-status=") })
        {
            self = .stale
        } else {
            self = parameters.contains("fwd-status=304") ? .validated : .notStored
        }
    }
}
