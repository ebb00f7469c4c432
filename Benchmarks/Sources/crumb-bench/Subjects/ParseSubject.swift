import CookieModel
import DriverSupport

/// Set-Cookie lines through the parser, every part of the result looked at; nothing is decided or kept.
struct ParseSubject: BenchmarkSubject {
    private var lines: [Octets] = []
    private var checksum = 0

    init(_ workload: Workload) throws {
        try workload.lines.forEachPair { lines.append(Octets(Array($1))) }
    }

    mutating func run() -> Repetition {
        var cookies = 0
        var octets = 0
        let start = ProcessClock.cpuSeconds
        for line in lines {
            if case .cookie(let cookie) = SetCookie.parse(line) {
                cookies += 1
                octets += cookie.name.count + cookie.value.count
                // Some parts are made only when they are asked for, which other parsers do at once.
                checksum &+= (cookie.domain?.count ?? 0) &+ Int(cookie.maxAge ?? 0)
                checksum &+= Int(truncatingIfNeeded: cookie.expires?.microseconds ?? 0)
                if case .path(let path) = cookie.path { checksum &+= path.count }
            }
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(
            seconds: seconds, operations: lines.count,
            facts: [("cookies", Double(cookies)), ("octets", Double(octets))])
    }
}
