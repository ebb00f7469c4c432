import Foundation
import TestSupport
import Testing

@Suite("crumb token agent")
struct AgentCommandTests {
    @Test(
        "A locked service gives no token until it is unlocked with the same passphrase",
        arguments: RunningService.Way.allCases)
    func lock(way: RunningService.Way) throws {
        let service = try RunningService(way)
        let tokens = try service.home.write(#"{"access_token":"tok-1","expires_in":3600}"#, to: "tokens")
        #expect(try service.home.start(["token", "import", "work"], input: tokens).wait().status == 0)
        try service.home.write("correct horse\n", to: "right")
        try service.home.write("wrong\n", to: "wrong")
        func agent(_ command: String, _ file: String? = nil) throws -> RunResult {
            let options = file.map { ["--passphrase-file", service.home.file($0)] } ?? []
            return try service.ask(["token", "agent", command] + options)
        }
        #expect(try agent("status").text == "unlocked\n")
        #expect(try service.ask(["token", "get", "work"]).text == "tok-1\n")
        // There is no terminal to ask on.
        #expect(try agent("lock").status == 70)
        let locked = try agent("lock", "right")
        #expect(locked.status == 0 && locked.messages == "the service is locked\n", "\(locked.messages)")
        #expect(try agent("status").text == "locked\n")
        let refused = try service.ask(["token", "get", "work"])
        #expect(refused.status == 63 && refused.output.isEmpty && refused.messages.contains("crumb token agent unlock"))
        #expect(try service.ask(["token", "exec", "work", "--", "true"]).status == 63)
        #expect(try service.ask(["token", "remove", "work"]).status == 63)
        #expect(try agent("lock", "wrong").status == 63)
        let wrong = try agent("unlock", "wrong")
        #expect(wrong.status == 56 && !wrong.messages.contains("correct horse"), "\(wrong.messages)")
        // The next attempt may have to wait a second.
        var unlocked = try agent("unlock", "right")
        for _ in 0..<200 where unlocked.status != 0 {
            usleep(20_000)
            unlocked = try agent("unlock", "right")
        }
        #expect(unlocked.status == 0, "\(unlocked.messages)")
        #expect(try service.ask(["token", "get", "work"]).text == "tok-1\n")
    }

    @Test("The commands need a service")
    func noService() throws {
        let home = CrumbHome()
        for command in ["lock", "unlock", "status"] {
            let result = try home.crumb("token", "agent", command)
            #expect(result.status == 64 && result.messages.contains("--service"), "\(result.messages)")
        }
    }
}
