import CookieModel
import Foundation
import TestSupport
import Testing

@Suite("crumb explain, of cookies that were rejected")
struct ExplainRejectionTests {
    private let home = CrumbHome()

    private func explain(_ words: String...) throws -> String { try home.explanation(words) }

    private func rejected(_ url: String = "https://www.example.com/") throws -> [String] {
        let result = try home.crumb("explain", "--json", url)
        #expect(result.status == 0 && !result.text.contains("secret"), "\(result.messages)")
        let entries = try #require(try result.objects().first?["rejected"] as? [[String: Any]])
        return entries.map { entry in
            let reasons = (entry["reasons"] as? [[String: String]] ?? []).compactMap { $0["id"] }
            return "\(entry["name"] ?? "?") from \(entry["host"] ?? "?"): \(reasons.joined(separator: ", "))"
        }
    }

    @Test("Each has a row with the host, the time and every reason with its remedy")
    func text() throws {
        let time = Timestamp(seconds: Timestamp.now.seconds - 3 * 3600)
        try home.receive("sid=secret; Domain=shop.test", from: "https://login.example.com/", at: time)
        #expect(
            try explain("https://www.example.com/").contains(
                """

                          NAME  DOMAIN  PATH  EXPIRES  FLAGS
                rejected  sid
                          - from login.example.com, 3 hours ago, \(time.rfc3339)
                          - Domain is neither the responding host nor a parent of it (domain-mismatch)
                            Fix: check the URL of the response; the server must omit Domain, or set its own

                """))
        #expect(!(try explain("https://shop.test/").contains("rejected")))
    }

    @Test("A cookie of the same name that the host gets later takes its place, and another one does not")
    func stored() throws {
        func time(_ minutes: Int64) -> Timestamp { Timestamp(seconds: Timestamp.now.seconds + 60 * (minutes - 60)) }
        let line = "sid from login.example.com: same-site-none-insecure"
        try home.receive("sid=secret; Domain=example.com", from: "https://login.example.com/", at: time(0))
        try home.receive("sid=secret; SameSite=None", from: "https://login.example.com/", at: time(1))
        #expect(try rejected() == [line])
        try home.receive("sid=secret", from: "https://www.example.com/", at: time(2))
        try home.receive("other=secret; Domain=example.com", from: "https://login.example.com/", at: time(2))
        #expect(try rejected() == [line])
        try home.receive("sid=secret; Domain=example.com", from: "https://www.example.com/", at: time(3))
        #expect(try rejected().isEmpty)
        // Deleted since, it was there.
        try home.receive("sid=; Max-Age=0; Domain=example.com", from: "https://www.example.com/", at: time(4))
        #expect(try rejected().isEmpty)
        try home.receive("sid=secret; SameSite=None", from: "https://login.example.com/", at: time(5))
        #expect(try rejected() == [line])
    }

    @Test("A capture's rejections are listed, and the journal lists changes only")
    func imported() throws {
        try home.receive("sid=secret; SameSite=None", "fine=secret")
        #expect(try rejected() == ["sid from www.example.com: same-site-none-insecure"])
        #expect(try !home.crumb("changes").text.contains("sid"))
    }
}
