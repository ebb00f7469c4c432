import CookieModel
import GatewayModel
import HTTPMessages
import RequestDecoration
import SessionStore
import WebPrimitives

/// The gateway's decision on one request and the cookies of its response.
struct GatewayDecision: Sendable {
    /// The request's context for the cookie rules, for the cookies of its response; `nil` if it passes unchanged.
    var context: RequestContext?
    /// The browser's decision on the request's cookies; `nil` for programs.
    var verdict: EngineVerdict?
    /// The fields that the jar adds.
    var decoration: Decoration?
    /// The Set-Cookie lines that the response gets for the browser.
    var lines: [Octets] = []
    /// What the request shows about the browser's cookies; `nil` for programs.
    var observation: BrowserKnowledge.Observation?
    /// The names of the cookies that a script, and therefore the jar, has deleted.
    var deleted: [Octets] = []
    /// What the user should change; `nil` for nothing.
    var hint: GatewayHint?
}

/// The jar of a gateway. It decides what is added to a request, and stores the cookies of its response.
struct JarRequestPolicy: Sendable {
    let jar: CookieJar
    let mode: GatewaySettings.CookieMode
    /// The browser that sends the requests; `nil` for programs.
    let profile: BrowserKnowledge?
    /// The receiver of events of pages; `nil` if it takes none.
    var events: PageEvents?
    let now: @Sendable () -> Timestamp

    /// Decides on a request.
    ///
    /// - Parameter lines: The Set-Cookie lines of earlier responses, if the request is sent once more; `nil` the first
    ///   time.
    func decision(
        on request: ForwardedRequest, after lines: [Octets]? = nil
    ) async throws(GatewayFailure) -> GatewayDecision {
        if let profile {
            var decision = try await BrowserRequestPolicy(gate: self, profile: profile).decision(
                on: request, after: lines)
            decision.hint = request.programName.map { .isOfProgram($0) }
            return decision
        }
        // The jar alone decides what a program gets. A request that a browser has sent passes unchanged: only the engine
        // knows which of a site's cookies it may carry.
        guard !request.isOfBrowser else {
            guard request.mapping == nil else {
                throw GatewayFailure(
                    .httpRequestDenied, 403, "a browser has sent the request, and this gateway is for programs",
                    nextStep: "Run a gateway for browsers: crumb gateway run --client browser.")
            }
            return GatewayDecision()
        }
        var context = RequestContext(url: request.url)
        context.method = request.method
        let cookies = request.head.values("cookie").map(\.withoutWitnesses)
        let decoration = try await decoration(of: request, in: context, own: own(cookies, of: request))
        return GatewayDecision(context: context, decoration: decoration)
    }

    /// The client's own cookies that belong to the request's site.
    ///
    /// At a local address, the client may have others: those of any program that listens on another port.
    func own(_ cookies: [Octets], of request: ForwardedRequest) -> [Octets] {
        request.mapping != nil && mode == .strip ? [] : cookies
    }

    /// Returns the fields that the jar adds to a request.
    ///
    /// - Parameters:
    ///   - own: The cookies that the client has sent.
    ///   - order: The cookies that keep the order in which the client has sent them.
    ///   - selects: Which of the jar's cookies are sent.
    func decoration(
        of request: ForwardedRequest, in context: RequestContext, own: [Octets], order: [Octets] = [],
        selecting selects: ((Cookie) -> Bool)? = nil
    ) async throws(GatewayFailure) -> Decoration {
        do {
            return try await jar.decoration(
                for: context, own: own, withFields: context.verdict?.classes.isEmpty != true, selecting: selects,
                order: order,
                isSetByCaller: { name in
                    // The session belongs to the program that it was made with.
                    name != "user-agent" && request.head.fields.contains { request.head.lowercasedName($0) == name }
                },
                at: now())
        } catch {
            throw unreadable(error)
        }
    }

    /// The failure if the jar cannot be read.
    func unreadable(_ error: SessionStoreError) -> GatewayFailure {
        GatewayFailure(
            .proxyInternalError, 500, "the jar '\(jar.name)' cannot be read: \(error.commandDescription)",
            nextStep: "Run 'crumb status' to see the state of the database.")
    }

    /// Stores the cookies that a response sets, and removes those that it clears. The change is on the disk when this
    /// returns, so the next request cannot overtake it.
    ///
    /// - Returns: The cookies of the jar that have changed, and those that the rules rejected.
    func store(_ response: ForwardedResponse, in context: RequestContext) async throws(GatewayFailure) -> CookieChanges
    {
        var lines = response.setCookie
        if let profile { lines.removeAll(where: profile.isWitness) }
        let stored = try await store(lines, status: response.status, in: context)
        if let profile {
            // Of several lines for a cookie, the last one counts.
            var isGiven: [Cookie.ID: Bool] = [:]
            var refused: Set<Octets> = []
            for (line, decision) in zip(lines, stored) {
                guard let id = decision.cookie?.id else {
                    if let name = decision.name, passes(line) { refused.insert(name) }
                    continue
                }
                isGiven[id] = decision.outcome != .deleted && passes(line)
                profile.notePriority(line.hasPriority, of: id)
            }
            profile.noteGiven(isGiven.filter(\.value).map(\.key))
            profile.noteRevoked(isGiven.filter { !$0.value }.map(\.key), at: context.url)
            profile.noteRefused(refused, at: context.url)
            try await remove(profile.takeCopies(replacedBy: Array(isGiven.keys), at: context.url), after: context.url)
        }
        let cleared = response.clearsCookies ? try await clear(context) : []
        return CookieChanges(
            names: stored.filter { $0.outcome.changesJar }.compactMap { $0.cookie?.name } + cleared,
            rejected: stored.lazy.filter { $0.outcome == .rejected }.prefix(CookieChanges.rejectionLimit)
                .map { RejectedCookie(name: $0.name ?? [], reasons: $0.reasons) })
    }

    /// Removes the cookies of a site that clears them: those of its registrable domain that the response could set. As
    /// in browsers, cookies that the same response has set are removed, too.
    ///
    /// - Returns: Their names.
    private func clear(_ context: RequestContext) async throws(GatewayFailure) -> [Octets] {
        guard AuthorizationRule.isConfidential(context.url) else { return [] }
        let site = context.url.host.registrableDomain(jar.policy.publicSuffixes)
        var filter = CookieFilter()
        filter.domain = WebHost(String(decoding: site, as: UTF8.self))
        var partitions: Set<PartitionKey?> = []
        if context.verdict?.classes.isEmpty != true { partitions.insert(nil) }
        if let partition = context.verdict?.partition { partitions.insert(partition) }
        filter.partitions = partitions
        profile?.forget(context.url)
        return try await changing { [filter, now = now()] in
            try await jar.database.writingToEnd { [jar] in try jar.removeCookies(filter, now: now).map(\.name) }
        }
    }

    /// Removes cookies that a response to a URL has replaced.
    private func remove(_ ids: [Cookie.ID], after url: RequestURL) async throws(GatewayFailure) {
        guard !ids.isEmpty else { return }
        let records = ids.map { id in
            CookieRecord(
                name: id.name, value: [], domain: id.domain.description, isHostOnly: id.isHostOnly, path: id.path,
                isSecure: true, expiry: .distantPast)
        }
        try await changing { [now = now()] in
            _ = try await jar.database.writingToEnd { [jar] in
                try jar.withBatch(now: now) { batch throws(SessionStoreError) in
                    for record in records { try batch.receive(record, sentTo: url) }
                }
            }
        }
    }

    /// Stores cookies.
    func store(
        _ lines: [Octets], status: Int = 200, in context: RequestContext
    ) async throws(GatewayFailure) -> [StorageDecision] {
        guard !lines.isEmpty else { return [] }
        let received = ReceivedResponse(context: context, status: status, setCookie: lines)
        let moment = now()
        return try await changing { try await jar.receiveToEnd(received, at: moment) }
    }

    /// Changes the jar, to the end: this task is cancelled when the gateway stops, and the cookies of the server would be
    /// lost.
    private func changing<Result>(_ change: () async throws -> Result) async throws(GatewayFailure) -> Result {
        do {
            return try await change()
        } catch {
            throw GatewayFailure(
                .proxyInternalError, 500, "the cookies of the response cannot be stored: \(error.commandDescription)",
                nextStep: "Run 'crumb status' to see the state of the database, and send the request again.")
        }
    }

    /// The Set-Cookie line that the client gets for one of a server: the same, or one that deletes the cookie that it
    /// replaces; `nil` for none.
    ///
    /// Otherwise a client would keep sending its copy of a cookie that the server has deleted or hidden.
    func line(for client: ForwardedRequest, inPlaceOf line: Octets) -> Octets? {
        guard !passes(line) else { return line }
        guard profile?.isWitness(line) != true, client.mapping == nil || mode != .strip else { return nil }
        return CookieDeletion.line(inPlaceOf: line, profile: jar.policy.profile)
    }

    /// The Set-Cookie lines of the gateway's own in a response whose cookies are stored.
    func lines(_ decision: GatewayDecision) -> [Octets] {
        decision.lines + [decision.observation.flatMap { profile?.renewal(of: $0) }].compactMap(\.self)
    }

    /// Whether a Set-Cookie line goes on to the client as it is.
    private func passes(_ line: Octets) -> Bool {
        // HTTP/2 transmits fields as text, so octets that are not text would come back changed. Such a cookie stays in
        // the jar.
        guard profile.map({ !$0.isWitness(line) && line.isUTF8 }) ?? true else { return false }
        switch mode {
        case .pass: return true
        case .strip: return false
        case .mirror:
            if case .cookie(let cookie) = SetCookie.parse(line, profile: jar.policy.profile) {
                return !cookie.isHTTPOnly
            }
            return false
        }
    }
}

extension StorageDecision.Outcome {
    /// Whether the decision has changed the jar.
    fileprivate var changesJar: Bool {
        switch self {
        case .rejected: false
        default: true
        }
    }
}

extension Octets {
    /// Whether a Set-Cookie line has a `Priority`, which only Chromium knows.
    fileprivate var hasPriority: Bool {
        split(separator: ASCII.semicolon).dropFirst().contains {
            Octets(Array($0)).trimmingBlanks.lowercased.starts(with: "priority=".utf8)
        }
    }

    /// Whether the octets are UTF-8.
    var isUTF8: Bool { String(validating: self, as: UTF8.self) != nil }
}
