import CookieModel
import DriverSupport
import Foundation
import SessionStore
import Synchronization

/// Responses with one Set-Cookie line into an empty database on disk at durability `full`, by 32 threads at once, each
/// waiting until its response is on disk. By the wall clock: it is the disk that takes the time.
struct JarFullSubject: BenchmarkSubject {
    private static let threads = 32

    private let workload: Workload
    private let responses: [ReceivedResponse]

    init(_ workload: Workload) throws {
        self.workload = workload
        // Peers take their rows out of it.
        try workload.makeDatabaseUnlessThere()
        responses = try workload.responses()
    }

    mutating func run() throws -> Repetition {
        let scratch = try ScratchDatabase(workload, durability: .full)
        let jar = scratch.jar
        let responses = responses
        let group = DispatchGroup()
        let failures = Failures()
        let start = ProcessClock.wallSeconds
        for number in 0..<Self.threads {
            group.enter()
            // Threads of our own: a pool would have no more of them than the machine has cores.
            Thread.detachNewThread {
                defer { group.leave() }
                do throws(SessionStoreError) {
                    for index in stride(from: number, to: responses.count, by: Self.threads) {
                        try jar.receive(responses[index], now: .present)
                    }
                } catch {
                    failures.first.withLock { $0 = $0 ?? error }
                }
            }
        }
        group.wait()
        let seconds = ProcessClock.wallSeconds - start
        if let failure = failures.first.withLock({ $0 }) { throw failure }
        return Repetition(seconds: seconds, operations: responses.count, facts: [])
    }

    /// What went wrong on any thread.
    private final class Failures: Sendable {
        let first = Mutex<SessionStoreError?>(nil)
    }
}
