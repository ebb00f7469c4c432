import CookieModel
import PublicSuffix
import SessionStore
import SessionWire

/// A place in the order in which a jar's cookies are listed: by site, and within a site as they were made; opaque to
/// callers. In a list of sites, the number is a jar's.
struct CookieCursor: Comparable, Sendable {
    let site: Octets
    let sequence: Int64

    init(site: Octets, sequence: Int64) {
        self.site = site
        self.sequence = sequence
    }

    /// Where a query says that the last page ended.
    init(_ query: QueryItems) throws(OperationError) {
        guard let text = try query.one("cursor") else {
            self = CookieCursor(site: [], sequence: .min)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let site = Hexadecimal.bytes(parts[0]), let sequence = Int64(parts[1], radix: 36)
        else { throw .cursorInvalid }
        self = CookieCursor(site: Octets(site), sequence: sequence)
    }

    /// The cursor as callers give it back.
    var text: String {
        "\(Hexadecimal.text(site)).\(String(sequence, radix: 36))"
    }

    /// Whether it is the place before all cookies.
    var isBeginning: Bool { site.isEmpty && sequence == .min }

    static func < (left: CookieCursor, right: CookieCursor) -> Bool {
        left.site == right.site ? left.sequence < right.sequence : left.site < right.site
    }
}

/// Which cookies of a jar a query is about.
struct CookieCondition: Sendable {
    var filter = CookieFilter()
    private var isHTTPOnly: Bool?
    private var isPersistent: Bool?

    /// The details of the request in a query, other than its URL, if the route takes them.
    static let requestMembers: Set<String> = ["method", "topLevel", "initiator", "navigation"]

    /// The request that a query is about; `nil` if it has no URL.
    static func request(_ query: QueryItems) throws(OperationError) -> RequestContext? {
        guard let url = try query.one("url") else { return nil }
        return try RequestDetails(
            method: try query.one("method"), topLevel: try query.one("topLevel"),
            initiator: try query.one("initiator"), navigation: try query.flag("navigation")
        ).requestContext(for: url)
    }

    /// The conditions of a query, of those that its route knows.
    init(_ query: QueryItems) throws(OperationError) {
        filter.name = try query.octets("name")
        filter.domain = try query.host("domain")
        filter.path = try query.octets("path")
        filter.request = try query.url("url").map { RequestContext(url: $0) }
        isHTTPOnly = try query.flag("httpOnly")
        isPersistent = try query.flag("session").map { !$0 }
    }

    /// The cookies that live and meet all conditions, and those whose value cannot be read back.
    ///
    /// Those of a request come in the order in which they are sent.
    func cookies(of jar: CookieJar, now: Timestamp) throws -> (readable: [Cookie], unreadable: [Cookie]) {
        let all: (readable: [Cookie], unreadable: [Cookie])
        if let request = filter.request {
            let retrieval = try jar.retrieve(for: request, now: now)
            let unreadable = retrieval.excluded.filter { $0.reasons.contains(.unreadable) }
            all = (retrieval.included, unreadable.map(\.cookie))
        } else {
            all = try jar.cookies()
        }
        return (all.readable.filter { admits($0, now) }, all.unreadable.filter { admits($0, now) })
    }

    /// A page of the cookies that live and meet all conditions.
    struct Page {
        /// The cookies, in the order of their places.
        var cookies: [(place: CookieCursor, cookie: Cookie)] = []
        /// Those among them whose value cannot be read back.
        var unreadable: [Cookie] = []
        /// Whether there are more.
        var hasMore = false
    }

    /// The page after a place. Reads the sites between its cookies only; of a request, its site.
    ///
    /// - Parameter readsAllSites: whether cookies of a domain are found under another site, too: one that another public
    ///   suffix list gave them.
    func page(
        of jar: CookieJar, after start: CookieCursor, limit: Int, readsAllSites: Bool, now: Timestamp
    ) throws -> Page {
        var page = Page()
        guard filter.request == nil else {
            let (readable, unreadable) = try cookies(of: jar, now: now)
            let site = readable.first?.domain.registrableDomain(jar.policy.publicSuffixes) ?? []
            let ordered = readable.map { (place: CookieCursor(site: site, sequence: $0.sequence), cookie: $0) }
                .filter { start < $0.place }.sorted { $0.place < $1.place }
            page.cookies = Array(ordered.prefix(limit))
            page.unreadable = start.isBeginning ? unreadable : []
            page.hasMore = ordered.count > limit
            return page
        }
        /// Those after the last cookie of the page: they are the next page's if there is one.
        var unreadable: [Cookie] = []
        var (place, site) = (start, Octets?.none)
        if !readsAllSites, let domain = filter.domain, !domain.isPublicSuffix(jar.policy.publicSuffixes) {
            // Nothing else is below it.
            let only = domain.registrableDomain(jar.policy.publicSuffixes)
            site = only
            place = max(place, CookieCursor(site: only, sequence: .min))
        }
        let count = 1000
        reading: while true {
            let part = try jar.cookies(after: place.site, place.sequence, count: count)
            for (found, cookie, isReadable) in part {
                guard site == nil || found == site else { break reading }
                place = CookieCursor(site: found, sequence: cookie.sequence)
                guard admits(cookie, now) else { continue }
                guard isReadable else {
                    unreadable.append(cookie)
                    continue
                }
                guard page.cookies.count < limit else {
                    page.hasMore = true
                    return page
                }
                page.cookies.append((place, cookie))
                page.unreadable += unreadable
                unreadable = []
            }
            guard part.count == count else { break }
        }
        page.unreadable += unreadable
        return page
    }

    private func admits(_ cookie: Cookie, _ now: Timestamp) -> Bool {
        guard !cookie.isExpired(at: now), (filter.path ?? cookie.path) == cookie.path else { return false }
        // Most lists are of all cookies.
        guard filter.domain != nil || filter.name != nil || isHTTPOnly != nil || isPersistent != nil else {
            return true
        }
        let selection = CookieSelection(
            sites: filter.domain.map { [$0] } ?? [], names: filter.name.map { [$0] } ?? [], isHTTPOnly: isHTTPOnly,
            isPersistent: isPersistent)
        return selection.admits(CookieRecord(cookie))
    }
}
