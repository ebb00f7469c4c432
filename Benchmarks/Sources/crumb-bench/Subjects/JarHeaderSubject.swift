import CookieModel
import DriverSupport
import SessionStore

/// Cookie headers for URL texts from a jar on disk that was asked for them before.
struct JarHeaderSubject: BenchmarkSubject {
    private let jar: CookieJar
    private let urls: [String]

    init(_ workload: Workload) throws {
        jar = try SessionDatabase(workload).jar(now: .present)
        urls = try workload.urlTexts()
        // Where there is but one repetition, it is to be a warm one too.
        for url in urls { _ = try header(url) }
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
            seconds: seconds, operations: urls.count, facts: [("hits", Double(hits)), ("octets", Double(octets))])
    }

    mutating func headers() throws -> [[UInt8]]? {
        try urls.map { try header($0).bytes }
    }

    @inline(__always)
    private func header(_ url: String) throws -> Octets {
        try jar.cookieString(for: RequestContext(url: try RequestURL(url)), now: .present)
    }
}
