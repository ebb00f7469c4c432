import CookieModel
import DriverSupport
import PublicSuffix

/// How often an operation asks for memory, on average; no time is taken.
struct AllocationsSubject: BenchmarkSubject {
    private let counter: AllocationCounter
    private var lines: [Octets] = []
    private var jar: [(context: RequestContext, fieldValue: Octets)] = []
    private var urls: [String] = []

    init(_ workload: Workload) throws {
        counter = try AllocationCounter()
        try workload.lines.forEachPair { lines.append(Octets(Array($1))) }
        try workload.jar.forEachPair { url, fieldValue in
            jar.append((RequestContext(url: try RequestURL(Octets(Array(url)))), Octets(Array(fieldValue))))
        }
        urls = try workload.urlTexts()
    }

    mutating func run() throws -> Repetition {
        var facts: [(name: String, value: Double)] = []
        func note(_ name: String, _ operations: Int, _ body: () throws -> Void) rethrows {
            facts.append((name, Double(try counter.allocations(of: body)) / Double(max(operations, 1))))
        }
        var sum = 0
        note("parse", lines.count) {
            for line in lines { if case .cookie(let cookie) = SetCookie.parse(line) { sum &+= cookie.value.count } }
        }
        try note("URL", urls.count) { for url in urls { sum &+= try RequestURL(url).path.count } }

        var store = CookieStore()
        let now = Timestamp.present
        for name in ["store new", "replace"] {
            note(name, jar.count) {
                for line in jar { store.receive(line.fieldValue, in: line.context, now: now) }
            }
        }

        let contexts = try urls.map { RequestContext(url: try RequestURL($0)) }
        var hits: [RequestContext] = []
        var misses: [RequestContext] = []
        for context in contexts {
            if store.cookieString(for: context, now: now).isEmpty {
                misses.append(context)
            } else {
                hits.append(context)
            }
        }
        for (name, contexts) in [("header hit", hits), ("header miss", misses)] {
            note(name, contexts.count) {
                for context in contexts { sum &+= store.cookieString(for: context, now: now).count }
            }
        }

        let hosts = contexts.map(\.url.host.octets)
        let shouted = hosts.map { Octets(String(decoding: $0, as: UTF8.self).uppercased()) }
        for (name, hosts) in [("host", hosts), ("host in upper case", shouted)] {
            note(name, hosts.count) { for host in hosts { sum &+= WebHost(host)?.octets.count ?? 0 } }
        }
        let list = PublicSuffixList.bundled
        note("public suffix", hosts.count) {
            for host in hosts { sum &+= host.withSpan { list.publicSuffixLength(of: $0) } }
        }
        return Repetition(operations: sum == 0 ? 0 : jar.count, facts: facts)
    }
}
