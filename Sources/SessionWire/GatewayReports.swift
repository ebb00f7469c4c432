/// A request that has passed through a gateway, without values.
package struct GatewayRequestReport: Codable, Sendable {
    /// The position among the requests and events that have passed through the gateway, from 1; `nil` from a command.
    package internal(set) var position: Int64?
    /// When its head arrived (RFC 3339).
    package let time: String
    /// The method.
    package let method: String
    /// The URL without its query; host and port for a tunnel.
    package internal(set) var url: String
    /// The status of the response; `nil` if the client got none.
    package let status: Int?
    /// Whether the jar's cookies and fields were added.
    package let decorated: Bool
    /// The browser's decision on the cookies; `nil` for programs.
    package let verdict: EngineVerdictReport?
    /// The names of the jar's cookies that were added.
    package let cookiesSent: [String]
    /// The names of the cookies that the response has changed in the jar.
    package let cookiesStored: [String]
    /// The cookies that the response tried to set and the rules rejected, the first ten; `nil` for none.
    package let cookiesRejected: [RejectedCookieReport]?
    /// The names of the cookies that the jar has deleted because a script has deleted them in the browser; `nil` for none.
    package let cookiesDeleted: [String]?
    /// Whether the response came from a recording.
    package let replayed: Bool
    /// Whether the user was signed in again. The request was sent once more unless there is a ``loginFailure``.
    package let signedInAgain: Bool
    /// Why the user was not signed in again, or the request not sent once more: a code; `nil` if the response does not
    /// say "not signed in".
    package let loginFailure: String?
    /// The type of the failure (RFC 9209); `nil` if the server has answered.
    package let failure: String?
    /// What the user should change: use a gateway for programs (`client-tool`), or let the client trust the authority
    /// (`authority-not-trusted`); `nil` for nothing.
    package let hint: String?
    /// What the cache has done: its member of the Cache-Status field (RFC 9211); `nil` if it takes no part.
    package let cache: String?
    /// The name of the user who has sent it; `nil` if the gateway has no users, or refuses the credentials.
    package let user: String?

    package init(
        time: String, method: String, url: String, status: Int?, decorated: Bool, verdict: EngineVerdictReport?,
        cookiesSent: [String], cookiesStored: [String], cookiesRejected: [RejectedCookieReport]? = nil,
        cookiesDeleted: [String]? = nil, replayed: Bool, signedInAgain: Bool, loginFailure: String?, failure: String?,
        hint: String? = nil, cache: String? = nil, user: String? = nil
    ) {
        self.time = time
        self.method = method
        self.url = url
        self.status = status
        self.decorated = decorated
        self.verdict = verdict
        self.cookiesSent = cookiesSent
        self.cookiesStored = cookiesStored
        self.cookiesRejected = cookiesRejected
        self.cookiesDeleted = cookiesDeleted
        self.replayed = replayed
        self.signedInAgain = signedInAgain
        self.loginFailure = loginFailure
        self.failure = failure
        self.hint = hint
        self.cache = cache
        self.user = user
    }

    /// Whether the gateway refused to pass the request on.
    package var isRefused: Bool { failure == "http_request_denied" }

    /// What the gateway did instead of adding the jar's session, for a person; `nil` if it added it, or no server
    /// answered.
    package var passage: String? {
        if isRefused { return "refused" }
        return decorated || failure != nil ? nil : "passed unchanged"
    }

    /// The report as a line for a person.
    package var line: String {
        var line = "\(method) \(url) \(status.map(String.init) ?? "-")"
        if let user { line += " user: \(user)" }
        if let passage { line += " \(passage)" }
        if let failure { line += "\(isRefused ? ":" : "") \(failure)" }
        if let verdict { line += " \(verdict.source): \(verdict.text)" }
        if replayed { line += " replayed" }
        if let cache { line += " cache: \(cache.split(separator: "; ").dropFirst().joined(separator: "; "))" }
        if !cookiesSent.isEmpty { line += " sent: \(shownNames(cookiesSent))" }
        if !cookiesStored.isEmpty { line += " stored: \(shownNames(cookiesStored))" }
        if let cookiesRejected { line += " rejected: \(cookiesRejected.map(\.text).joined(separator: ", "))" }
        if let cookiesDeleted { line += " deleted: \(shownNames(cookiesDeleted))" }
        if signedInAgain { line += " signed in again" }
        if let loginFailure { line += " not signed in: \(loginFailure)" }
        switch hint {
        case "client-tool": line += " hint: use --client tool for programs"
        case "authority-not-trusted": line += " hint: the client does not trust the gateway's authority"
        default: break
        }
        return line
    }

    /// The report at a place, with a URL of limited length.
    package func placed(at position: Int64, urlLimit limit: Int) -> GatewayRequestReport {
        var report = self
        report.position = position
        if url.utf8.count > limit { report.url = String(decoding: url.utf8.prefix(limit), as: UTF8.self) + "…" }
        return report
    }
}

/// A cookie that a response tried to set, without its value.
package struct RejectedCookieReport: Codable, Sendable, Hashable {
    /// Its name; empty if the line could not be read.
    package let name: String
    /// The identifiers of the reasons.
    package let reasons: [String]

    package init(name: String, reasons: [String]) {
        self.name = name
        self.reasons = reasons
    }

    /// The cookie with the reasons, for a person.
    package var text: String { "\(shownNames([name])) (\(reasons.joined(separator: ", ")))" }
}

/// A browser's decision on the cookies of a request.
package struct EngineVerdictReport: Codable, Sendable, Hashable {
    /// How that is known: by cookies of the gateway's own (`witness`), by the Sec-Fetch fields (`sec-fetch`), or not at
    /// all (`none`).
    package let source: String
    /// The SameSite classes of cookies that the request carries: `strict`, `lax`, `none`, `default` and `recent`.
    package let classes: [String]
    /// The partition whose cookies it carries.
    package let partition: String?

    /// Creates a verdict. A partition that is `nil` is left out.
    package init(source: String, classes: [String], partition: String? = nil) {
        self.source = source
        self.classes = classes
        self.partition = partition
    }

    /// Where it comes from, for a person.
    package var sourceText: String {
        switch source {
        case "witness": "the gateway's witness cookies"
        case "sec-fetch": "its Sec-Fetch fields"
        default: "nothing that is known"
        }
    }

    /// The verdict for a person.
    package var text: String {
        if classes.contains("strict") { return "same-site" }
        if classes.contains("lax") { return "cross-site navigation" }
        return classes.contains("none") ? "cross-site" : partition == nil ? "no cookies" : "partitioned cookies only"
    }
}

/// An address that a gateway listens on.
package struct GatewayListening: Codable, Sendable {
    /// `HOST:PORT`: a proxy, or the address of a site.
    package let address: String
    /// The origin of the site that is offered there; `nil` for a proxy.
    package let upstream: String?
    /// The path, on each decrypted host or at this address, at which pages send events; `nil` if it takes none.
    package let eventsPath: String?

    package init(address: String, upstream: String? = nil, eventsPath: String? = nil) {
        self.address = address
        self.upstream = upstream
        self.eventsPath = eventsPath
    }

    /// The address as a line for a person: a URL to open, or a proxy to set.
    package var line: String { upstream.map { "http://\(address) \($0)" } ?? address }
}

/// An event that a page has sent through a gateway.
package struct PageEventReport: Codable, Sendable {
    /// The position among the requests and events that have passed through the gateway, from 1; `nil` from a command.
    package internal(set) var position: Int64?
    /// When it arrived (RFC 3339).
    package let time: String
    /// The origin of the page.
    package let origin: String
    /// The query of its URL, as it was sent.
    package let query: String
    /// The body, if it is text.
    package let data: String?
    /// The body in Base64, if it is not text.
    package let dataBase64: String?
    /// The name of the user whose page has sent it; `nil` if the gateway has no users.
    package let user: String?

    package init(
        time: String, origin: String, query: String, data: String?, dataBase64: String?, user: String? = nil
    ) {
        self.time = time
        self.origin = origin
        self.query = query
        self.data = data
        self.dataBase64 = dataBase64
        self.user = user
    }

    /// The event at a place.
    package func placed(at position: Int64) -> PageEventReport {
        var report = self
        report.position = position
        return report
    }

    /// The event as a line for a person, without its data.
    package var line: String {
        "event \(origin)\(query.isEmpty ? "" : " \(query)")\(user.map { " user: \($0)" } ?? "")"
    }
}

/// The cache of a gateway that runs in the service.
package struct GatewayCacheReport: Codable, Sendable {
    /// How many octets of responses are stored for the jar.
    package let size: Int
    /// The lines of its table of rules; empty if it has none.
    package let rules: [String]
    /// Whether no server is connected to.
    package let offline: Bool

    package init(_ document: GatewayCacheDocument) {
        size = document.size.value
        rules = document.rules ?? []
        offline = document.offline ?? false
    }
}

extension GatewayCacheReport {
    /// The size as `--cache` takes it: in the largest unit that it is a whole number of.
    package var shownSize: String {
        for (unit, name) in [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")] where size > 0 && size % unit == 0 {
            return "\(size / unit)\(name)"
        }
        return "\(size)"
    }

    /// The lines of the table that are rules, and no comments.
    package var shownRules: [String] {
        rules.map { $0.split { $0 == " " || $0 == "\t" || $0 == "\r" }.prefix { $0.utf8.first != UInt8(ascii: "#") } }
            .filter { !$0.isEmpty }.map { $0.joined(separator: " ") }
    }
}

/// A gateway that runs in the service.
package struct GatewayReport: Codable, Sendable {
    /// The name.
    package let name: String
    /// The name of the jar of all clients; `nil` if it has users.
    package let jar: String?
    /// The users, by name; `nil` for none.
    package let users: [GatewayUserReport]?
    /// What sends the requests: one profile of a browser or one web view, which decides which cookies a request carries
    /// (`browser`), or programs, for which the jar decides (`tool`).
    package let client: String
    /// Which cookies of a response the client gets: all but HttpOnly ones (`mirror`), none (`strip`) or all (`pass`).
    package let cookies: String
    /// The hosts whose https requests are decrypted.
    package let intercept: [String]
    /// The hosts whose https requests pass unread all the same.
    package let bypass: [String]
    /// The hosts with which TLS 1.0 and 1.1, which are no longer secure, are spoken, too; `nil` for none.
    package let legacyTLS: [String]?
    /// Its cache; `nil` if it has none.
    package let cache: GatewayCacheReport?
    /// Where it listens.
    package let addresses: [GatewayListening]
    /// When it started (RFC 3339).
    package let started: String
    /// The certificate in PEM that clients have to trust; `nil` if it decrypts nothing.
    package let certificate: String?
    /// How many clients are connected.
    package let openConnections: Int
    /// How many requests have passed through it.
    package let requests: Int
    /// How many cookies of the jar went with them.
    package let cookiesSent: Int
    /// How many cookies of the jar their responses have changed.
    package let cookiesStored: Int
    /// How many of them got no response of a server.
    package let failures: Int
    /// The position of the newest request or event.
    package let position: Int64

    package init(
        name: String, jar: String?, users: [GatewayUserReport]? = nil, client: String, cookies: String,
        intercept: [String], bypass: [String],
        legacyTLS: [String]? = nil, cache: GatewayCacheReport? = nil, addresses: [GatewayListening], started: String,
        certificate: String?,
        openConnections: Int, requests: Int, cookiesSent: Int, cookiesStored: Int, failures: Int, position: Int64
    ) {
        self.name = name
        self.jar = jar
        self.users = users
        self.client = client
        self.cookies = cookies
        self.intercept = intercept
        self.bypass = bypass
        self.legacyTLS = legacyTLS
        self.cache = cache
        self.addresses = addresses
        self.started = started
        self.certificate = certificate
        self.openConnections = openConnections
        self.requests = requests
        self.cookiesSent = cookiesSent
        self.cookiesStored = cookiesStored
        self.failures = failures
        self.position = position
    }
}

extension GatewayReport {
    /// The jars whose sessions requests get, each once, for a person.
    package var jarText: String {
        jar ?? Set((users ?? []).map(\.jar)).sorted().joined(separator: ", ")
    }
}

/// A user of a gateway, without the secret.
package struct GatewayUserReport: Codable, Sendable, Hashable {
    /// The name.
    package let name: String
    /// The name of the jar whose session the user's requests get.
    package let jar: String

    package init(name: String, jar: String) {
        self.name = name
        self.jar = jar
    }

    /// The user for a person.
    package var text: String { "\(name) (\(jar))" }
}

/// The gateways that the caller can see, by name.
package struct GatewayList: Codable, Sendable {
    /// The gateways.
    package let gateways: [GatewayReport]

    package init(gateways: [GatewayReport]) {
        self.gateways = gateways
    }
}

/// A page of the requests that have passed through a gateway.
package struct GatewayRequestList: Codable, Sendable {
    /// The requests, the oldest first.
    package let requests: [GatewayRequestReport]
    /// The position to pass as `after` in the next request.
    package let position: Int64
    /// Whether requests after the requested position are no longer known.
    package let hasGap: Bool
    /// Whether more requests can be read now.
    package let hasMore: Bool

    package init(requests: [GatewayRequestReport], position: Int64, hasGap: Bool, hasMore: Bool) {
        self.requests = requests
        self.position = position
        self.hasGap = hasGap
        self.hasMore = hasMore
    }
}
