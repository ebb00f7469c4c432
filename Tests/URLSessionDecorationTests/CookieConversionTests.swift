import CookieModel
import Foundation
import SessionStore
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Cookies to and from Foundation's")
struct CookieConversionTests {
    /// What a response of https://www.example.com/p/page sets.
    private func cookie(_ line: Octets) throws -> Cookie {
        let fixture = try URLSessionFixture([line], from: "https://www.example.com/p/page")
        return try #require(try fixture.jar.cookies().readable.first)
    }

    #if canImport(FoundationNetworking)
        private static let sameSite: [CookieLoss] = [.sameSite]
        private static let unicode: [CookieLoss] = []
    #else
        private static let sameSite: [CookieLoss] = []
        private static let unicode: [CookieLoss] = [.octets]
    #endif

    @Test(
        "Converted cookies are converted back, except for the listed ones",
        arguments: [
            ("a=1", []), ("a=1; Domain=example.com", []), ("a=1; Domain=www.example.com; Path=/x", []),
            ("a=1; Secure; HttpOnly", []), ("a=1; HttpOnly; Max-Age=86400", []), ("a=; Path=/", []),
            ("a=\"x y\"; Path=/", []), ("a=x=y", []), ("__Host-a=1; Secure; Path=/", []),
            ("a=1; Expires=Fri, 01 Jan 2038 00:00:00 GMT", []),
            ("a=1; SameSite=Lax", sameSite), ("a=1; SameSite=Strict; HttpOnly", sameSite),
            ("a=1; SameSite=None; Secure", [.sameSite]),
        ] as [(Octets, [CookieLoss])])
    func roundTrip(line: Octets, losses: [CookieLoss]) throws {
        let cookie = try cookie(line)
        let conversion = HTTPCookieConversion(cookie)
        #expect(conversion.losses == losses)
        let record = CookieRecordConversion(try #require(conversion.cookie)).record
        #expect(record.name == cookie.name && record.value == cookie.value && record.path == cookie.path)
        #expect(record.domain == cookie.domain.description && record.isHostOnly == cookie.isHostOnly)
        #expect(record.isSecure == cookie.isSecure && record.isHTTPOnly == cookie.isHTTPOnly)
        #expect(record.expiry?.seconds == cookie.expiry?.seconds)
        #expect(losses.contains(.sameSite) || record.sameSite == cookie.sameSite)
        // A jar takes the record as the same cookie.
        let jar = try URLSessionFixture().jar
        let taken = try jar.withBatch(now: URLSessionFixture.now) { batch throws(SessionStoreError) in
            try batch.receive(record)
        }
        #expect(taken.result.outcome == .stored && taken.result.cookie?.id == cookie.id)
    }

    @Test("Foundation's own fields are those of the cookie")
    func fields() throws {
        let made = try #require(
            HTTPCookieConversion(try cookie("a=1; Domain=example.com; Path=/x; Secure; HttpOnly; Max-Age=60")).cookie)
        #expect(made.name == "a" && made.value == "1" && made.domain == ".example.com" && made.path == "/x")
        #expect(made.isSecure && made.isHTTPOnly && !made.isSessionOnly)
        #expect(made.expiresDate == Date(timeIntervalSince1970: 1_800_000_060))
        let session = try #require(HTTPCookieConversion(try cookie("a=1")).cookie)
        #expect(session.domain == "www.example.com" && session.isSessionOnly && session.expiresDate == nil)
        #expect(!session.isSecure && !session.isHTTPOnly && session.path == "/p")
    }

    @Test("Foundation's storage gives them to the hosts they are for, and to no others")
    func storage() throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        for line in ["host=1", "domain=1; Domain=example.com"] as [Octets] {
            storage.setCookie(try #require(HTTPCookieConversion(try cookie(line)).cookie))
        }
        for (url, names) in [
            ("https://www.example.com/p/x", ["domain", "host"]), ("https://a.www.example.com/p", ["domain"]),
            ("https://example.com/", ["domain"]), ("https://badexample.com/p", []),
        ] {
            let found = storage.cookies(for: try #require(URL(string: url))) ?? []
            // Foundation on Linux heeds no path.
            #expect(Set(found.map(\.name)).isSubset(of: names), "\(url)")
        }
        let there = storage.cookies(for: try #require(URL(string: "https://www.example.com/p/x"))) ?? []
        #expect(Set(there.map(\.name)) == ["domain", "host"] || there.map(\.name) == ["host"])
    }

    @Test(
        "A cookie that would change, or be sent where it must not, is not converted",
        arguments: [
            (Octets(Array("a=".utf8) + [0xE9]), [CookieLoss.octets]), ("=nameless", [.octets]),
            ("a=1; Secure; Partitioned; SameSite=None", [.partition]), ("a=\u{E9}", unicode),
        ] as [(Octets, [CookieLoss])])
    func prevented(line: Octets, losses: [CookieLoss]) throws {
        let conversion = HTTPCookieConversion(try cookie(line))
        #expect(conversion.losses.filter(\.isPrevention) == losses)
        #expect((conversion.cookie == nil) == !losses.isEmpty)
    }

    @Test("Properties that Foundation does not report of its own cookies are listed")
    func reading() throws {
        let cookie = try #require(
            HTTPCookie(
                properties: [
                    .name: "a", .value: "1", .domain: ".Example.com", .path: "/x", .secure: "TRUE",
                    .expires: Date(timeIntervalSince1970: 1_900_000_000.25),
                ]))
        let conversion = CookieRecordConversion(cookie)
        #expect(conversion.losses == [.sameSite])
        var expected = CookieRecord(
            name: "a", value: "1", domain: "example.com", isHostOnly: false, path: "/x", isSecure: true)
        expected.expiry = Timestamp(microseconds: 1_900_000_000_250_000)
        #expect(conversion.record == expected)
    }

    @Test("Times at the ends of the range", arguments: [Double.infinity, -.infinity, 1e300])
    func times(seconds: Double) throws {
        let cookie = try #require(
            HTTPCookie(
                properties: [
                    .name: "a", .value: "1", .domain: "e.test", .path: "/",
                    .expires: Date(timeIntervalSince1970: seconds),
                ]))
        #expect(
            CookieRecordConversion(cookie).record.expiry == (seconds < 0 ? .distantPast : .distantFuture))
    }
}
