/// The data of one type that a jar has of a site.
package struct SiteDataReport: Codable, Sendable {
    /// The registrable domain.
    package let site: String
    /// The type: `cookies`, `cache` or `storage`.
    package let type: String
    /// How many cookies, stored responses, or items of `localStorage`.
    package let count: Int64
    /// How many octets they take: of names and values, of the disk, or of keys and values.
    package let octets: Int64
    /// When one of them was last set or stored (RFC 3339); `nil` for `localStorage`, which has no times.
    package let latest: String?

    package init(site: String, type: String, count: Int64, octets: Int64, latest: String?) {
        self.site = site
        self.type = type
        self.count = count
        self.octets = octets
        self.latest = latest
    }
}

/// The data of sites in a jar.
package struct SiteDataList: Codable, Sendable {
    /// By site, and for each site by type.
    package let siteData: [SiteDataReport]

    package init(siteData: [SiteDataReport]) {
        self.siteData = siteData
    }
}

/// What was removed of the data of sites.
package struct SiteDataRemovalReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// How many cookies. For a day, restoring the jar brings them back.
    package let cookies: Int
    /// How many items of `localStorage`. For a day, restoring the jar brings them back.
    package let storageItems: Int
    /// How many stored responses. Further requests get them from the servers.
    package let responses: Int64
    /// How many octets of the disk the stored responses took.
    package let responseOctets: Int64

    package init(jar: String, cookies: Int, storageItems: Int, responses: Int64, responseOctets: Int64) {
        self.jar = jar
        self.cookies = cookies
        self.storageItems = storageItems
        self.responses = responses
        self.responseOctets = responseOctets
    }
}
