/// The data of one type that a jar has of a site.
public struct SiteDataReport: Codable, Sendable {
    /// The registrable domain.
    public let site: String
    /// The type: `cookies`, `cache` or `storage`.
    public let type: String
    /// How many cookies, stored responses, or items of `localStorage`.
    public let count: Int64
    /// How many octets they take: of names and values, of the disk, or of keys and values.
    public let octets: Int64
    /// When one of them was last set or stored (RFC 3339); `nil` for `localStorage`, which has no times.
    public let latest: String?

    package init(site: String, type: String, count: Int64, octets: Int64, latest: String?) {
        self.site = site
        self.type = type
        self.count = count
        self.octets = octets
        self.latest = latest
    }
}

/// The data of sites in a jar.
public struct SiteDataList: Codable, Sendable {
    /// By site, and for each site by type.
    public let siteData: [SiteDataReport]

    package init(siteData: [SiteDataReport]) {
        self.siteData = siteData
    }
}

/// What was removed of the data of sites.
public struct SiteDataRemovalReport: Codable, Sendable {
    /// The name of the jar.
    public let jar: String
    /// How many cookies. For a day, restoring the jar brings them back.
    public let cookies: Int
    /// How many items of `localStorage`. For a day, restoring the jar brings them back.
    public let storageItems: Int
    /// How many stored responses. Further requests get them from the servers.
    public let responses: Int64
    /// How many octets of the disk the stored responses took.
    public let responseOctets: Int64

    package init(jar: String, cookies: Int, storageItems: Int, responses: Int64, responseOctets: Int64) {
        self.jar = jar
        self.cookies = cookies
        self.storageItems = storageItems
        self.responses = responses
        self.responseOctets = responseOctets
    }
}
