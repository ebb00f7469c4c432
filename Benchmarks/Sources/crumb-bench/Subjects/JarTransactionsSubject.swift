import CookieModel
import DriverSupport
import SessionStore

/// Responses with one Set-Cookie line into an empty database on disk, one transaction each, at durability `normal`.
struct JarTransactionsSubject: BenchmarkSubject {
    private let workload: Workload
    private let responses: [ReceivedResponse]

    init(_ workload: Workload) throws {
        self.workload = workload
        // Peers take their rows out of it.
        try workload.makeDatabaseUnlessThere()
        responses = try workload.responses()
    }

    mutating func run() throws -> Repetition {
        let scratch = try ScratchDatabase(workload)
        let start = ProcessClock.cpuSeconds
        for response in responses { try scratch.jar.receive(response, now: .present) }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(seconds: seconds, operations: responses.count, facts: [])
    }
}
