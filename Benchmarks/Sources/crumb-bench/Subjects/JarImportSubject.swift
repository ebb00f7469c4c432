import CookieModel
import DriverSupport
import SessionStore

/// The lines of a jar, each from URL text and field value to a sealed row with its journal entry in an empty database
/// on disk, all in one transaction. By the wall clock: rows are written on one thread while the next lines are decided
/// on by another.
struct JarImportSubject: BenchmarkSubject {
    private let workload: Workload
    private var lines: [(url: String, fieldValue: Octets)] = []

    init(_ workload: Workload) throws {
        self.workload = workload
        // Peers take their rows out of it.
        try workload.makeDatabaseUnlessThere()
        try workload.jar.forEachPair { url, fieldValue in
            lines.append((String(decoding: url, as: UTF8.self), Octets(Array(fieldValue))))
        }
    }

    mutating func run() throws -> Repetition {
        let scratch = try ScratchDatabase(workload)
        let start = ProcessClock.wallSeconds
        try scratch.jar.withBatch(now: .present) { batch throws(SessionStoreError) in
            for line in lines {
                guard let url = try? RequestURL(line.url) else { continue }
                let response = ReceivedResponse(context: RequestContext(url: url), setCookie: [line.fieldValue])
                try batch.receive(response, at: .present)
            }
        }
        let seconds = ProcessClock.wallSeconds - start
        return Repetition(seconds: seconds, operations: lines.count, facts: [])
    }
}
