import NIOCore
import Testing

@testable import SessionService

@Suite("Which names requests may be for")
struct HostRuleTests {
    @Test(
        "Requests may be for the machine's own names with the port, and those of the configuration",
        arguments: [
            ("localhost:8080", true), ("LOCALHOST:8080", true), ("127.0.0.1:8080", true), ("[::1]:8080", true),
            ("crumb.example", true), ("crumb.example:1234", true), ("Crumb.Example:9", true),
            ("ported.example:99", true), ("10.0.0.5:8080", true),
            // Another port is another service's.
            ("localhost", false), ("localhost:80", false), ("localhost:8081", false), ("127.0.0.1:", false),
            ("ported.example", false), ("ported.example:98", false),
            // Names that lead here today.
            ("evil.test:8080", false), ("localhost.evil.test:8080", false), ("evil-crumb.example", false),
            ("127.0.0.1.evil.test:8080", false), ("10.0.0.6:8080", false), ("", false), (":8080", false),
            ("user@localhost:8080", false), ("localhost:8080:8080", false), ("[::1]", false),
        ])
    func names(authority: String, isAdmitted: Bool) throws {
        let rule = HostRule(["crumb.example", "ported.example:99"])
        let local = try SocketAddress(ipAddress: "10.0.0.5", port: 8080)
        #expect(rule.admits(authority, at: local) == isAdmitted)
    }
}
