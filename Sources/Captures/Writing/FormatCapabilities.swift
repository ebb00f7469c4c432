package import CookieModel
import WebPrimitives

/// The properties of a cookie that a format can hold, as its real readers read it. This is the one table that
/// determines the losses of an export, and the differences that an import must not take for a change. docs/formats.md
/// shows it.
package struct FormatCapabilities: Sendable, Hashable {
    /// How the end of a lifetime is written.
    package enum ExpiryPrecision: Sendable, Hashable {
        /// Not at all.
        case none
        /// In whole seconds, from 1970 to the end of the year 9999.
        case seconds
        /// In microseconds, from 1970 to the end of the year 9999.
        case microseconds
        /// Every moment there is.
        case exact
    }

    /// Which partitioned cookies a format can hold.
    package enum Partitions: Sendable, Hashable {
        /// All of them.
        case all
        /// Cookies of a page of their own site, so the partition needs no member.
        case ownSite
        /// Those of a page of their own site, as if they were not partitioned: a tool without pages sends them alike.
        case ownSiteUnmarked
    }

    /// Which octets names, values and paths may have.
    package enum OctetsRule: Sendable, Hashable {
        /// Any.
        case any
        /// Any but tab, line feed, carriage return and NUL.
        case columns
        /// Octets that a Set-Cookie line preserves: no control characters but a tab within, no semicolon, no white
        /// space at the ends, no equals sign in the name.
        case setCookie
        /// The same without tabs: one cookie with a tab, and a browser refuses the whole list.
        case browser
        /// Octets that a Cookie field preserves: no control characters but a tab, no semicolon.
        case header
    }

    /// The properties that there is a place for, but for the end of the lifetime and the partition.
    package let features: Set<CookieFeature>
    /// The properties that there is a place for but that files lack all the same, since many tools drop them: their
    /// absence says nothing.
    package let optional: Set<CookieFeature>
    /// Whether the format has a way to say that a cookie has no SameSite attribute.
    package let holdsNoSameSite: Bool
    /// How the end of a lifetime is written.
    package let expiry: ExpiryPrecision
    /// Which partitioned cookies there is a place for.
    package let partitions: Partitions
    /// Which octets there is a place for.
    package let octets: OctetsRule
    /// Whether names, values and paths must be UTF-8.
    package let needsText: Bool
    /// Whether there is a place for cookies without a name.
    package let holdsNameless: Bool

    init(
        _ features: Set<CookieFeature>, optional: Set<CookieFeature> = [], holdsNoSameSite: Bool = true,
        expiry: ExpiryPrecision, partitions: Partitions, octets: OctetsRule, needsText: Bool, holdsNameless: Bool
    ) {
        self.features = features
        self.optional = optional
        self.holdsNoSameSite = holdsNoSameSite
        self.expiry = expiry
        self.partitions = partitions
        self.octets = octets
        self.needsText = needsText
        self.holdsNameless = holdsNameless
    }

    /// Whether the format has a place for a property, of cookies that it can hold.
    package func holds(_ feature: CookieFeature) -> Bool {
        switch feature {
        case .expiry: expiry != .none
        case .exactExpiry: expiry == .exact
        case .partition: partitions != .ownSiteUnmarked
        default: features.contains(feature)
        }
    }

    /// The properties that a cookie in this format leaves open.
    var unstated: CookieProperties {
        var unstated: CookieProperties = holdsNoSameSite ? [] : .noSameSite
        for feature in CookieFeature.allCases where !holds(feature) || optional.contains(feature) {
            unstated.formUnion(feature.properties)
        }
        return unstated
    }

    /// Returns the properties that the format loses, in the order of ``CookieFeature``. A property that the cookie does
    /// not have is not lost.
    package func losses(of record: CookieRecord) -> [CookieFeature] {
        CookieFeature.allCases.filter { record.has($0) && !keeps($0, of: record) }
    }

    private func keeps(_ feature: CookieFeature, of record: CookieRecord) -> Bool {
        // One report is enough if the format has no expiry at all.
        guard feature == .exactExpiry, let end = record.expiry else { return holds(feature) }
        return expiry == .none || writtenExpiry(end) == end
    }

    /// The end of a lifetime as the format can write it.
    func writtenExpiry(_ end: Timestamp) -> Timestamp {
        guard expiry != .exact else { return end }
        // The last second of the year 9999. The first second of 1970 would be "with the session" to many readers.
        let bounded = min(max(end, Timestamp(seconds: 1)), Timestamp(seconds: 253_402_300_799))
        return expiry == .microseconds ? bounded : Timestamp(seconds: bounded.seconds)
    }
}

extension FormatCapabilities {
    /// The capabilities of browsers' own stores and protocols.
    static func browser(
        _ times: Set<CookieFeature> = [], optional: Set<CookieFeature> = [], partitions: Partitions
    ) -> FormatCapabilities {
        FormatCapabilities(
            times.union([.domain, .hostOnly, .path, .secure, .httpOnly, .sameSite]), optional: optional,
            expiry: .microseconds, partitions: partitions, octets: .any, needsText: false, holdsNameless: true)
    }
}

extension CookieRecord {
    /// Whether there is something to lose.
    fileprivate func has(_ feature: CookieFeature) -> Bool {
        switch feature {
        case .domain, .path: true
        // An address has no hosts below it.
        case .hostOnly: isHostOnly && WebHost(domain)?.isIPAddress != true
        case .secure: isSecure
        case .httpOnly: isHTTPOnly
        case .sameSite: sameSite != .default
        case .expiry, .exactExpiry: expiry != nil
        case .partition: partitionKey != nil
        case .creation: creation != nil
        case .lastAccess: lastAccess != nil
        }
    }
}

/// A property of a cookie that a format may have no place for.
public enum CookieFeature: String, Sendable, CaseIterable, Hashable {
    /// The host or domain that it belongs to.
    case domain
    /// That only the exact host gets it.
    case hostOnly = "host-only"
    /// The path.
    case path
    /// That only secure connections get it.
    case secure
    /// That scripts may not see it.
    case httpOnly = "http-only"
    /// Its `SameSite` attribute.
    case sameSite = "same-site"
    /// When it ends.
    case expiry
    /// When it ends to the microsecond: some formats know whole seconds, or no year beyond 9999.
    case exactExpiry = "exact-expiry"
    /// The partition that it belongs to.
    case partition
    /// When it was first set.
    case creation
    /// When it was last used.
    case lastAccess = "last-access"

    /// The property for a person.
    public var title: String { row.title }

    /// The consequence of losing the property: one sentence for a person.
    package var consequence: String { row.consequence }

    /// The properties by which a record says that its store has no place for this one.
    var properties: CookieProperties { row.properties }

    private var row: (title: String, consequence: String, properties: CookieProperties) {
        switch self {
        // Without these a record would be no cookie, or they never come from it: a cookie keeps its creation.
        case .domain: ("domain", "the reader has to know the cookie's site", [])
        case .path: ("path", "the reader may send the cookie to every path", [])
        case .expiry: ("expiry", "the reader decides how long the cookie lives", [])
        case .creation: ("creation time", "the reader treats the cookie as new, which affects order and limits", [])
        case .lastAccess:
            ("last access time", "the reader treats the cookie as new, which affects order and limits", [])
        case .hostOnly: ("host-only", "the reader may also send the cookie to subdomains", .hostOnly)
        case .secure: ("Secure", "the reader may send the cookie over an insecure connection", .secure)
        case .httpOnly: ("HttpOnly", "the reader may show the cookie to scripts", .httpOnly)
        case .sameSite:
            ("SameSite", "the reader decides which cross-site requests carry the cookie", [.sameSite, .noSameSite])
        case .exactExpiry:
            (
                "exact expiry",
                "the cookie expires up to a second earlier, and at the end of the year 9999 at the latest", .exactExpiry
            )
        case .partition: ("partition", "the reader may send the cookie outside of its partition", .partition)
        }
    }

    /// The features that a decision on a cookie kept.
    package static func kept(_ kept: CookieProperties) -> [CookieFeature] {
        allCases.filter { !$0.properties.isDisjoint(with: kept) }
    }
}

/// Why a format cannot hold a cookie at all, so that it is left out: written in another form it would be another cookie.
public enum ExportObstacle: String, Sendable, CaseIterable, Hashable {
    /// It has no name.
    case nameless
    /// Its name, value or path has octets that end the field, or that readers take away.
    case octets = "octets-not-held"
    /// Its name, value or path is not UTF-8, which a JSON document is.
    case notText = "not-text"
    /// Its domain is no host, or its path does not begin with a slash.
    case scope = "scope-invalid"
    /// It is longer than readers accept.
    case tooLong = "too-long"
    /// It belongs to pages of another site, and would be sent on its own site's pages.
    case partition = "partition-not-held"
    /// It belongs to another host than the file is for.
    case otherHost = "other-host"

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .nameless: "it has no name, and readers of the format would take its value for the name"
        case .octets: "its name, value or path has octets that the format cannot represent"
        case .notText: "its name, value or path is not UTF-8, which the format requires"
        case .scope: "its domain is not a host name, or its path does not begin with a slash"
        case .tooLong: "it is longer than readers of the format accept"
        case .partition: "it is partitioned and belongs to the pages of another site"
        case .otherHost: "it belongs to another host, not to that of the URL"
        }
    }
}
