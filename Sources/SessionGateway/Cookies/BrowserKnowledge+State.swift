import CookieModel
import WebPrimitives

extension BrowserKnowledge {
    /// Everything that is known about the browser.
    struct State {
        /// The present moment.
        var moment: UInt32 = 0
        /// The browser, by the scope of its witnesses.
        var browsers: [WitnessCookies.Scope: UInt32] = [:]
        /// A moment for each domain. A request with a witness of this moment is newer than everything that is known
        /// about the cookies.
        var renewals: [Octets: UInt32] = [:]
        /// When the browser has last sent the canary of each scope.
        var canaryUses: [WitnessCookies.Scope: Timestamp] = [:]
        /// The cookies to which servers have given a `Priority`. If there are ``BrowserKnowledge/limit`` of them, some
        /// may be missing.
        var prioritized: Set<Cookie.ID> = []
        /// The kinds that the browser has sent in each scope since its last page without witnesses; empty if it has
        /// received some but sent none.
        var known: [WitnessCookies.Scope: Set<WitnessCookies.Kind>] = [:]
        /// The partitions by the number in their witness.
        var partitions: [PartitionID: PartitionKey] = [:]
        var claims: [PartitionClaim: (number: UInt64, time: Timestamp)] = [:]
        /// Whether pages of other sites are known to share a site's cookies.
        var sharesWithThirdParties = false
        /// The numbers of `SameSite=None` witnesses that were set elsewhere, and that a site's own page has sent: they are
        /// among the site's own cookies.
        var ownContexts: Set<UInt64> = []
        /// The numbers of those that were set in pages of other sites.
        var foreignContexts: Set<UInt64> = []
        /// The origins whose pages were in tabs, and those whose pages were in frames of other sites.
        var pages: (inTabs: Set<String>, inFrames: Set<String>) = ([], [])
        /// Whether the browser treats cookies without SameSite as those with `SameSite=None`.
        var treatsDefaultAsNone = false
        /// The cookies in the jar that are known only from requests, by name.
        var copies: [Octets: Set<Cookie.ID>] = [:]
        /// The cookies that the browser has sent, in their last state.
        var held: [Cookie.ID: BrowserCookie] = [:]
        /// The cookies that responses have set in the browser, with the moments. If the browser does not send one, it
        /// has rejected or lost it.
        var given: [Cookie.ID: UInt32] = [:]
    }

    struct PartitionID: Hashable {
        let domain: Octets
        let number: UInt64
    }

    struct PartitionClaim: Hashable {
        let domain: Octets
        let key: PartitionKey
    }
}

/// How the browser treats the witnesses, and so the cookies of each class.
extension BrowserKnowledge.State {
    /// The classes of cookies that a request carries, and the source of this verdict.
    mutating func read(
        _ returned: WitnessCookies.ReturnedWitnesses, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence,
        period: Int64
    ) -> (classes: EngineVerdict.Classes, source: EngineVerdict.Source) {
        let marks = returned.marks
        guard !returned.isForged else { return ([], .witness) }
        // No browser sends more than this with a request of another site's page. A witness that permits more has lost
        // the attribute that it was set with.
        let limit: EngineVerdict.Classes = evidence.isForeign ? evidence.classes.union(.none) : .all
        // Without https, no field shows more: only the witnesses that came back count.
        if !scope.isEncrypted {
            let classes: EngineVerdict.Classes =
                marks[.lax] == nil || !limit.contains(.lax)
                ? [] : marks[.strict] != nil ? .all : [.none, .lax, .default]
            if !marks.isEmpty { known[scope] = Set(marks.keys) }
            return (classes, marks.isEmpty ? .nothing : .witness)
        }
        // The request for a tab's page always carries its witnesses. Without them, the browser has lost them all.
        if marks.isEmpty, evidence.isDocument { known[scope] = nil }
        let former = known[scope] ?? []
        let kinds = former.union(marks.keys)
        guard !kinds.isEmpty else { return (evidence.classes, evidence.isDocument ? .fetchMetadata : .nothing) }
        known[scope] = kinds
        // A witness that has never come back is unknown, not withheld. For a tab's page, the fields show the rest.
        func has(_ kind: WitnessCookies.Kind, _ kindClass: EngineVerdict.Classes) -> Bool {
            marks[kind] != nil && limit.contains(kindClass)
                || !kinds.contains(kind) && evidence.classes.contains(kindClass)
        }
        var classes: EngineVerdict.Classes = []
        if let mark = marks[.none] {
            let isOwn = evidence.isDocument || marks[.strict] != nil && limit.contains(.strict)
            learn(mark, evidence, isOwn: isOwn)
            // A witness that was set in a page of another site may be only for that page.
            if mark.context == 0 || sharesWithThirdParties || isOwn || ownContexts.contains(mark.context) {
                classes.insert(.none)
            }
        } else if has(.none, .none) {
            classes.insert(.none)
        }
        if has(.lax, .lax) { classes.insert(.lax) }
        if has(.strict, .strict) { classes.insert(.strict) }
        // No browser sends a stricter class without the laxer ones.
        if classes.contains(.strict) && !classes.contains(.lax) || classes.contains(.lax) && !classes.contains(.none) {
            return ([], .witness)
        }
        if classes.contains(.lax) {
            classes.insert(.default)
        } else if marks[.default] != nil {
            if !evidence.isDocument, marks[.lax] == nil { treatsDefaultAsNone = true }
            if treatsDefaultAsNone {
                if classes.contains(.none) { classes.insert(.default) }
            } else if marks[.lax] == nil {
                classes.insert(.recentDefault)
            }
        }
        // An old witness cannot permit more than the fields.
        if marks.values.contains(where: { period - $0.period > 1 }) {
            classes.formIntersection(evidence.isDocument ? evidence.classes : evidence.isSameSite ? .all : [.none])
        }
        return (classes, .witness)
    }

    /// The strictest SameSite attribute of a cookie that the browser sends with a request; `nil` if it is unknown.
    ///
    /// A witness that does not come back may have been removed. So the page that has caused the request counts, too.
    func exposure(
        _ returned: WitnessCookies.ReturnedWitnesses, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence
    ) -> SameSite? {
        let (marks, kinds) = (returned.marks, known[scope] ?? [])
        guard !returned.isForged, kinds.contains(.strict), marks[.strict] == nil,
            evidence.isForeign || !evidence.isSameSite && evidence.foreignPage != nil
        else { return nil }
        if marks[.lax] != nil { return !evidence.isForeign || evidence.classes.contains(.lax) ? .lax : nil }
        // A browser may keep a cookie of the site only for the other page.
        guard kinds.contains(.lax), let mark = marks[.none],
            mark.context == 0 || ownContexts.contains(mark.context)
        else { return nil }
        return evidence.isDocument ? .default : SameSite.none
    }

    /// Whether a request uses the browser's ordinary cookie store. Frames with a temporary store must not get
    /// witnesses, which would give them the cookies of the site.
    func isOfOrdinaryStore(
        _ returned: WitnessCookies.ReturnedWitnesses, _ scope: WitnessCookies.Scope, _ evidence: FetchEvidence
    ) -> Bool {
        if !returned.marks.isEmpty || evidence.isDocument || evidence.isOfOrdinaryStore { return true }
        // Over http, a frame looks like the page of a tab. But the page around it already has witnesses.
        return !scope.isEncrypted && evidence.isPageRequest && !(evidence.isSameSite && known[scope] != nil)
    }

    /// Learns from a `SameSite=None` witness whether sites share their cookies with pages of other sites.
    ///
    /// A mark of a site's own page proves nothing in a frame of another site inside a page of the first one, because
    /// browsers that separate third-party cookies let the two share. It also proves nothing after a redirect by another
    /// site. Requests do not name the page in the address bar, so only pages that were in tabs, and never in frames,
    /// count.
    private mutating func learn(_ mark: WitnessCookies.Mark, _ evidence: FetchEvidence, isOwn: Bool) {
        if evidence.isDocument, mark.context != 0 {
            if foreignContexts.contains(mark.context) { sharesWithThirdParties = true }
            if ownContexts.count > BrowserKnowledge.limit { ownContexts = [] }
            ownContexts.insert(mark.context)
        }
        // A page can also lead a frame of another tab somewhere.
        guard !isOwn, !evidence.isForeignFrame, let origin = evidence.foreignPage.map(Self.origin),
            pages.inTabs.contains(origin), !pages.inFrames.contains(origin)
        else { return }
        if mark.context == 0 {
            sharesWithThirdParties = true
        } else {
            if foreignContexts.count > BrowserKnowledge.limit { foreignContexts = [] }
            foreignContexts.insert(mark.context)
        }
    }

    /// Records where the pages of an origin are shown.
    mutating func notePage(_ url: RequestURL, _ evidence: FetchEvidence) {
        guard evidence.isDocument || evidence.isForeignFrame else { return }
        // A page that was not seen in a tab proves nothing.
        if pages.inTabs.count + pages.inFrames.count > BrowserKnowledge.limit { pages.inTabs = [] }
        if pages.inFrames.count > BrowserKnowledge.limit { pages = ([], []) }
        if evidence.isDocument {
            pages.inTabs.insert(Self.origin(url))
        } else {
            pages.inFrames.insert(Self.origin(url))
        }
    }

    private static func origin(_ url: RequestURL) -> String { "\(url.scheme)://\(url.host):\(url.port)" }

    /// A number for a partition that has none yet; `nil` if another partition has its name.
    ///
    /// Requests do not name the page in the address bar, so a partition is named after the page in the request. If that
    /// page is a frame in another page, its name would be that of another partition, and the partition gets no number.
    mutating func number(
        for key: PartitionKey, of domain: Octets, or number: UInt64, now: Timestamp
    ) -> UInt64? {
        if partitions.count > BrowserKnowledge.limit { (partitions, claims) = ([:], [:]) }
        let claim = BrowserKnowledge.PartitionClaim(domain: domain, key: key)
        if let former = claims[claim] {
            // Several requests of one page begin at the same time. A site's own pages have one partition.
            return now < former.time.advanced(bySeconds: 60) || !key.hasCrossSiteAncestor ? former.number : nil
        }
        claims[claim] = (number, now)
        partitions[BrowserKnowledge.PartitionID(domain: domain, number: number)] = key
        return number
    }
}
