import CookieModel
import DriverSupport

/// Cookie headers for URL texts from a store in memory.
struct HeaderSubject: BenchmarkSubject {
    private var store: CookieStore
    private let urls: [String]

    init(_ workload: Workload) throws {
        store = try CookieStore(workload.jar)
        urls = try workload.urlTexts()
    }

    mutating func run() throws -> Repetition {
        var hits = 0
        var octets = 0
        let start = ProcessClock.cpuSeconds
        for url in urls {
            let header = try header(url)
            hits += header.isEmpty ? 0 : 1
            octets += header.count
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(
            seconds: seconds, operations: urls.count,
            facts: [("cookies", Double(store.count)), ("hits", Double(hits)), ("octets", Double(octets))])
    }

    mutating func headers() throws -> [[UInt8]]? {
        var headers: [[UInt8]] = []
        for url in urls { headers.append(try header(url).bytes) }
        return headers
    }

    @inline(__always)
    private mutating func header(_ url: String) throws -> Octets {
        store.cookieString(for: RequestContext(url: try RequestURL(url)), now: .present)
    }
}
