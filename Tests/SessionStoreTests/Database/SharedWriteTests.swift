import CookieModel
import Dispatch
import Platform
import Synchronization
import TestSupport
import Testing

@testable import SessionStore

@Suite(
    "Tasks whose responses share a commit",
    .enabled(if: TestServer.shared == nil, "A server runs transactions side by side"), .timeLimit(.minutes(10)))
struct SharedWriteTests {
    private let folder = TemporaryFolder()
    private let database: SessionDatabase

    init() throws {
        database = try Given.database(folder.file("crumb.sqlite"))
    }

    /// Runs calls while the writers' thread is busy, until all of them wait for it.
    private func run<Result: Sendable>(
        _ calls: [@Sendable () async throws -> Result], cancelling cancelled: Set<Int> = []
    ) async throws -> [Swift.Result<Result, any Error>] {
        let lane = try #require(database.writers as? WorkerLane)
        let mayGoOn = DispatchSemaphore(value: 0)
        defer { mayGoOn.signal() }
        await withCheckedContinuation { isBusy in
            lane.add {
                isBusy.resume()
                mayGoOn.wait()
            }
        }
        var tasks: [Task<Result, any Error>] = []
        for call in calls {
            tasks.append(Task { try await call() })
            // In this order.
            let count = tasks.count
            try await tasks.wait { lane.waitingCount == count }
        }
        for index in cancelled { tasks[index].cancel() }
        mayGoOn.signal()
        var results: [Swift.Result<Result, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }

    private static func response(_ line: String) throws -> ReceivedResponse {
        ReceivedResponse(context: try Given.context(), setCookie: [Octets(line)])
    }

    /// A call that receives a response, and returns the outcomes.
    private static func receiving(
        _ line: String, by jar: CookieJar, toEnd: Bool = false
    ) throws -> @Sendable () async throws -> [StorageDecision.Outcome] {
        let response = try response(line)
        return {
            toEnd
                ? try await jar.receiveToEnd(response, at: Given.now).map(\.outcome)
                : try await jar.receive(response, at: Given.now).map(\.outcome)
        }
    }

    @Test("All responses that wait for the thread are one commit, whatever their jars, and each sees those before it")
    func together() async throws {
        let jars = try (0..<4).map { try database.jar(named: "jar\($0)", now: Given.now) }
        let calls = try (0..<24).map { index in
            try Self.receiving("c=\(index); Path=/", by: jars[index % 4], toEnd: index % 3 == 0)
        }
        let before = database.writeLoad
        let results = try await run(calls)
        let after = database.writeLoad
        #expect((after.commits - before.commits, after.writers - before.writers) == (1, 24))
        #expect(try results.map { try $0.get() } == (0..<24).map { $0 < 4 ? [.stored] : [.replaced] })
        for (index, jar) in jars.enumerated() {
            let stored = try Given.database(folder.file("crumb.sqlite")).existingJar(named: jar.name)
            #expect(try stored?.pairs() == ["c=\(20 + index)"])
        }
    }

    @Test("A response that cannot be stored, and one whose task was cancelled, do not affect the others of the commit")
    func alone() async throws {
        let jar = try database.jar(now: Given.now)
        let removed = try database.jar(named: "removed", now: Given.now)
        try await database.removeJar(named: "removed")
        let before = database.writeLoad.commits
        let results = try await run(
            [
                Self.receiving("a=1; Path=/", by: jar), Self.receiving("a=1; Path=/", by: removed),
                Self.receiving("b=1; Path=/", by: jar), Self.receiving("c=1; Path=/", by: jar),
            ], cancelling: [2])
        #expect(database.writeLoad.commits - before == 1)
        #expect(throws: SessionStoreError.self) { try results[1].get() }
        #expect(throws: CancellationError.self) { try results[2].get() }
        #expect(try [results[0].get(), results[3].get()] == [[.stored], [.stored]])
        #expect(try jar.pairs() == ["a=1", "c=1"])
    }

    @Test("Other calls that write run after those that were passed before, and before those that were passed later")
    func order() async throws {
        let jar = try database.jar(now: Given.now)
        let names = Mutex<[String]>([])
        let results = try await run([
            Self.receiving("a=1; Path=/", by: jar), Self.receiving("b=1; Path=/", by: jar),
            { @Sendable [database] in
                try await database.writing {
                    let found = try jar.cookies().readable.map(\.name.description)
                    names.withLock { $0 = found }
                    return []
                }
            }, Self.receiving("c=1; Path=/", by: jar),
        ])
        #expect(try results.map { try $0.get().count } == [1, 1, 0, 1])
        #expect(names.withLock { $0 } == ["a", "b"])
        #expect(try jar.pairs() == ["a=1", "b=1", "c=1"])
    }

    @Test("What the rules reject is recorded, and evictions are reported, as for a response that is stored alone")
    func afterCommit() async throws {
        var policy = CookiePolicy()
        policy.limits.totalCookies = 2
        let jar = try database.jar(policy: policy, now: Given.now)
        let lines = ["a=1; Path=/", "b=1; Path=/", "__Host-x=1; Path=/", "c=1; Path=/"]
        let evicted = try await run(
            lines.map { line in
                let response = try Self.response(line)
                return { try await jar.receive(response, at: Given.now).flatMap(\.evicted).map(\.cookie.name) }
            })
        #expect(try evicted.map { try $0.get() } == [[], [], [], ["a"]])
        #expect(try jar.rejections(site: "example.com").map(\.name) == ["__Host-x"])
    }
}
