import CookieModel
import DriverSupport

/// The lines of a jar, each from URL text and field value to a cookie in a store in memory.
struct StoreSubject: BenchmarkSubject {
    private var lines: [(url: String, fieldValue: Octets)] = []
    private var store = CookieStore()

    init(_ workload: Workload) throws {
        try workload.jar.forEachPair { url, fieldValue in
            lines.append((String(decoding: url, as: UTF8.self), Octets(Array(fieldValue))))
        }
    }

    mutating func run() throws -> Repetition {
        // The last repetition's cookies go before the clock starts.
        store = CookieStore()
        let start = ProcessClock.cpuSeconds
        for line in lines {
            let context = RequestContext(url: try RequestURL(line.url))
            store.receive(line.fieldValue, in: context, now: .present)
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(
            seconds: seconds, operations: lines.count, facts: [("cookies", Double(store.count))])
    }
}
