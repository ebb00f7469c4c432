import DriverSupport
import Foundation
import FoundationNetworking

/// Set-Cookie lines through HTTPCookie.
struct ParseSubject: BenchmarkSubject {
    private var lines: [(url: URL, fieldValue: String)] = []

    init(_ workload: Workload) throws {
        try workload.lines.forEachPair { url, fieldValue in
            guard let url = URL(string: String(decoding: url, as: UTF8.self)) else { return }
            lines.append((url, String(decoding: fieldValue, as: UTF8.self)))
        }
    }

    mutating func run() -> Repetition {
        var cookies = 0
        var octets = 0
        let start = ProcessClock.cpuSeconds
        for line in lines {
            let parsed = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line.fieldValue], for: line.url)
            for cookie in parsed {
                cookies += 1
                octets += cookie.name.utf8.count + cookie.value.utf8.count
            }
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(
            seconds: seconds, operations: lines.count,
            facts: [("cookies", Double(cookies)), ("octets", Double(octets))])
    }
}
