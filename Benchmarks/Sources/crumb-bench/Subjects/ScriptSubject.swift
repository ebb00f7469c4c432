import CookieModel
import DriverSupport
import RequestDecoration
import SessionStore

/// The injection script for a page with 50 cookies, out of a jar on disk, by the wall clock.
struct ScriptSubject: BenchmarkSubject {
    private static let cookieCount = 50
    private static let scripts = 200

    private let database: ScratchDatabase
    private let access: RequestContext

    init(_ workload: Workload) throws {
        database = try ScratchDatabase(workload)
        let page = RequestContext(url: try RequestURL("https://www.example.com/account/orders"))
        // As a page has them: of several kinds, set at different times.
        let attributes = [
            "Path=/; SameSite=Lax", "Domain=example.com; Path=/; Secure; SameSite=None", "Path=/; Secure",
        ]
        let lines = (0..<Self.cookieCount).map { index in
            Octets(
                "preference-\(index)=\(String(repeating: "v", count: 40))-\(index); \(attributes[index % 3])"
                    + (index % 4 == 0 ? "" : "; Max-Age=\(86_400 * (index + 1))"))
        }
        _ = try database.jar.receive(ReceivedResponse(context: page, setCookie: lines), now: .present)
        access = page.scriptAccess
        // Where there is but one repetition, it is to be a warm one too.
        guard try script().cookies.count == Self.cookieCount else { throw DriverError.skipped("lost cookies") }
    }

    mutating func run() throws -> Repetition {
        var octets = 0
        let start = ProcessClock.wallSeconds
        for _ in 0..<Self.scripts { octets += try script().source.utf8.count }
        let seconds = ProcessClock.wallSeconds - start
        return Repetition(
            seconds: seconds, operations: Self.scripts, facts: [("scriptOctets", Double(octets / Self.scripts))])
    }

    @inline(__always)
    private func script() throws -> InjectionScript {
        let retrieval = try database.jar.retrieve(for: access, now: .present)
        return InjectionScript([InjectionScript.Page(retrieval, in: access)])
    }
}
