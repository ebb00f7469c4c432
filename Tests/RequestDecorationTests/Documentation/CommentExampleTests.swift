import CookieModel
import Foundation
import HTTPTypes
import RequestDecoration
import SessionStore
import TestSupport
import Testing

@Suite("The examples in the comments of the main types")
struct CommentExampleTests {
    /// The lines of a file without their indentation and, in comments, the marks.
    private static func lines(_ name: String) throws -> [String] {
        let text = try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            return line.hasPrefix("/// ") ? line.dropFirst(4).trimmingCharacters(in: .whitespaces) : line
        }
    }

    @Test(
        "They are the code below",
        arguments: [
            "CookieModel/Store/CookieStore.swift", "SessionStore/Database/SessionDatabase.swift",
            "SessionStore/Cookies/CookieJar.swift", "RequestDecoration/Decoration/RequestDecorator.swift",
        ])
    func areCompiled(file: String) throws {
        let code = try Self.lines("Tests/RequestDecorationTests/Documentation/CommentExampleTests.swift")
        let comment = try Self.lines("Sources/\(file)").drop { $0 != "```swift" }.dropFirst()
        let example = comment.prefix { $0 != "```" }
        #expect(example.count > 1)
        #expect(code.joined(separator: "\n").contains(example.joined(separator: "\n")), "\(file)")
    }

    @Test("CookieStore")
    func store() throws {
        let now = Timestamp(seconds: 1_800_000_000)
        var store = CookieStore()
        let context = RequestContext(url: try RequestURL("https://www.shop.example/login"))
        let decision = store.receive("sid=31d4; Secure; HttpOnly", in: context, now: now)
        let retrieval = store.retrieve(for: context, now: now)
        print(decision.outcome, retrieval.cookieString)
        #expect(decision.outcome == .stored && retrieval.cookieString == "sid=31d4")
    }

    @Test("CookieJar")
    func jar() async throws {
        let (url, jar) = (try RequestURL("https://www.shop.example/"), try SessionDatabase.inMemory().jar(now: .now))
        func print(_ text: String) { #expect(text == "Cookie: sid=31d4") }
        let context = RequestContext(url: url)
        try await jar.receive(ReceivedResponse(context: context, setCookie: ["sid=31d4; Secure; HttpOnly"]))
        let retrieval = try await jar.retrieve(for: context)
        print("Cookie: \(retrieval.cookieString)")
    }

    @Test("RequestDecorator")
    func decorator() async throws {
        let context = RequestContext(url: try RequestURL("https://www.shop.example/"))
        let jar = try SessionDatabase.inMemory().jar(now: .now)
        let request = HTTPRequest(method: .get, scheme: "https", authority: "www.shop.example", path: "/")
        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            HTTPResponse(status: .ok, headerFields: [.setCookie: "sid=1"])
        }
        let decorator = RequestDecorator(jar: jar)
        let (decorated, report) = try await decorator.decorate(request, in: context)
        let response = try await send(decorated)
        try await decorator.receive(response, in: context)
        #expect(report.cookieOmissions.isEmpty && jar.name == "default")
        #expect(try await jar.retrieve(for: context).cookieString == "sid=1")
    }

    /// Is not run: it would leave files.
    private static func database() async throws -> CookieJar {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        let jar = try await database.jar()
        return jar
    }
}
