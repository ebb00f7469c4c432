import CookieModel
import Dispatch
import Foundation
import NIOPosix
import TestSupport
import Testing

@testable import SessionService
@testable import SessionStore

@Suite("Responses that wait for the same jar are written together")
struct ResponseQueueTests {
    private let folder = TemporaryFolder()

    private func database(_ name: String = "crumb.sqlite") throws -> SessionDatabase {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        return try SessionDatabase(path: folder.file(name), keys: .key(key), now: ServiceFixture.now)
    }

    private func response(_ lines: String..., url: String = "https://a.test/") throws -> ReceivedResponse {
        ReceivedResponse(
            context: CookieModel.RequestContext(url: try RequestURL(url)), setCookie: lines.map { Octets($0) })
    }

    /// Hands in responses while nothing is written, so that they wait together, and returns what comes of each.
    private func receive(
        _ responses: [ReceivedResponse], by jar: (Int) -> CookieJar, meanwhile: () throws -> Void = {}
    ) async throws -> [Result<[StorageDecision], any Error>] {
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        // Its threads are busy until all wait.
        let gate = DispatchSemaphore(value: 0)
        for _ in 0..<2 { threads.submit { _ in gate.wait() } }
        let queue = ResponseQueue(writers: threads)
        let calls = responses.enumerated().map { index, response in
            let (jar, now) = (jar(index), ServiceFixture.now)
            return Task { try await queue.receive(response, at: now, by: jar, now: now) }
        }
        do {
            defer { for _ in 0..<2 { gate.signal() } }
            try await calls.wait { queue.waitingCount == responses.count }
            try meanwhile()
        }
        var results: [Result<[StorageDecision], any Error>] = []
        for call in calls { results.append(await call.result) }
        try await threads.shutdownGracefully()
        return results
    }

    @Test("Each queued response gets its own decisions, and all of a jar share one commit")
    func together() async throws {
        let database = try database()
        let jars = try ["a", "b"].map { try database.createJar(named: $0, now: ServiceFixture.now) }
        let position = try jars[0].latestChange()
        let responses = try (0..<40).map { number in
            number % 5 == 0
                ? try response("n\(number)=1; Path=/", "__Host-x=1; Domain=a.test")
                : try response("n\(number)=1; Path=/; Secure")
        }
        let commits = database.writeLoad.commits
        let answers = try await receive(responses) { jars[$0 % 2] }
        // Of each jar at most one.
        #expect(1...2 ~= database.writeLoad.commits - commits)
        for (number, answer) in answers.enumerated() {
            let decisions = try answer.get()
            #expect(decisions.map(\.outcome) == (number % 5 == 0 ? [.stored, .rejected] : [.stored]))
            #expect(decisions.first?.cookie?.name == Octets("n\(number)"))
        }
        for (index, jar) in jars.enumerated() {
            let names = Set(try jar.cookies().readable.map(\.name))
            #expect(names == Set((0..<40).filter { $0 % 2 == index }.map { Octets("n\($0)") }))
        }
        #expect(try jars[0].latestChange() == position + 20)
    }

    @Test("A queued response that fails does not affect the others")
    func failure() async throws {
        let database = try database()
        let present = try database.createJar(named: "present", now: ServiceFixture.now)
        let removed = try database.createJar(named: "removed", now: ServiceFixture.now)
        try await database.removeJar(named: "removed")
        let responses = try (0..<6).map { try response("n\($0)=1; Path=/") }
        let answers = try await receive(responses) { $0 == 3 ? removed : present }
        for (number, answer) in answers.enumerated() {
            #expect(((try? answer.get()) == nil) == (number == 3))
        }
        #expect(try present.cookies().readable.count == 5)
    }

    @Test("If the database fails, all queued responses get the error, and later ones are written")
    func lost() async throws {
        let database = try database()
        let jar = try database.createJar(named: "j", now: ServiceFixture.now)
        let responses = try (0..<6).map { try response("n\($0)=1; Path=/") }
        let away = folder.file("away.sqlite")
        let answers = try await receive(responses, by: { _ in jar }) {
            try FileManager.default.moveItem(atPath: folder.file("crumb.sqlite"), toPath: away)
        }
        for answer in answers {
            #expect(throws: SessionStoreError.self) { try answer.get() }
        }
        try FileManager.default.moveItem(atPath: away, toPath: folder.file("crumb.sqlite"))
        let later = try await receive([try response("later=1; Path=/")], by: { _ in jar })
        #expect(try later.first?.get().map(\.outcome) == [.stored])
        #expect(try jar.cookies().readable.map(\.name) == ["later"])
    }

    @Test("Cookies over a jar's total are reported with the response that evicted them")
    func total() async throws {
        let database = try database()
        var settings = JarSettings()
        settings.limits.totalCookies = 2
        let jar = try database.createJar(named: "j", settings: settings, now: ServiceFixture.now)
        let responses = try (0..<5).map { try response("n\($0)=1; Path=/", url: "https://a\($0).test/") }
        let answers = try await receive(responses) { _ in jar }
        let evicted = try answers.map { try $0.get().flatMap(\.evicted).count }
        #expect(evicted.reduce(0, +) == 3 && evicted.allSatisfy { $0 <= 1 })
        #expect(try jar.cookies().readable.count == 2)
    }

    @Test(
        "On a server, queued responses of several jars share one commit, and one that fails does not affect the others",
        .enabled(if: SharedDatabase.server != nil, "CRUMB_TEST_POSTGRESQL names no server"))
    func server() async throws {
        let database = try SharedDatabase().open()
        let jars = try (0..<8).map { number in
            let jar = try database.createJar(named: "jar \(number)", now: ServiceFixture.now)
            try jar.receive(try response("known=1; Path=/"), now: ServiceFixture.now)
            return jar
        }
        let responses = try (0..<40).map { try response("n\($0)=1; Path=/") }
        let commits = try #require(database.serverLoad).commits
        for answer in try await receive(responses, by: { jars[$0 % 8] }) {
            #expect(try answer.get().map(\.outcome) == [.stored])
        }
        #expect(try #require(database.serverLoad).commits == commits + 1)
        for (index, jar) in jars.enumerated() {
            let names = Set(try jar.cookies().readable.map(\.name))
            #expect(names == Set(["known"] + (0..<40).filter { $0 % 8 == index }.map { Octets("n\($0)") }))
        }

        try await database.removeJar(named: "jar 3")
        let later = try await receive(responses, by: { jars[$0 % 8] })
        for (number, answer) in later.enumerated() {
            #expect(((try? answer.get()) == nil) == (number % 8 == 3))
        }
        // The cookies of a site that is not known have to be read.
        let elsewhere = try (0..<8).map { try response("n\($0)=1; Path=/", url: "https://b.test/") }
        for answer in try await receive(elsewhere, by: { jars[$0 % 3] }) {
            #expect(try answer.get().map(\.outcome) == [.stored])
        }
    }

    @Test("Without writers, no job of the queue waits")
    func stopped() async throws {
        let jar = try database().createJar(named: "j", now: ServiceFixture.now)
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        try await threads.shutdownGracefully()
        let queue = ResponseQueue(writers: threads)
        let response = try response("a=1")
        for _ in 0..<2 {
            await #expect(throws: CancellationError.self) {
                try await queue.receive(response, at: ServiceFixture.now, by: jar, now: ServiceFixture.now)
            }
        }
    }
}
