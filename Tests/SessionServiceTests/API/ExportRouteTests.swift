import CookieModel
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations
import SessionStore
import Synchronization
import Testing

@testable import SessionService

@Suite("Exports")
struct ExportRouteTests {
    /// A jar with a cookie at so many sites.
    private static func fixture(sites: Int) throws -> ServiceFixture {
        let fixture = try ServiceFixture()
        let jar = try fixture.database.jar(named: "many", now: ServiceFixture.now)
        _ = try jar.withBatch(now: ServiceFixture.now) { batch throws(SessionStoreError) in
            for site in 0..<sites {
                guard let url = try? RequestURL("https://site\(site).example\(site).test/") else { continue }
                let value = String(repeating: "v", count: 400)
                let context = CookieModel.RequestContext(url: url)
                _ = try batch.receive(
                    ReceivedResponse(context: context, setCookie: [Octets("c=\(value)")]), at: ServiceFixture.now)
            }
        }
        return fixture
    }

    private static func export(_ fixture: ServiceFixture, _ body: String) async throws -> Response {
        let route = try #require(fixture.api.routes.first { $0.path.hasSuffix("/export") })
        var context = ServiceRequestContext.owner
        context.coreContext.parameters.append(key: "jar", value: "many")
        let request = Request(
            head: HTTPRequest(
                method: .post, scheme: "http", authority: "localhost", path: "/",
                headerFields: [.contentType: "application/json"]),
            body: RequestBody(buffer: ByteBuffer(string: body)))
        return try await route.respond(to: request, in: context)
    }

    @Test(
        "An export arrives in small pieces, whatever the size of the jar", arguments: ["json", "netscape", "har"])
    func pieces(format: String) async throws {
        let fixture = try Self.fixture(sites: 2000)
        let response = try await Self.export(fixture, #"{"format":"\#(format)"}"#)
        let pieces = Pieces()
        try await response.body.write(pieces)
        let sizes = pieces.sizes
        #expect(sizes.count > 10 && sizes.reduce(0, +) > 2000 * 400)
        #expect((sizes.max() ?? 0) < 2 * ExportStream.pieceByteCount)
        #expect(pieces.text.components(separatedBy: "vvvv").count > 2000)
        let field = response.headers[try #require(HTTPField.Name("Crumb-Export"))]
        #expect(field?.hasPrefix("written=2000, expired=0") == true)
    }

    @Test("An export is created while it is read, so cookies that are removed meanwhile are not included")
    func lazily() async throws {
        let fixture = try Self.fixture(sites: 2000)
        let response = try await Self.export(fixture, #"{"format":"json"}"#)
        let pieces = Pieces {
            _ = try fixture.database.clearJar(named: "many", now: ServiceFixture.now)
        }
        try await response.body.write(pieces)
        #expect((1..<400).contains(pieces.text.components(separatedBy: "\n").count - 1))
    }

    @Test("An export's report is available alone, or before the file")
    func reports() async throws {
        let fixture = try Self.fixture(sites: 300)
        let alone = Pieces()
        try await Self.export(fixture, #"{"format":"json","report":true}"#).body.write(alone)
        let before = Pieces()
        try await Self.export(fixture, #"{"format":"json","reportFirst":true}"#).body.write(before)
        let plain = Pieces()
        try await Self.export(fixture, #"{"format":"json"}"#).body.write(plain)
        #expect(before.text == alone.text + "\n" + plain.text && alone.text.contains(#""written":300"#))
        #expect(plain.text.components(separatedBy: "\n").count == 301)
    }
}

/// Takes what is written, and does something after the first piece.
private final class Pieces: ResponseBodyWriter, Sendable {
    private let taken = Mutex<[ByteBuffer]>([])
    private let afterFirst: @Sendable () throws -> Void

    init(afterFirst: @escaping @Sendable () throws -> Void = {}) {
        self.afterFirst = afterFirst
    }

    var sizes: [Int] { taken.withLock { $0.map(\.readableBytes) } }
    var text: String { taken.withLock { $0.map { String(buffer: $0) }.joined() } }

    func write(_ part: ByteBuffer) async throws {
        let count = taken.withLock { taken in
            taken.append(part)
            return taken.count
        }
        if count == 1 { try afterFirst() }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}

    @Test(
        "An export of a site has its domain and the names below it",
        arguments: [
            ("example.com", true), ("www.example.com", true), ("a.www.example.com", false), ("com", true),
            ("xample.com", false), ("www.example.co", false), ("other.test", false),
        ])
    func sites(site: String, isAdmitted: Bool) throws {
        let host = try #require(WebHost(site))
        let other = try #require(WebHost("other.example"))
        let cookie = CookieRecord(
            name: Octets("a"), value: Octets("1"), domain: "www.example.com", isHostOnly: true)
        let selection = CookieSelection(sites: [other, host], names: [], isHTTPOnly: nil, isPersistent: nil)
        #expect(selection.admits(cookie) == isAdmitted)
    }
}
