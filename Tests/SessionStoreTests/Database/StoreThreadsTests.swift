import CookieModel
import Foundation
import Platform
import SQLiteEngine
import Synchronization
import TestSupport
import Testing

@testable import SessionStore

@Suite(
    "Calls that wait on the store's threads", .serialized,
    .enabled(if: TestServer.shared == nil, "The lock is that of a file"))
@MainActor
struct StoreThreadsTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    private func response(_ line: String) throws -> ReceivedResponse {
        ReceivedResponse(context: try Given.context(), setCookie: [Octets(line)])
    }

    /// A jar with a cookie, whose site is in memory with its value opened.
    private func preparedJar() async throws -> CookieJar {
        let jar = try await Given.database(path).jar(at: Given.now)
        try await jar.receive(response("a=1; Path=/"), at: Given.now)
        for _ in 0..<3 { #expect(try await header(jar) == "a=1") }
        return jar
    }

    private func header(_ jar: CookieJar) async throws -> String {
        try await jar.cookieString(for: Given.context(), at: Given.now).description
    }

    /// Runs `body` while another connection is within a write transaction.
    private func whileLocked(_ body: () async throws -> Void) async throws {
        let other = try Given.database(path)
        let mayEnd = DispatchSemaphore(value: 0)
        defer { mayEnd.signal() }
        await withCheckedContinuation { isHeld in
            Thread {
                try? other.write { _ in
                    isHeld.resume()
                    mayEnd.wait()
                }
            }.start()
        }
        try await body()
    }

    @Test("While another process holds the lock, 64 responses wait, and neither the caller's thread nor reads do")
    func waiting() async throws {
        let jar = try await preparedJar()
        let stored = Mutex(0)
        var writes: [Task<[StorageDecision], any Error>] = []
        try await whileLocked {
            for number in 0..<64 {
                let response = try response("c\(number)=1; Path=/")
                writes.append(
                    Task {
                        defer { stored.withLock { $0 += 1 } }
                        return try await jar.receive(response, at: Given.now)
                    })
            }
            // It runs after all of them have begun.
            #expect(await Task { 42 }.value == 42)
            #expect(try await header(jar) == "a=1")
            let other = try Given.context("https://other.example/")
            #expect(try await jar.retrieve(for: other, at: Given.now).included.isEmpty)
            #expect(try await jar.database.reading { try jar.cookies().readable.count } == 1)
            #expect(try await jar.database.jar(at: Given.now).name == jar.name)
            #expect(stored.withLock { $0 } == 0)
            #expect(WorkerThreads.patient.count <= 4 && WorkerThreads.shared.count <= 4)
        }
        for write in writes { #expect(try await write.value.map(\.outcome) == [.stored]) }
        #expect(try Set(jar.pairs()) == Set(["a=1"] + (0..<64).map { "c\($0)=1" }))
        #expect(WorkerThreads.patient.count <= 4 && WorkerThreads.shared.count <= 4)
    }

    @Test("A read that is in memory does not leave the caller's thread")
    func inline() async throws {
        let jar = try await preparedJar()
        let context = try Given.context()
        for _ in 0..<2 { _ = try await jar.database.jar(at: Given.now) }
        let hasRun = Mutex(false)
        let other = Task { hasRun.withLock { $0 = true } }
        // If these suspend, the main actor runs the other task.
        _ = try await jar.cookieString(for: context, at: Given.now)
        _ = try await jar.retrieve(for: context, at: Given.now)
        _ = try await jar.database.jar(at: Given.now)
        #expect(!hasRun.withLock { $0 })
        await other.value
    }

    @Test("A read sees what was acknowledged before, by any connection")
    func committed() async throws {
        let jar = try await preparedJar()
        try Given.jar(path).receive("b=1; Path=/")
        #expect(try await header(jar) == "a=1; b=1")
        try await jar.receive(response("a=2; Path=/"), at: Given.now)
        #expect(try await header(jar) == "a=2; b=1")
    }

    @Test("A cancelled call returns while the lock is held, and is not made if its turn had not come")
    func cancelled() async throws {
        let jar = try await preparedJar()
        let responses = try ["b", "c", "d"].map { try response("\($0)=1; Path=/") }
        try await whileLocked {
            let waiting = Task { try await jar.receive(responses[0], at: Given.now) }
            let queued = Task { try await jar.receive(responses[1], at: Given.now) }
            await Task {}.value
            queued.cancel()
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await queued.value }
            await #expect(throws: CancellationError.self) { try await waiting.value }
            let late = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await jar.database.reading { try jar.cookies().readable.count }
            }
            await #expect(throws: CancellationError.self) { try await late.value }
        }
        try await jar.receive(responses[2], at: Given.now)
        let names = try jar.cookies().readable.map(\.name.description)
        #expect(names.contains("d") && !names.contains("c"))
    }

    @Test("A response that has arrived is stored, even if its task is cancelled while another process holds the lock")
    func receivedToEnd() async throws {
        let jar = try await preparedJar()
        let response = try response("b=1; Path=/")
        var task: Task<[StorageDecision], any Error>?
        try await whileLocked {
            task = Task { try await jar.receiveToEnd(response, at: Given.now) }
            task?.cancel()
        }
        #expect(try await task?.value.map(\.outcome) == [.stored])
        #expect(try jar.pairs() == ["a=1", "b=1"])
    }

    @Test("The time in the queue counts as waiting for the lock")
    func timeInQueue() async throws {
        let database = try Given.database(path)
        let lane = try #require(database.writers as? WorkerLane)
        let mayGoOn = DispatchSemaphore(value: 0)
        await withCheckedContinuation { hasBegun in
            lane.add {
                hasBegun.resume()
                mayGoOn.wait()
            }
        }
        let call = Task { try await database.writing { WriteLockWait.start } }
        let toEnd = Task { try await database.writingToEnd { () throws in WriteLockWait.start } }
        try await [call, toEnd].wait { lane.waitingCount == 2 }
        let queued = ContinuousClock.now
        mayGoOn.signal()
        for start in [try await call.value, try await toEnd.value] { #expect(try #require(start) <= queued) }
    }

    @Test("A write that has waited for the whole timeout in the queue tries once, and waits no longer")
    func timeoutInQueue() async throws {
        _ = try Given.jar(path)
        // Connections that have not written. If one waited, it would do so for an hour.
        let jars = try (0..<2).map { _ in
            try #require(try Given.database(path, busyTimeout: 3600).existingJar(named: "default"))
        }
        let start = ContinuousClock.now - .seconds(3600)
        try await whileLocked {
            let code = WriteLockWait.$start.withValue(start) { errorCode { try jars[0].receive("b=1; Path=/") } }
            #expect(code == .databaseBusy)
        }
        // After the other connection.
        try jars[0].receive("b=2; Path=/")
        let decisions = try WriteLockWait.$start.withValue(start) { try jars[1].receive("c=3; Path=/") }
        #expect(decisions.map(\.outcome) == [.stored])
    }

    @Test("Writers of one database do not keep those of others waiting")
    func independent() async throws {
        let jar = try await preparedJar()
        let others = try (0..<6).map { try Given.database(folder.file("other\($0).sqlite")).jar(now: Given.now) }
        let blocked = try response("b=1; Path=/")
        var writes: [Task<[StorageDecision], any Error>] = []
        try await whileLocked {
            for _ in 0..<16 { writes.append(Task { try await jar.receive(blocked, at: Given.now) }) }
            for other in others {
                let decisions = try await other.receive(response("a=1"), at: Given.now)
                #expect(decisions.map(\.outcome) == [.stored])
            }
        }
        for write in writes { _ = try await write.value }
        #expect(try jar.pairs() == ["a=1", "b=1"])
    }

    @Test("When a cookie was last sent is recorded, although the answer does not wait for that")
    func access() async throws {
        let jar = try await preparedJar()
        let later = Given.now.advanced(bySeconds: 100_000)
        #expect(try await jar.cookieString(for: Given.context(), at: later).description == "a=1")
        // After what was to be written before.
        let recorded = try await jar.database.writing {
            try jar.database.number("SELECT last_access_at FROM cookie WHERE name = x'61'")
        }
        #expect(recorded == later.microseconds)
    }
}

@Suite("Threads for calls that block")
struct WorkerLaneTests {
    @Test("A lane runs its jobs one after the other, in order, and occupies one thread")
    func order() async {
        let threads = WorkerThreads(limit: 3)
        let (lane, other) = (WorkerLane(on: threads), WorkerLane(on: threads))
        let mayGoOn = DispatchSemaphore(value: 0)
        let seen = Mutex<(order: [Int], running: Int, most: Int)>(([], 0, 0))
        lane.add { mayGoOn.wait() }
        for number in 0..<200 {
            lane.add {
                seen.withLock {
                    $0.running += 1
                    $0.most = max($0.most, $0.running)
                }
                seen.withLock {
                    $0.order.append(number)
                    $0.running -= 1
                }
            }
        }
        // The first job still blocks the lane.
        #expect(await other.run { 1 } == 1)
        #expect(seen.withLock { $0.order.isEmpty })
        mayGoOn.signal()
        await lane.run {}
        #expect(seen.withLock { $0.order } == Array(0..<200))
        #expect(seen.withLock { $0.most } == 1)
        #expect(threads.count <= 3)
    }

    @Test("Work whose task was cancelled before its turn is not done")
    func cancelled() async throws {
        let lane = WorkerLane(on: WorkerThreads(limit: 1))
        let mayGoOn = DispatchSemaphore(value: 0)
        lane.add { mayGoOn.wait() }
        let isDone = Mutex(false)
        let task = Task { try await lane.runUnlessCancelled { isDone.withLock { $0 = true } } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayGoOn.signal()
        await lane.run {}
        #expect(!isDone.withLock { $0 })
    }

    @Test("Work that runs to its end ignores a cancellation, and its error keeps its type")
    func toEnd() async {
        let lane = WorkerLane(on: WorkerThreads(limit: 1))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await lane.run { 7 }
        }
        #expect(await task.value == 7)
        let error = await #expect(throws: SessionStoreError.self) {
            try await lane.run { () throws(SessionStoreError) in throw SessionStoreError(.databaseBusy, "x", "busy") }
        }
        #expect(error?.code == .databaseBusy)
    }
}
