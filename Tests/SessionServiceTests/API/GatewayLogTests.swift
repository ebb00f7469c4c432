import SessionOperations
import Testing

@testable import SessionService

@Suite("The log of a gateway")
struct GatewayLogTests {
    private static func request(_ number: Int, url: String = "https://a.test/") -> GatewayRequestReport {
        GatewayRequestReport(
            time: "", method: "GET", url: url, status: 200, decorated: true, verdict: nil,
            cookiesSent: ["a", "b"], cookiesStored: ["c"], replayed: false, signedInAgain: false, loginFailure: nil,
            failure: number % 2 == 0 ? "dns_error" : nil)
    }

    private static func positions(_ page: GatewayLog.Page) -> [Int64?] {
        page.entries.map { entry in
            switch entry {
            case .request(let request): request.position
            case .event(let event): event.position
            }
        }
    }

    @Test("A gateway's log keeps the newest entries and counts all")
    func counts() {
        var log = GatewayLog(countLimit: 3)
        for number in 1...100 { log.add(Self.request(number)) }
        let page = log.page(after: 0, limit: 10)
        #expect(Self.positions(page) == [98, 99, 100] && page.position == 100 && page.gap == 97 && !page.hasMore)
        #expect(log.requests == 100 && log.cookiesSent == 200 && log.cookiesStored == 100 && log.failures == 50)
    }

    @Test(
        "A page of a gateway's log continues where the previous one has ended",
        arguments: [
            (0, 2, [1, 2], nil, true), (2, 2, [3, 4], nil, true), (4, 2, [5], nil, false), (5, 2, [], nil, false),
            // Of a gateway before this one.
            (6, 10, [1, 2, 3, 4, 5], 0, false),
        ] as [(Int64, Int, [Int64], Int64?, Bool)])
    func pages(after: Int64, limit: Int, expected: [Int64], gap: Int64?, hasMore: Bool) {
        var log = GatewayLog()
        for number in 1...4 { log.add(Self.request(number)) }
        log.add(PageEventReport(time: "", origin: "https://a.test", query: "", data: "x", dataBase64: nil))
        let page = log.page(after: after, limit: limit)
        #expect(Self.positions(page) == expected && page.gap == gap && page.hasMore == hasMore)
        #expect(page.position == (expected.last ?? after))
    }

    @Test("The entries of a gateway's log take limited memory, and URLs are cut")
    func sizes() {
        var log = GatewayLog(countLimit: 1000, sizeLimit: 100_000)
        let event = PageEventReport(
            time: "", origin: "https://a.test", query: "", data: String(repeating: "x", count: 16_000), dataBase64: nil)
        for _ in 1...50 { log.add(event) }
        #expect(log.page(after: 0, limit: 1000).entries.count == 6)
        log.add(Self.request(1, url: "https://a.test/" + String(repeating: "é", count: 5000)))
        guard case .request(let request)? = log.page(after: 50, limit: 1).entries.first else {
            Issue.record("there is no request")
            return
        }
        #expect(request.url.utf8.count < GatewayLog.urlLimit + 8 && request.url.hasSuffix("…"))
    }

    @Test(
        "The log and the inspector tell a refused request from one that passed unchanged",
        arguments: [
            ("http_request_denied", " 407 refused: http_request_denied", "refused"),
            ("dns_error", " 407 dns_error", ""),
            (nil, " 407 passed unchanged", "passed unchanged"),
        ])
    func passages(failure: String?, line: String, verdict: String) {
        let request = GatewayRequestReport(
            time: "", method: "GET", url: "https://a.test/", status: 407, decorated: false, verdict: nil,
            cookiesSent: [], cookiesStored: [], replayed: false, signedInAgain: false, loginFailure: nil,
            failure: failure)
        #expect(request.line == "GET https://a.test/" + line)
        #expect(GatewayRow(.request(request)).verdict == verdict)
    }

    @Test("A cookie without a name is one on every line of the log and on the page")
    func nameless() {
        let request = GatewayRequestReport(
            time: "", method: "GET", url: "https://a.test/", status: 200, decorated: true, verdict: nil,
            cookiesSent: ["a", "", "b"], cookiesStored: [""],
            cookiesRejected: [RejectedCookieReport(name: "", reasons: ["empty"])], cookiesDeleted: [""],
            replayed: false, signedInAgain: false, loginFailure: nil, failure: nil)
        let name = "(no name)"
        #expect(
            request.line == "GET https://a.test/ 200 sent: a, \(name), b stored: \(name) rejected: \(name) (empty) "
                + "deleted: \(name)")
        let row = GatewayRow(.request(request))
        #expect(row.sent == "a, \(name), b" && row.stored == name && row.note == "rejected: \(name) (empty)")
    }
}
