/// Which cookies a request carries and why others are not sent, without values.
public struct ExplanationReport: Codable, Sendable {
    /// A cookie that is not sent.
    public struct Exclusion: Codable, Sendable {
        /// The cookie.
        public let cookie: CookieReport
        /// The reasons.
        public let reasons: [ReasonReport]

        package init(cookie: CookieReport, reasons: [ReasonReport]) {
            self.cookie = cookie
            self.reasons = reasons
        }
    }

    /// A cookie that a response tried to set and the rules rejected.
    public struct Rejection: Codable, Sendable {
        /// The name, at most 256 octets of it; empty if the line could not be read.
        public let name: String?
        /// The name in Base64 if it is not UTF-8.
        public let nameBase64: String?
        /// The host whose response it was.
        public let host: String
        /// When the response came (RFC 3339).
        public let time: String
        /// Why the cookie was rejected.
        public let reasons: [ReasonReport]

        package init(
            name: String? = nil, nameBase64: String? = nil, host: String, time: String, reasons: [ReasonReport]
        ) {
            self.name = name
            self.nameBase64 = nameBase64
            self.host = host
            self.time = time
            self.reasons = reasons
        }
    }

    /// The cookies that another jar of the database has for the request.
    public struct OtherJar: Codable, Sendable {
        /// The name.
        public let name: String
        /// How many cookies of the site it has.
        public let cookies: Int
        /// How many of them would be sent.
        public let sent: Int
        /// The names of those that would be sent and that this jar does not send: the first ten.
        public let lacking: [String]?

        package init(name: String, cookies: Int, sent: Int, lacking: [String]? = nil) {
            self.name = name
            self.cookies = cookies
            self.sent = sent
            self.lacking = lacking
        }
    }

    /// A URL that would get more of the cookies.
    public struct Alternative: Codable, Sendable {
        /// The URL.
        public let url: String
        /// How many cookies it would get.
        public let sent: Int

        package init(url: String, sent: Int) {
            self.url = url
            self.sent = sent
        }
    }

    /// A login that a login rule for the request needs, and that the server has ended or that was removed.
    public struct LostLogin: Codable, Sendable {
        /// The name of the rule.
        public let rule: String
        /// The name of the login.
        public let login: String
        /// Whether the login is stored: the server has ended it. If not, it was removed.
        public let isStored: Bool

        package init(rule: String, login: String, isStored: Bool) {
            self.rule = rule
            self.login = login
            self.isStored = isStored
        }
    }

    /// The URL.
    public let url: String
    /// The name of the jar.
    public let jar: String
    /// The registrable domain of the request.
    public let site: String
    /// The time that lifetimes are counted from (RFC 3339).
    public let now: String
    /// A browser's decision on the request's cookies; `nil` if it is not known.
    public let verdict: EngineVerdictReport?
    /// The cookies that are sent.
    public let included: [CookieReport]
    /// The cookies that are not sent.
    public let excluded: [Exclusion]
    /// The newest change of each cookie of the site that is gone or was replaced: the latest first, at most 100; `nil`
    /// from an older service. For a replaced cookie, `url` and `capture` name the source of its current value.
    public let changes: [ChangeReport]?
    /// The newest rejection of each cookie that hosts of the site tried to set and that the jar has not stored since:
    /// the latest first, at most 100; `nil` from an older service.
    public let rejected: [Rejection]?
    /// The other jars that would send cookies that this one does not.
    public let otherJars: [OtherJar]
    /// Sites of the jar with a similar name.
    public let similarSites: [String]
    /// A URL that would get more of the cookies.
    public let better: Alternative?
    /// Whether the jar's header fields are sent; `nil` if it has none.
    public let fields: [FieldVerdictReport]?
    /// The logins that login rules for the request need, and that the server has ended or that were removed; `nil` for
    /// none.
    public let lostLogins: [LostLogin]?

    package init(
        url: String, jar: String, site: String, now: String, verdict: EngineVerdictReport? = nil,
        included: [CookieReport], excluded: [Exclusion],
        changes: [ChangeReport]? = nil, rejected: [Rejection]? = nil, otherJars: [OtherJar], similarSites: [String],
        better: Alternative? = nil,
        fields: [FieldVerdictReport]? = nil, lostLogins: [LostLogin]? = nil
    ) {
        self.url = url
        self.jar = jar
        self.site = site
        self.now = now
        self.verdict = verdict
        self.included = included
        self.excluded = excluded
        self.changes = changes
        self.rejected = rejected
        self.otherJars = otherJars
        self.similarSites = similarSites
        self.better = better
        self.fields = fields
        self.lostLogins = lostLogins
    }
}

/// The outcome that storing `Set-Cookie` lines would have, without values.
public struct SetCookieDryRunReport: Codable, Sendable {
    /// A cookie that would be evicted.
    public struct Evicted: Codable, Sendable {
        /// The cookie.
        public let cookie: CookieReport
        /// The reason.
        public let reason: ReasonReport

        package init(cookie: CookieReport, reason: ReasonReport) {
            self.cookie = cookie
            self.reason = reason
        }
    }

    /// The outcome that one line would have.
    public struct Line: Codable, Sendable {
        /// The number of the line, from 1.
        public let line: Int
        /// `stored`, `replaced`, `deleted` or `rejected`.
        public let outcome: String
        /// The name.
        public let name: String?
        /// The cookie as it would be stored.
        public let cookie: CookieReport?
        /// Why the line is rejected.
        public let reasons: [ReasonReport]
        /// Why the request's own URL would not get the cookie.
        public let notSent: [ReasonReport]
        /// The cookies that were evicted.
        public let evicted: [Evicted]
        /// Whether a stored cookie is deleted; `nil` if the line deletes none.
        public let deletesStored: Bool?

        package init(
            line: Int, outcome: String, name: String? = nil, cookie: CookieReport? = nil, reasons: [ReasonReport],
            notSent: [ReasonReport], evicted: [Evicted], deletesStored: Bool? = nil
        ) {
            self.line = line
            self.outcome = outcome
            self.name = name
            self.cookie = cookie
            self.reasons = reasons
            self.notSent = notSent
            self.evicted = evicted
            self.deletesStored = deletesStored
        }
    }

    /// The URL.
    public let url: String
    /// The name of the jar.
    public let jar: String
    /// The time that lifetimes are counted from (RFC 3339).
    public let now: String
    /// The outcome of each line.
    public let lines: [Line]

    package init(url: String, jar: String, now: String, lines: [Line]) {
        self.url = url
        self.jar = jar
        self.now = now
        self.lines = lines
    }
}
