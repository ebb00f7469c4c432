import CookieModel
import SessionStore
import Synchronization
import WebPrimitives

/// The cookies that the browser has to lose.
///
/// The jar can lose or hide a cookie while the browser has a copy: a response deletes it or makes it HttpOnly, or
/// another program changes the jar. A script can set a cookie with the name of an HttpOnly one, for another path or
/// domain. Such a cookie reaches neither the server nor the jar, and the response deletes it in the browser.
extension BrowserRequestPolicy {
    /// The cookies that the browser sends and the jar no longer has.
    ///
    /// - Parameter retrieval: The jar's cookies for the request.
    func outdated(
        _ own: [CookiePair], _ retrieval: Retrieval, _ observation: BrowserKnowledge.Observation, at url: RequestURL
    ) -> Outdated {
        let visible = retrieval.ofRequest.filter(isSeen)
        let pairs = Set(visible.map(\.pair))
        let gone = Set(own.lazy.map(\.octets).filter { !pairs.contains($0) })
        guard gate.mode != .strip, !gone.isEmpty else { return Outdated() }
        return profile.outdated(gone, besides: Set(visible.map(\.id)), in: observation, at: url)
    }

    /// The lines that delete what a browser has to lose.
    ///
    /// - Parameters:
    ///   - shadows: The names that scripts' cookies share with HttpOnly cookies.
    ///   - visible: The jar's cookies that the browser keeps.
    func deletions(
        of outdated: Outdated, _ shadows: Set<Octets>, keeping visible: Set<Cookie.ID>, in context: RequestContext
    ) -> [Octets] {
        let ids = Dictionary(grouping: outdated.ids.values.flatMap(\.self), by: \.name)
        let names = shadows.union(ids.keys).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        let lines = names.flatMap { name in
            CookieDeletion.lines(
                for: name, at: context.url, ids[name] ?? [], keeping: visible, partition: context.verdict?.partition,
                gate.jar.policy.publicSuffixes)
        }
        return Array(lines.prefix(CookieDeletion.limit))
    }
}

/// Cookies of a browser that the jar no longer has.
struct Outdated {
    /// The identities of the cookies, by the pair that the browser sends.
    var ids: [Octets: [Cookie.ID]] = [:]
    /// The pairs of cookies that the jar had learned, and that a response may have replaced since. They go to the
    /// server, as the browser decides, but are not learned again.
    var copies: Set<Octets> = []

    func contains(_ pair: Octets) -> Bool { ids[pair] != nil }
}

extension BrowserKnowledge {
    /// Records that the jar has lost or hidden cookies which the browser may have, and that the response deletes them
    /// there.
    ///
    /// A request that the browser makes before it receives the response still carries them.
    func noteRevoked(_ ids: [Cookie.ID], at url: RequestURL) {
        guard !ids.isEmpty else { return }
        let scope = scope(of: url)
        state.withLock { $0.revoke(ids, scope) }
    }

    /// Records that the jar has learned a new cookie. The browser's own may have a domain or another path, so the jar's
    /// is a copy.
    func noteCopy(_ id: Cookie.ID) {
        state.withLock { state in
            if state.copies.count > BrowserKnowledge.limit { state.copies = [:] }
            state.copies[id.name, default: []].insert(id)
        }
    }

    /// The learned cookies that a response may have replaced or deleted in the browser, and that the jar has to lose.
    ///
    /// A request contains neither domain nor path. So a cookie of the same name that the response sets or deletes, for
    /// a domain that covers the copy's host, may be the original of the copy. If it is another one, the browser sends
    /// the original with its next request, and the jar learns it again.
    ///
    /// - Parameter ids: The cookies that the response has set or deleted.
    func takeCopies(replacedBy ids: [Cookie.ID], at url: RequestURL) -> [Cookie.ID] {
        let scope = scope(of: url)
        return state.withLock { state in
            guard !state.copies.isEmpty else { return [] }
            var found: [Cookie.ID] = []
            for (name, set) in Dictionary(grouping: ids, by: \.name) {
                guard var copies = state.copies[name] else { continue }
                copies.subtract(set)
                // All of them match the host of the URL, so there are only a few.
                let domains = Dictionary(grouping: set, by: \.domain.octets)
                    .mapValues { !$0.allSatisfy(\.isHostOnly) }
                let replaced = copies.filter { copy in
                    (!scope.isHostOnly || copy.domain == url.host)
                        && domains.contains { domain, isForSubdomains in
                            isForSubdomains
                                ? CookiePolicy.domainMatches(copy.domain, domain) : copy.domain.octets == domain
                        }
                }
                copies.subtract(replaced)
                state.copies[name] = copies.isEmpty ? nil : copies
                found += replaced
            }
            state.revoke(found, scope)
            for id in found { state.held[id]?.mayBeReplaced = true }
            return found
        }
    }

    /// Records that a response sets cookies in the browser that the jar has rejected, such as those of a request
    /// without witnesses. If the browser then sends cookies with these names, they may be the rejected ones.
    func noteRefused(_ names: Set<Octets>, at url: RequestURL) {
        guard !names.isEmpty else { return }
        let scope = scope(of: url)
        state.withLock { state in
            let ids = state.held.keys.filter { names.contains($0.name) && $0.matchesHost(of: url) }
            state.age(ids, scope)
            for id in ids { state.held[id]?.mayBeReplaced = true }
        }
    }

    /// The cookies among `pairs` that the browser has sent before, and that the jar has lost since.
    ///
    /// - Parameter visible: The cookies that the jar has, and that the browser may have.
    /// - Returns: Those cookies. If the browser sends a cookie although it has received the response that deletes it, a
    ///   script has set it again, and it is not included.
    func outdated(
        _ pairs: Set<Octets>, besides visible: Set<Cookie.ID>, in observation: Observation, at url: RequestURL
    ) -> Outdated {
        state.withLock { state in
            var found = Outdated()
            for (id, held) in state.held
            where pairs.contains(held.pair) && !visible.contains(id) && id.isFor(url) {
                if let moment = held.revocation, let request = observation.moment, request >= moment {
                    state.held[id] = nil
                } else if held.mayBeReplaced {
                    found.copies.insert(held.pair)
                } else {
                    found.ids[held.pair, default: []].append(id)
                }
            }
            let new = found.ids.values.flatMap(\.self).filter { state.held[$0]?.revocation == nil }
            if let scope = observation.scope, !new.isEmpty { state.revoke(new, scope) }
            return found
        }
    }
}

extension BrowserKnowledge.State {
    /// Records that a response deletes cookies in the browser. A request with a witness of this moment is newer than
    /// the response.
    fileprivate mutating func revoke(_ ids: [Cookie.ID], _ scope: WitnessCookies.Scope) {
        for id in ids { given[id] = nil }
        age(ids, scope)
    }

    /// Records that requests with a witness of this moment are newer than the present values of the cookies.
    fileprivate mutating func age(_ ids: [Cookie.ID], _ scope: WitnessCookies.Scope) {
        let held = ids.filter { self.held[$0] != nil }
        guard !held.isEmpty else { return }
        advance()
        if renewals.count > BrowserKnowledge.limit { renewals = [:] }
        renewals[scope.domain] = moment
        for id in held {
            self.held[id]?.revocation = moment
            self.held[id]?.since = [:]
        }
    }
}

extension Cookie.ID {
    /// Whether the cookie's domain and path match a URL. The other attributes do not count.
    fileprivate func isFor(_ url: RequestURL) -> Bool {
        matchesHost(of: url) && CookiePolicy.pathMatches(url.path, path)
    }

    /// Whether requests to the host of a URL can carry the cookie.
    fileprivate func matchesHost(of url: RequestURL) -> Bool {
        isHostOnly ? url.host == domain : CookiePolicy.domainMatches(url.host, domain.octets)
    }
}
