import CookieModel
import HTTPMessages
import RequestDecoration
import SessionStore
import WebPrimitives

/// The gateway's decisions on the requests of a browser.
///
/// The browser decides on the cookies that its pages see, and the jar learns from it what scripts set and delete. Only
/// the jar has HttpOnly cookies.
struct BrowserRequestPolicy {
    let gate: JarRequestPolicy
    let profile: BrowserKnowledge

    /// Decides on a request.
    ///
    /// - Parameter lines: The Set-Cookie lines of earlier responses, if the request is sent once more; `nil` the first
    ///   time. The browser has not seen them, so the jar counts where the two differ.
    func decision(
        on request: ForwardedRequest, after lines: [Octets]?
    ) async throws(GatewayFailure) -> GatewayDecision {
        let head = request.head
        let judgement = profile.judge(
            BrowserKnowledge.Request(
                url: request.url, method: request.method, cookies: head.values("cookie"),
                field: { name in head.values(name).first.map { String(decoding: $0, as: UTF8.self) } }),
            now: gate.now())
        var context = RequestContext(url: request.url)
        context.method = request.method
        context.verdict = judgement.verdict
        context.isTopLevelNavigation = judgement.isTopLevelNavigation
        let own = gate.own(judgement.cookies, of: request).map(CookiePair.init)
        var retrieval = try await retrieve(context)
        let outdated = outdated(own, retrieval, judgement.observation, at: request.url)
        var deleted: [Octets] = []
        if lines == nil {
            let current = own.filter { !outdated.contains($0.octets) && !outdated.copies.contains($0.octets) }
            if let names = try await learn(current, retrieval, judgement.observation, in: context) {
                deleted = names
                retrieval = try await retrieve(context)
            }
            try await weaken(current, retrieval.excluded, to: judgement.exposure, in: context)
        }
        let candidates = retrieval.ofRequest
        let hidden = Set(candidates.filter { !isSeen($0) }.map(\.name))
        let names = Set(own.map(\.name))
        let known = profile.known(retrieval.included.map(\.id), in: judgement.observation)
        // Each of the browser's cookies once. Only the browser knows their order: when scripts have set them, and how
        // it sorts them.
        let sent = Set(own.map(\.octets))
        let placed = Set(retrieval.included.filter { isSeen($0) && sent.contains($0.pair) }.map(\.pair))
        let renewal = Renewal(
            of: retrieval.included.filter(isSeen), own, last: profile.lastSent, isRepetition: lines != nil)
        let withheld = Set(lines?.compactMap(name) ?? [])
        let others = own.filter {
            !placed.contains($0.octets) && !hidden.contains($0.name) && !renewal.former.contains($0.octets)
                && !withheld.contains($0.name) && !outdated.contains($0.octets)
        }
        let decoration = try await gate.decoration(
            of: request, in: context, own: others.map(\.octets), order: own.map(\.octets)
        ) { cookie in
            !isSeen(cookie) || placed.contains(cookie.pair) || renewal.cookies.contains(cookie.id)
                || !known.contains(cookie.id) && !names.contains(cookie.name)
        }
        profile.note(retrieval.included.filter { placed.contains($0.pair) }, of: judgement.observation, now: gate.now())
        let httpOnly = gate.mode == .mirror ? Set(candidates.filter(\.isHTTPOnly).map(\.name)) : []
        let shadows = httpOnly.intersection(own.lazy.filter { !placed.contains($0.octets) }.map(\.name))
        let deletions = deletions(
            of: outdated, shadows, keeping: Set(candidates.filter(isSeen).map(\.id)), in: context)
        let missing = decoration.cookies.cookies.filter { isSeen($0) && !placed.contains($0.pair) }
        let seeds = gate.mode == .strip ? [] : missing.map { Octets(CookieRecord($0).setCookieLine) }
        context.verdict = judgement.storage
        return GatewayDecision(
            context: context, verdict: judgement.verdict, decoration: decoration,
            lines: judgement.lines + deletions + seeds, observation: judgement.observation, deleted: deleted)
    }

    /// The name of the cookie that a Set-Cookie line sets.
    private func name(_ line: Octets) -> Octets? {
        guard case .cookie(let cookie) = SetCookie.parse(line, profile: gate.jar.policy.profile) else { return nil }
        return cookie.name
    }

    /// Whether the browser has or may have the cookie itself.
    func isSeen(_ cookie: Cookie) -> Bool {
        guard cookie.pair.isUTF8 else { return false }
        return switch gate.mode {
        case .mirror: !cookie.isHTTPOnly
        case .pass: true
        case .strip: false
        }
    }

    private func retrieve(_ context: RequestContext) async throws(GatewayFailure) -> Retrieval {
        do {
            return try await gate.jar.retrieveToEnd(for: context, at: gate.now())
        } catch {
            throw gate.unreadable(error)
        }
    }

    /// Stores the changes that scripts have made to the browser's cookies, as far as a same-site request shows them.
    ///
    /// - Parameter retrieval: The jar's cookies for the request.
    /// - Returns: The names of the cookies that they have deleted; `nil` if the jar does not change.
    private func learn(
        _ own: [CookiePair], _ retrieval: Retrieval, _ observation: BrowserKnowledge.Observation,
        in context: RequestContext
    ) async throws(GatewayFailure) -> [Octets]? {
        guard gate.mode != .strip, context.verdict?.classes.contains(.strict) == true else { return nil }
        let known = retrieval.included.filter(isSeen)
        let pairs = Set(own.map(\.octets))
        let renewal = Renewal(of: known, own, last: profile.lastSent)
        var changed = Dictionary(
            grouping: known.filter { !pairs.contains($0.pair) && !renewal.cookies.contains($0.id) }, by: \.name)
        let hidden = Set((retrieval.included + retrieval.excluded.map(\.cookie)).filter { !isSeen($0) }.map(\.name))
        let all = Set(known.map(\.pair))
        // A learned cookie replaces neither a Secure cookie nor one that the browser also has.
        let taken = Set(retrieval.excluded.filter { $0.reasons.contains(.secureOnly) }.map(\.cookie.id))
            .union(known.lazy.filter { pairs.contains($0.pair) }.map(\.id))
        var lines: [Octets] = []
        var learned: [Cookie.ID] = []
        lazy var room = profile.room(for: observation, beside: known.count)
        for pair in own
        where !all.contains(pair.octets) && !renewal.former.contains(pair.octets) && !pair.name.isEmpty
            && !hidden.contains(pair.name)
        {
            if let former = changed[pair.name]?.onlyOrOnlyCertain {
                changed[pair.name]?.removeAll { $0.id == former.id }
                var record = CookieRecord(former)
                record.value = pair.value
                learned.append(former.id)
                lines.append(Octets(record.setCookieLine))
            } else {
                // A request contains only name and value. So the cookie is as strict as possible, until the browser
                // sends it with a request for which that is too strict.
                let id = Cookie.ID(
                    name: pair.name, domain: context.url.host, isHostOnly: true, path: "/", partitionKey: nil)
                guard !taken.contains(id), room > 0 else { continue }
                room -= 1
                learned.append(id)
                profile.noteCopy(id)
                let attributes = "; Path=/; SameSite=Strict\(context.url.scheme.isCryptographic ? "; Secure" : "")"
                lines.append(Octets(pair.octets.bytes + Array(attributes.utf8)))
            }
        }
        let now = gate.now()
        // A cookie that the jar does not have may be a missing one with another value.
        let unknown = Set(own.lazy.filter { !all.contains($0.octets) }.map(\.name))
        let deleted = known.filter {
            !pairs.contains($0.pair) && !unknown.contains($0.name) && profile.hasDeleted($0, in: observation, now: now)
        }
        for cookie in deleted {
            var record = CookieRecord(cookie)
            record.value = []
            record.expiry = .distantPast
            lines.append(Octets(record.setCookieLine))
        }
        guard !lines.isEmpty else { return nil }
        // Called before the jar has them: a concurrent request must not get them, and its response must not set them.
        profile.noteGiven(learned)
        profile.noteDeleted(deleted.map(\.id))
        var access = context
        if gate.mode == .mirror { access.interface = .script }
        _ = try await gate.store(lines, in: access)
        return deleted.map(\.name)
    }
}

extension BrowserRequestPolicy {
    /// Weakens the attributes that ``learn(_:_:in:)`` has assumed, if the browser sends a cookie with a request for
    /// which the jar's attributes are too strict.
    ///
    /// - Parameters:
    ///   - excluded: The cookies of the jar that the request does not get.
    ///   - exposure: The strictest SameSite attribute that the browser's own cookie can have; `nil` for any.
    private func weaken(
        _ own: [CookiePair], _ excluded: [Retrieval.Exclusion], to exposure: SameSite?, in context: RequestContext
    ) async throws(GatewayFailure) {
        let isEncrypted = context.url.scheme.isCryptographic
        let names = Set(own.map(\.name))
        guard gate.mode != .strip, exposure != nil || !isEncrypted,
            excluded.contains(where: { $0.isOfRequest && $0.cookie.mayBeLearned && names.contains($0.cookie.name) }),
            let url = try? RequestURL("https://\(context.url.host)/")
        else { return }
        // Cookies that are not sent come without values. With a page of the site as context, all are sent.
        var context = RequestContext(url: url)
        context.verdict = EngineVerdict(.all, source: .witness)
        let known = try await retrieve(context).included
        let pairs = Set(own.map(\.octets))
        let lines = known.compactMap { cookie -> Octets? in
            // Only if one cookie matches the pair: of two, the browser may have sent the other.
            guard cookie.mayBeLearned, pairs.contains(cookie.pair), known.count(where: { $0.pair == cookie.pair }) == 1
            else { return nil }
            let record = CookieRecord(cookie)
            let weakened = record.weakened(isEncrypted: isEncrypted, to: exposure)
            return weakened == record ? nil : Octets(weakened.setCookieLine)
        }
        context.interface = .script
        _ = try await gate.store(lines, in: context)
    }
}

extension Cookie {
    /// Whether the cookie may have been learned from a request.
    fileprivate var mayBeLearned: Bool {
        isHostOnly && !isHTTPOnly && path == "/" && expiry == nil && id.partitionKey == nil
    }
}

extension [Cookie] {
    /// Of cookies that a script may have given another value, the only one, or the only one whose attributes a server
    /// has set.
    fileprivate var onlyOrOnlyCertain: Cookie? {
        if count == 1 { return self[0] }
        let certain = filter { !$0.mayBeLearned }
        return certain.count == 1 ? certain[0] : nil
    }
}

extension CookieRecord {
    /// Returns the cookie with the attributes that a browser must have for it, because it sends the cookie with a
    /// request.
    fileprivate func weakened(isEncrypted: Bool, to exposure: SameSite?) -> CookieRecord {
        let order: [SameSite] = [.none, .default, .lax, .strict]
        var record = self
        if !isEncrypted { record.isSecure = false }
        if let exposure { record.sameSite = order.first { $0 == sameSite || $0 == exposure } ?? sameSite }
        // Without Secure, no cookie has this attribute.
        if record.sameSite == .none, !record.isSecure { record.sameSite = .default }
        return record
    }
}

/// A cookie in a Cookie field.
struct CookiePair {
    let octets: Octets
    let name: Octets
    let value: Octets

    init(_ octets: Octets) {
        self.octets = octets
        let equals = octets.firstIndex(of: ASCII.equals)
        name = equals.map { Octets(Array(octets[..<$0])).trimmingBlanks } ?? []
        value = equals.map { Octets(Array(octets[($0 + 1)...])).trimmingBlanks } ?? octets
    }
}

/// The cookies of the jar that are newer than those that the browser sends, because it has not received the responses
/// that set them yet.
private struct Renewal {
    /// The newer cookies.
    var cookies: Set<Cookie.ID> = []
    /// The names of the cookies that the browser sends instead.
    var former: Set<Octets> = []

    /// - Parameters:
    ///   - last: The pair that the browser has last sent for a cookie. Another value was set by a script.
    ///   - isRepetition: Whether the browser repeats a request, so that every difference is of this kind.
    init(
        of jar: [Cookie], _ own: [CookiePair], last: (Cookie.ID) -> Octets?, isRepetition: Bool = false
    ) {
        let pairs = Dictionary(grouping: own, by: \.name).mapValues { $0.map(\.octets) }
        let sent = Set(own.map(\.octets))
        for cookie in jar where !sent.contains(cookie.pair) {
            let earlier = (pairs[cookie.name] ?? []).filter { isRepetition || last(cookie.id) == $0 }
            guard isRepetition || !earlier.isEmpty else { continue }
            cookies.insert(cookie.id)
            former.formUnion(earlier)
        }
        former.subtract(jar.map(\.pair))
    }
}

extension Retrieval {
    /// The cookies that the request carries, or would carry with another page or scheme.
    var ofRequest: [Cookie] { included + excluded.filter(\.isOfRequest).map(\.cookie) }
}

extension Retrieval.Exclusion {
    /// Whether only its SameSite attribute, its partition or the missing encryption keeps the cookie from the request.
    /// In a browser that had it, neither a script nor a response over http could replace it.
    fileprivate var isOfRequest: Bool {
        var others = reasons
        for reason in [ExclusionReason.sameSiteStrict, .sameSiteLax, .sameSiteDefault, .browserOmits, .secureOnly] {
            others.remove(reason)
        }
        return others.isEmpty
    }
}
