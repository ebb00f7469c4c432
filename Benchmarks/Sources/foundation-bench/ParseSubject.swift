import DriverSupport
import Foundation
import FoundationNetworking

/// Set-Cookie lines through HTTPCookie.
struct ParseSubject: BenchmarkSubject {
    /// Slow enough that a few lines say all.
    private static let mostLines = 3000
    private var lines: [(url: URL, fieldValue: String)] = []

    init(_ workload: Workload) throws {
        try workload.lines.forEachPair { url, fieldValue in
            guard lines.count < Self.mostLines, let url = URL(string: String(decoding: url, as: UTF8.self))
            else { return }
            lines.append((url, String(decoding: fieldValue, as: UTF8.self)))
        }
    }

    mutating func run() -> Repetition {
        var octets = 0
        let start = ProcessClock.cpuSeconds
        for line in lines {
            let parsed = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line.fieldValue], for: line.url)
            for cookie in parsed { octets += cookie.name.utf8.count + cookie.value.utf8.count }
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(seconds: seconds, operations: octets == 0 ? 0 : lines.count, facts: [])
    }
}
