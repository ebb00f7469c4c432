import CookieModel
import Foundation
import Hummingbird
import HummingbirdTesting
import SessionStore
import Testing

@testable import SessionService

@Suite("The service's routes")
struct DecorateTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private func withService(_ body: @Sendable @escaping (any TestClientProtocol) async throws -> Void) async throws {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(path: "", keys: .key(key), durability: .memory, now: DecorateTests.now)
        let jar = try database.jar(now: DecorateTests.now)
        let url = try RequestURL("https://www.example.com/")
        try jar.receive(
            ReceivedResponse(
                context: CookieModel.RequestContext(url: url),
                setCookie: ["sid=1; Path=/; Secure; HttpOnly", "lax=2; Path=/; SameSite=Lax", "deep=3; Path=/deep"]),
            now: DecorateTests.now)
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCallerIsOwner())
        SessionAPI(database: database) { DecorateTests.now }.addRoutes(to: router)
        try await Application(router: router).test(.router, body)
    }

    private func decorate(
        _ client: any TestClientProtocol, _ body: String, jar: String = "default"
    ) async throws -> (status: Int, text: String) {
        try await client.execute(
            uri: "/v1/jars/\(jar)/decorate", method: .post, body: ByteBuffer(string: body)
        ) { response in
            (Int(response.status.code), String(buffer: response.body))
        }
    }

    @Test("A request gets its Cookie field, and a report")
    func decorated() async throws {
        try await withService { client in
            let answer = try await decorate(client, #"{"url": "https://www.example.com/"}"#)
            #expect(answer.status == 200)
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
            #expect(report["fields"] as? [[String: String]] == [["name": "cookie", "value": "sid=1; lax=2"]])
            #expect(report["included"] as? [String] == ["sid", "lax"])
            let excluded = try #require(report["excluded"] as? [[String: Any]])
            #expect(excluded.map { $0["name"] as? String } == ["deep"])
            #expect(excluded.map { $0["reasons"] as? [String] } == [["path-mismatch"]])
        }
    }

    @Test("The context decides")
    func crossSite() async throws {
        try await withService { client in
            let answer = try await decorate(
                client, #"{"url": "https://www.example.com/", "topLevel": "https://other.test/"}"#)
            #expect(answer.status == 200 && answer.text.contains(#""fields":[]"#))
        }
    }

    @Test(
        "What cannot be answered is an error of its own",
        arguments: [
            (#"{"url": "example.com"}"#, "default", 400), (#"{"url": "ftp://example.com/"}"#, "default", 400),
            ("{}", "default", 400), ("no JSON", "default", 400), (#"{"url": "https://a.test/"}"#, "nobody", 404),
        ])
    func refused(body: String, jar: String, status: Int) async throws {
        try await withService { client in
            let answer = try await decorate(client, body, jar: jar)
            #expect(answer.status == status)
        }
    }
}

/// Lets everyone do everything.
struct EveryCallerIsOwner: RouterMiddleware {
    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.caller = Caller(name: "test", grant: .everything)
        return try await next(request, context)
    }
}
