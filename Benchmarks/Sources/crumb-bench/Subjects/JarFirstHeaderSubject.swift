import CookieModel
import DriverSupport
import SessionStore

/// The first Cookie header of each site from a jar on disk that was opened anew: nothing of it is in memory, but in the
/// system's cache of files.
struct JarFirstHeaderSubject: BenchmarkSubject {
    private let workload: Workload
    private var urls: [String] = []

    init(_ workload: Workload) throws {
        self.workload = workload
        try workload.makeDatabaseUnlessThere()
        try workload.firstRequests.forEachPair { url, _ in urls.append(String(decoding: url, as: UTF8.self)) }
    }

    mutating func run() throws -> Repetition {
        let jar = try SessionDatabase(workload).jar(now: .present)
        var hits = 0
        var octets = 0
        let start = ProcessClock.cpuSeconds
        for url in urls {
            let header = try jar.cookieString(for: RequestContext(url: try RequestURL(url)), now: .present)
            hits += header.isEmpty ? 0 : 1
            octets += header.count
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(
            seconds: seconds, operations: urls.count, facts: [("hits", Double(hits)), ("octets", Double(octets))])
    }
}
