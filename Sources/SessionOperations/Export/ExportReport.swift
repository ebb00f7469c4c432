package import Captures
package import CookieModel

extension ExportReport {
    /// How many cookies are named for each property that was not kept: all of them would be a second export.
    private static let namedLimit = 1000

    /// The messages that a person must get even if nothing else is printed.
    package var complaints: [String] {
        leftOut.map { "left out \($0.cookie.label): \($0.reason.explanation) (\($0.reason.id))" }
            + unreadable.map { "left out \($0.unreadableLine)" }
            + (storageItemsUnreadable == 0
                ? []
                : [
                    "left out \(storageItemsUnreadable) items of localStorage: \(ExclusionReason.unreadable.explanation)"
                ])
    }

    /// Accounts for the web storage of an origin.
    mutating func count(_ part: ExportedCookies.StoragePart) {
        storageItems += part.items.count
        storageItemsLeftOut += part.leftOut
        storageItemsUnreadable += part.unreadable
    }

    /// Whether there is nothing to write: a request without cookies has no header.
    package var isNothing: Bool {
        written == 0 && ExportFormat(rawValue: format)?.scope == .oneRequest
    }

    package init(format: ExportFormat, output: String?) {
        self.init(format: format.rawValue, output: output)
    }

    /// Accounts for one cookie.
    package mutating func count(_ outcome: CookieWriter.Outcome, of record: CookieRecord) {
        switch outcome {
        case .leftOut(let obstacle):
            let reason = ReasonReport(id: obstacle.rawValue, explanation: obstacle.explanation)
            leftOut.append(LeftOut(cookie: CookieIdentityReport(record), reason: reason))
        case .written(let losses):
            written += 1
            for feature in losses { count(feature, of: record) }
        }
    }

    /// Accounts for a cookie whose value cannot be read back.
    package mutating func count(unreadable cookie: Cookie) {
        unreadable.append(CookieIdentityReport(cookie))
    }

    private mutating func count(_ feature: CookieFeature, of record: CookieRecord) {
        let index: Int
        if let found = notKept.firstIndex(where: { $0.id == feature.rawValue }) {
            index = found
        } else {
            index = notKept.endIndex
            notKept.append(
                NotKept(id: feature.rawValue, title: feature.title, consequence: feature.consequence))
        }
        notKept[index].count += 1
        if notKept[index].count <= ExportReport.namedLimit {
            notKept[index].cookies.append(CookieIdentityReport(record))
        }
    }
}

/// Conditions that a cookie meets or not, whatever asks for it.
package struct CookieSelection {
    package let sites: [WebHost]
    private let siteNames: Set<Octets>
    package let names: Set<Octets>
    package let isHTTPOnly: Bool?
    package let isPersistent: Bool?

    /// Conditions from their parts; those that are empty or `nil` hold for every cookie.
    package init(sites: [WebHost], names: Set<Octets>, isHTTPOnly: Bool?, isPersistent: Bool?) {
        self.sites = sites
        siteNames = Set(sites.map(\.octets))
        self.names = names
        self.isHTTPOnly = isHTTPOnly
        self.isPersistent = isPersistent
    }

    /// Whether a cookie meets all of them; takes no longer the more sites and names there are.
    package func admits(_ record: CookieRecord) -> Bool {
        if !names.isEmpty, !names.contains(record.name) { return false }
        if let isHTTPOnly, record.isHTTPOnly != isHTTPOnly { return false }
        if let isPersistent, (record.expiry != nil) != isPersistent { return false }
        return admits(WebHost(record.domain))
    }

    /// Whether the web storage of an origin is meant: any of the sites, unless a condition is one that only cookies meet.
    package func admits(storageOf origin: String) -> Bool {
        names.isEmpty && isHTTPOnly == nil && isPersistent == nil && admits((try? RequestURL(origin))?.host)
    }

    private func admits(_ domain: WebHost?) -> Bool {
        guard !sites.isEmpty else { return true }
        guard let domain else { return false }
        if siteNames.contains(domain.octets) { return true }
        return domain.octets.indices.contains { index in
            guard domain.octets[index] == UInt8(ascii: ".") else { return false }
            let site = domain.octets[(index + 1)...]
            return siteNames.contains(site) && CookiePolicy.domainMatches(domain, site)
        }
    }
}

extension CookieRecord {
    /// Whether a page of `host` can have set the cookie.
    package func belongs(to host: WebHost) -> Bool {
        guard let domain = WebHost(domain) else { return false }
        return isHostOnly ? host == domain : CookiePolicy.domainMatches(host, domain.octets)
    }
}
