import CookieModel
import Testing

@testable import SessionStore

@Suite("The data of sites in a jar")
struct SiteDataTests {
    private let database: SessionDatabase
    private let jar: CookieJar

    /// A jar with cookies of two sites, two hours apart, and web storage of both.
    init() throws {
        database = try Given.database()
        jar = try database.jar(named: "a", now: Given.now)
        try jar.receive("old=1; Path=/", from: "https://www.one.example/", now: Given.now.advanced(bySeconds: -7200))
        try jar.receive("new=12; Path=/", from: "https://app.one.example/")
        try jar.receive("other=1; Path=/", from: "https://two.example/")
        let items = try ["https://www.one.example", "https://one.example:8443", "https://two.example"].map { origin in
            try #require(WebStorageItem(origin: origin, key: "k", value: "v"))
        }
        _ = try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            for item in items { _ = try batch.receive(item) }
        }
    }

    private func names() throws -> [String] { try jar.contents().map(\.name.description) }

    private func origins() throws -> [String] { try jar.webStorageOrigins().map(\.origin) }

    @Test("Cookies are counted by site, with their octets and the time of the last change")
    func usage() throws {
        let one = CookieUsage(site: "one.example", cookies: 2, octets: 9, lastUpdate: Given.now)
        let two = CookieUsage(site: "two.example", cookies: 1, octets: 6, lastUpdate: Given.now)
        #expect(try jar.cookieUsage(now: Given.now) == [one, two])
        let recent = try jar.cookieUsage(since: Given.now.advanced(bySeconds: -3600), now: Given.now)
        #expect(recent.map(\.cookies) == [1, 1] && recent.map(\.octets) == [5, 6])
        try jar.receive("short=1; Path=/; Max-Age=10", from: "https://two.example/")
        #expect(try jar.cookieUsage(now: Given.now.advanced(bySeconds: 60)).map(\.cookies) == [2, 1])
    }

    @Test("The data of a site is removed with its subdomains and ports, and restoring the jar undoes it")
    func site() throws {
        var selection = SiteDataSelection()
        selection.site = "one.example"
        let position = try jar.changes(after: 0).position
        let removed = try jar.removeSiteData(selection, now: Given.now)
        #expect(removed.cookies == 2 && removed.storageItems == 2)
        #expect(try names() == ["other"] && origins() == ["https://two.example"])
        #expect(try jar.changes(after: position).changes.map(\.cause) == [.removed, .removed])
        #expect(try jar.removeSiteData(selection, now: Given.now) == (0, 0))
        #expect(try database.removedJars().map(\.cause) == [.cleared])
        try database.restoreJar(named: "a", now: Given.now)
        #expect(try Set(names()) == ["old", "new", "other"] && origins().count == 3)
        #expect(try database.check().findings.isEmpty)
    }

    @Test("Each condition narrows what is removed")
    func conditions() throws {
        var selection = SiteDataSelection()
        selection.includesWebStorage = false
        selection.cookiesSince = Given.now.advanced(bySeconds: -3600)
        #expect(try jar.removeSiteData(selection, now: Given.now) == (2, 0))
        #expect(try names() == ["old"] && origins().count == 3)
        selection = SiteDataSelection()
        selection.includesCookies = false
        selection.site = "two.example"
        #expect(try jar.removeSiteData(selection, now: Given.now) == (0, 1))
        #expect(try names() == ["old"] && origins().count == 2)
        #expect(try jar.removeSiteData(SiteDataSelection(), now: Given.now) == (1, 2))
        #expect(try names().isEmpty && origins().isEmpty)
    }
}
