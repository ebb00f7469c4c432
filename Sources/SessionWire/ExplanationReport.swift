/// Which cookies a request carries and why others are not sent, without values.
package struct ExplanationReport: Codable, Sendable {
    /// A cookie that is not sent.
    package struct Exclusion: Codable, Sendable {
        /// The cookie.
        package let cookie: CookieReport
        /// The reasons.
        package let reasons: [ReasonReport]

        package init(cookie: CookieReport, reasons: [ReasonReport]) {
            self.cookie = cookie
            self.reasons = reasons
        }
    }

    /// A cookie that a response tried to set and the rules rejected.
    package struct Rejection: Codable, Sendable {
        /// The name, at most 256 octets of it; empty if the line could not be read.
        package let name: String?
        /// The name in Base64 if it is not UTF-8.
        package let nameBase64: String?
        /// The host whose response it was.
        package let host: String
        /// When the response came (RFC 3339).
        package let time: String
        /// Why the cookie was rejected.
        package let reasons: [ReasonReport]

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
    package struct OtherJar: Codable, Sendable {
        /// The name.
        package let name: String
        /// How many cookies of the site it has.
        package let cookies: Int
        /// How many of them would be sent.
        package let sent: Int
        /// The names of those that would be sent and that this jar does not send: the first ten.
        package let lacking: [String]?

        package init(name: String, cookies: Int, sent: Int, lacking: [String]? = nil) {
            self.name = name
            self.cookies = cookies
            self.sent = sent
            self.lacking = lacking
        }
    }

    /// A URL that would get more of the cookies.
    package struct Alternative: Codable, Sendable {
        /// The URL.
        package let url: String
        /// How many cookies it would get.
        package let sent: Int

        package init(url: String, sent: Int) {
            self.url = url
            self.sent = sent
        }
    }

    /// A login that a login rule for the request needs, and that the server has ended or that was removed.
    package struct LostLogin: Codable, Sendable {
        /// The name of the rule.
        package let rule: String
        /// The name of the login.
        package let login: String
        /// Whether the login is stored: the server has ended it. If not, it was removed.
        package let isStored: Bool

        package init(rule: String, login: String, isStored: Bool) {
            self.rule = rule
            self.login = login
            self.isStored = isStored
        }
    }

    /// The URL.
    package let url: String
    /// The name of the jar.
    package let jar: String
    /// The registrable domain of the request.
    package let site: String
    /// The time that lifetimes are counted from (RFC 3339).
    package let now: String
    /// A browser's decision on the request's cookies; `nil` if it is not known.
    package let verdict: EngineVerdictReport?
    /// The cookies that are sent.
    package let included: [CookieReport]
    /// The cookies that are not sent.
    package let excluded: [Exclusion]
    /// The newest change of each cookie of the site that is gone or was replaced: the latest first, at most 100; `nil`
    /// from an older service. For a replaced cookie, `url` and `capture` name the source of its current value.
    package let changes: [ChangeReport]?
    /// The newest rejection of each cookie that hosts of the site tried to set and that the jar has not stored since:
    /// the latest first, at most 100; `nil` from an older service.
    package let rejected: [Rejection]?
    /// The other jars that would send cookies that this one does not.
    package let otherJars: [OtherJar]
    /// Sites of the jar with a similar name.
    package let similarSites: [String]
    /// A URL that would get more of the cookies.
    package let better: Alternative?
    /// Whether the jar's header fields are sent; `nil` if it has none.
    package let fields: [FieldVerdictReport]?
    /// The logins that login rules for the request need, and that the server has ended or that were removed; `nil` for
    /// none.
    package let lostLogins: [LostLogin]?

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
package struct SetCookieDryRunReport: Codable, Sendable {
    /// A cookie that would be evicted.
    package struct Evicted: Codable, Sendable {
        /// The cookie.
        package let cookie: CookieReport
        /// The reason.
        package let reason: ReasonReport

        package init(cookie: CookieReport, reason: ReasonReport) {
            self.cookie = cookie
            self.reason = reason
        }
    }

    /// The outcome that one line would have.
    package struct Line: Codable, Sendable {
        /// The number of the line, from 1.
        package let line: Int
        /// `stored`, `replaced`, `deleted` or `rejected`.
        package let outcome: String
        /// The name.
        package let name: String?
        /// The cookie as it would be stored.
        package let cookie: CookieReport?
        /// Why the line is rejected.
        package let reasons: [ReasonReport]
        /// Why the request's own URL would not get the cookie.
        package let notSent: [ReasonReport]
        /// The cookies that were evicted.
        package let evicted: [Evicted]
        /// Whether a stored cookie is deleted; `nil` if the line deletes none.
        package let deletesStored: Bool?

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
    package let url: String
    /// The name of the jar.
    package let jar: String
    /// The time that lifetimes are counted from (RFC 3339).
    package let now: String
    /// The outcome of each line.
    package let lines: [Line]

    package init(url: String, jar: String, now: String, lines: [Line]) {
        self.url = url
        self.jar = jar
        self.now = now
        self.lines = lines
    }
}
