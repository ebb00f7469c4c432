import CookieModel
import HTTPCaching
import ResponseStore
import SessionStore
import SessionWire

/// The types of data that sites leave in a jar.
package enum SiteDataType: String, CaseIterable, Sendable {
    case cookies, cache, storage
}

/// The data of sites that a request selects.
private struct SiteDataQuery {
    let site: Octets?
    let since: Timestamp
    let types: Set<SiteDataType>

    init<Document>(_ input: OperationInput<Document>, _ jar: CookieJar, now: Timestamp) throws {
        let since = try input.query.time("since", now: now)
        let names = try input.query.one("types")?.split(separator: ",", omittingEmptySubsequences: false)
        let types = try names?.map { name in
            guard let type = SiteDataType(rawValue: String(name)) else {
                throw OperationError.parameterInvalid("types", SiteDataType.hint)
            }
            return type
        }
        guard since == nil || types?.contains(.storage) != true else {
            throw OperationError.parameterInvalid("since", "remove it: localStorage has no times")
        }
        site = try input.site(jar)
        self.since = since ?? .distantPast
        self.types = Set(types ?? SiteDataType.allCases.filter { since == nil || $0 != .storage })
    }

    /// Whether data of a site is selected.
    func admits(_ site: Octets) -> Bool { self.site == nil || self.site == site }

    /// What is selected of the cookies and the web storage.
    var selection: SiteDataSelection {
        var selection = SiteDataSelection()
        (selection.site, selection.cookiesSince) = (site, since)
        selection.includesCookies = types.contains(.cookies)
        selection.includesWebStorage = types.contains(.storage)
        return selection
    }
}

/// The sums of each site and type.
private struct SiteDataSums {
    private var sums: [Octets: [SiteDataType: (count: Int64, octets: Int64, latest: Timestamp?)]] = [:]

    mutating func add(
        _ type: SiteDataType, of site: Octets, count: Int64, octets: Int64, latest: Timestamp? = nil
    ) {
        let former = sums[site]?[type] ?? (0, 0, nil)
        let times = [former.latest, latest].compactMap(\.self)
        sums[site, default: [:]][type] = (former.count + count, former.octets + octets, times.max())
    }

    /// The reports, by site and type.
    var reports: [SiteDataReport] {
        sums.sorted { $0.key < $1.key }.flatMap { site, types in
            SiteDataType.allCases.compactMap { type in
                types[type].map {
                    SiteDataReport(
                        site: site.description, type: type.rawValue, count: $0.count, octets: $0.octets,
                        latest: $0.latest?.rfc3339)
                }
            }
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == SiteDataList {
    /// The data of a jar's sites.
    package static var listSiteData: Self {
        Self(.listSiteData) { input, context in
            let jar = try context.jar(named: input.jar)
            let query = try SiteDataQuery(input, jar, now: context.now)
            var sums = SiteDataSums()
            if query.types.contains(.cookies) {
                for usage in try jar.cookieUsage(since: query.since, now: context.now) where query.admits(usage.site) {
                    sums.add(
                        .cookies, of: usage.site, count: Int64(usage.cookies), octets: Int64(usage.octets),
                        latest: usage.lastUpdate)
                }
            }
            if query.types.contains(.storage) {
                for (origin, items, octets) in try jar.webStorageOrigins() {
                    guard let site = jar.site(ofOrigin: origin), query.admits(site)
                    else { continue }
                    sums.add(.storage, of: site, count: Int64(items), octets: Int64(octets))
                }
            }
            if query.types.contains(.cache), let cache = context.cache {
                var start: Int64? = 0
                while let after = start {
                    let page = try cache.reading { [now = context.now] in
                        $0.page(ofJar: jar.cacheName, site: query.site, after: after, now: now)
                    }
                    for stored in page.responses where stored.stored >= query.since {
                        let host = stored.response.url.host
                        sums.add(
                            .cache, of: query.site ?? host.registrableDomain(jar.policy.publicSuffixes), count: 1,
                            octets: stored.size, latest: stored.stored)
                    }
                    start = page.last
                }
            }
            return SiteDataList(siteData: sums.reports)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == SiteDataRemovalReport {
    /// Removes data of a jar's sites.
    package static var removeSiteData: Self {
        Self(.removeSiteData) { input, context in
            let isAll = try input.query.flag("all") ?? false
            let hasCondition = ["site", "since", "types"].contains { !input.query.all($0).isEmpty }
            guard isAll || hasCondition else {
                throw OperationError(
                    .parameterMissing, "select the data by site, since or types, or remove everything with all=true")
            }
            guard !isAll || !hasCondition else {
                throw OperationError.parameterInvalid("all", "remove it: the other parameters select the data")
            }
            let jar = try context.jar(named: input.jar)
            let query = try SiteDataQuery(input, jar, now: context.now)
            // The responses first: if the jar cannot be changed, no data is lost with them.
            var responses: [CacheUsage] = []
            if query.types.contains(.cache), let cache = context.cache {
                responses = [cache.removeResponses(ofJar: jar.cacheName, site: query.site, since: query.since)]
                try cache.finishRemovals()
            }
            let removed = try jar.removeSiteData(query.selection, now: context.now)
            let report = CacheRemovalReport(responses)
            return SiteDataRemovalReport(
                jar: jar.name, cookies: removed.cookies, storageItems: removed.storageItems,
                responses: report.removed, responseOctets: report.octets)
        }
    }
}
