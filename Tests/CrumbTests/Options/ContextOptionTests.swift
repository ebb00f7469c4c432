import Foundation
import TestSupport
import Testing

@Suite("The context of a request: --top-level, --initiator, --method, --[no-]navigation")
struct ContextOptionTests {
    fileprivate static let all = "strict=1; lax=2; default=3"

    /// Options, and the cookies of a page of this machine that such a request carries.
    private static let cases: [(options: [String], cookies: String)] = [
        // A person's visit.
        ([], all), (["--initiator", "user"], all), (["--method", "POST"], all),
        // Its own page asks.
        (["--top-level", "http://127.0.0.1/"], all), (["--no-navigation"], all),
        (["--initiator", "http://127.0.0.1:81/"], all),
        // Another site's page leads here.
        (["--initiator", "http://other.example/"], "lax=2; default=3"),
        (["--initiator", "http://other.example/", "--method", "HEAD"], "lax=2; default=3"),
        (["--initiator", "http://other.example/", "--method", "post"], ""),
        (["--initiator", "http://other.example/", "--no-navigation"], ""),
        (["--top-level", "http://other.example/", "--navigation"], "lax=2; default=3"),
        (["--top-level", "http://other.example/", "--navigation", "--method", "PUT"], ""),
        // A part of another site's page.
        (["--top-level", "http://other.example/"], ""),
        (["--top-level", "http://other.example/", "--initiator", "http://127.0.0.1/"], ""),
    ]

    private let home = CrumbHome()
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { _ in LoopbackServer.Response() }
        try home.receive("strict=1; SameSite=Strict", "lax=2; SameSite=Lax", "default=3", from: url)
    }

    private var url: String { "http://127.0.0.1:\(server.port)/" }

    @Test("`header` prints the cookies of a request in the context that the options name", arguments: cases)
    func header(options: [String], cookies: String) throws {
        let result = try home.start(["header"] + options + [url]).wait()
        #expect(result.text == (cookies.isEmpty ? "" : "Cookie: \(cookies)\n"))
    }

    @Test("`curl` sends a request with the cookies of that context, and its method", arguments: cases)
    func curl(options: [String], cookies: String) throws {
        let result = try home.start(["curl"] + options + ["--", "--silent", "--max-time", "30", url]).wait()
        #expect(result.status == 0, "\(result.messages)")
        let request = try #require(server.requests.last)
        #expect(request.values("cookie") == (cookies.isEmpty ? [] : [Array(cookies.utf8)]))
        let method = options.firstIndex(of: "--method").map { options[$0 + 1].uppercased() } ?? "GET"
        #expect(request.method == method)
    }

    @Test("A method that is not one is wrong usage", arguments: ["header", "get", "explain"])
    func invalidMethod(command: String) throws {
        let name = command == "get" ? ["lax"] : []
        let result = try home.start([command] + name + ["--method", "FOO BAR", url]).wait()
        #expect(result.status == 64 && result.messages.contains("--method: this is not an HTTP method"))
    }

    @Test("The method in curl's own arguments wins")
    func curlMethod() throws {
        let result = try home.crumb(
            "curl", "--method", "PUT", "--", "--silent", "--max-time", "30", "--request", "PATCH", url)
        #expect(result.status == 0 && server.requests.map(\.method) == ["PATCH"])
    }

    @Test("`explain` lists the cookies of a request in that context", arguments: cases)
    func explain(options: [String], cookies: String) throws {
        let result = try home.start(["explain", "--json"] + options + [url]).wait()
        let included = try #require(try result.objects().first?["included"] as? [[String: Any]])
        #expect(included.compactMap { $0["name"] as? String } == ContextOptionTests.names(cookies))
    }

    @Test(
        "A page that fills the tab sees all of its cookies, however it was reached; another site's frame none",
        arguments: [
            ([], all), (["--initiator", "http://other.example/"], all),
            (["--initiator", "http://other.example/", "--method", "POST"], all),
            (["--top-level", "http://other.example/", "--navigation"], all), (["--no-navigation"], all),
            (["--top-level", "http://127.0.0.1/"], all), (["--top-level", "http://other.example/"], ""),
            (["--top-level", "http://127.0.0.1/", "--initiator", "http://other.example/"], ""),
        ])
    func script(options: [String], cookies: String) throws {
        let expected = ContextOptionTests.names(cookies)
        let script = try home.start(["script", "--json"] + options + [url]).wait()
        let carried = try #require(try script.objects().first?["cookies"] as? [[String: Any]])
        #expect(carried.compactMap { $0["name"] as? String } == expected)
        let explanation = try home.start(["explain", "--script", "--json"] + options + [url]).wait()
        let seen = try #require(try explanation.objects().first?["included"] as? [[String: Any]])
        #expect(seen.compactMap { $0["name"] as? String } == expected)
    }

    private static func names(_ cookies: String) -> [String] {
        cookies.isEmpty ? [] : cookies.components(separatedBy: "; ").map { String($0.prefix { $0 != "=" }) }
    }
}
