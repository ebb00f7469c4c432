import CookieModel
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuth2
import SessionOperations
import SessionStore
import Testing

@testable import SessionService

@Suite("The guide to the API")
struct GuideTests {
    /// A request of the guide, and its answer.
    private struct Example {
        let method: HTTPRequest.Method
        let uri: String
        let body: String?
        let status: Int
        let answer: String
    }

    private static func guide() throws -> String {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        return try String(contentsOf: package.appending(path: "docs/service.md").standardized, encoding: .utf8)
    }

    private static func examples() throws -> [Example] {
        try guide().components(separatedBy: "```http\n").dropFirst().map { text in
            let parts = (text.components(separatedBy: "\n```").first ?? "").components(separatedBy: "\n\n")
            let request = parts[0].components(separatedBy: "\n")
            let line = request[0].split(separator: " ")
            let answer = parts[1].components(separatedBy: "\n")
            return Example(
                method: try #require(HTTPRequest.Method(String(line[0]))), uri: String(line[1]),
                body: request.count > 1 ? request[1] : nil, status: try #require(Int(answer[0])), answer: answer[1])
        }
    }

    @Test("The guide's examples get the documented answers, one after the other")
    func examples() async throws {
        let examples = try Self.examples()
        #expect(examples.count > 4)
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(path: "", keys: .key(key), durability: .memory, now: ServiceFixture.now)
        _ = try database.tokens.put(
            TokenSet(accessToken: Secret("t1"), receivedAt: ServiceFixture.now.advanced(bySeconds: -60)),
            for: Profile(id: ProfileID(), name: "work"), now: ServiceFixture.now)
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCaller(caller: Caller(name: "test", grant: .everything)))
        SessionAPI(database: database, tokens: ServiceFixture.tokens(of: database)) { ServiceFixture.now }.addRoutes(
            to: router)
        try await Application(router: router).test(.router) { client in
            let client = ServiceClient(client: client)
            for example in examples {
                let answer = try await client.send(example.method, example.uri, example.body)
                #expect(answer.status == example.status, "\(example.uri)")
                #expect(answer.text == example.answer, "\(example.uri)")
            }
        }
    }

    @Test("The guide's table has every code of the API's sources")
    func codes() throws {
        let guide = try Self.guide()
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources")
        let folders = ["SessionService/API", "SessionOperations/Operations"].map { sources.appending(path: $0) }
        let files = try folders.flatMap {
            try #require(FileManager.default.enumerator(at: $0.standardized, includingPropertiesForKeys: nil))
                .compactMap { $0 as? URL }
        }
        let pattern = /(?:ServiceFailure|OperationError)\(\s*\.(\w+),/
        let codes = Dictionary(uniqueKeysWithValues: FailureKind.allCases.map { ("\($0)", $0.code) })
        var count = 0
        for file in files where file.pathExtension == "swift" {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: pattern) {
                count += 1
                let code = try #require(codes[String(match.output.1)], "\(match.output.1)")
                #expect(guide.contains(code), "\(code)")
            }
        }
        #expect(count > 10)
    }
}
