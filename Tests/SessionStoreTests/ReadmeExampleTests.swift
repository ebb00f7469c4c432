import CookieModel
import Foundation
import SessionStore
import Testing

@Suite("The example in the README")
struct ReadmeExampleTests {
    @Test("It does what it says")
    func runs() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let now = Timestamp(seconds: 1_795_000_000)
        #expect(try example(database: "\(folder)/app.sqlite", key: "\(folder)/app.key", now: now) == "Cookie: sid=31d4")
    }

    private func example(database path: String, key: String, now: Timestamp) throws -> String {
        let database = try SessionDatabase(path: path, keys: .file(key), now: now)
        let jar = try database.jar(now: now)

        // A response came: keep what it sets.
        let request = RequestContext(url: try RequestURL("https://example.com/login"))
        try jar.receive(ReceivedResponse(context: request, setCookie: ["sid=31d4; Path=/; Secure; HttpOnly"]), now: now)

        // A request goes out: which cookies does it carry?
        let retrieval = try jar.retrieve(for: RequestContext(url: try RequestURL("https://example.com/")), now: now)
        return "Cookie: \(retrieval.cookieString)"
    }

    @Test("It is the code above")
    func isCompiled() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(
            readme.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "```").first)
        // Two lines differ: where the files lie, and that the test returns what the example prints.
        let expected = block.replacing(
            #"path: "app.sqlite", keys: .file("app.key")"#, with: "path: path, keys: .file(key)"
        )
        .replacing(#"print("Cookie: \(retrieval.cookieString)")"#, with: #"return "Cookie: \(retrieval.cookieString)""#)
        for line in expected.split(separator: "\n") where !line.hasPrefix("import") {
            #expect(source.contains("        \(line)\n"), "not in the test: \(line)")
        }
    }
}
