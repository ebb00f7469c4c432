import Foundation
import TestSupport
import Testing

@Suite("crumb serve token")
struct ServeTokenCommandTests {
    private let home = CrumbHome()

    @Test("A token is printed once, listed without itself, and revoked")
    func roundTrip() throws {
        let made = try home.crumb("serve", "token", "create", "ci", "--jar", "work", "--secrets", "--expires", "30d")
        #expect(made.status == 0 && made.messages.isEmpty)
        #expect(made.text.wholeMatch(of: /crumb_[A-Za-z0-9_-]{43}\n/) != nil)
        let token = made.text.trimmingCharacters(in: .newlines)
        let list = try home.crumb("serve", "token", "list", "--json")
        #expect(!list.text.contains(token))
        let report = try #require(try list.objects().first)
        #expect(report["name"] as? String == "ci" && report["state"] as? String == "valid")
        #expect(report["jars"] as? [String] == ["work"] && report["verbs"] as? [String] == ["secrets"])
        #expect(report["expires"] != nil)
        let revoked = try home.crumb("serve", "token", "revoke", "ci")
        #expect(revoked.status == 0 && revoked.output.isEmpty)
        #expect(revoked.messages == "revoked access token 'ci'; requests with it are rejected from now on\n")
        #expect(try home.crumb("serve", "token", "list").text.isEmpty)
        #expect(try home.crumb("serve", "token", "list", "--all").text.contains("revoked"))
        #expect(try home.crumb("serve", "token", "revoke", "ci").status == 40)
    }

    @Test("With --json, creating and revoking print objects")
    func json() throws {
        let made = try #require(try home.crumb("serve", "token", "create", "ci", "--read", "--json").objects().first)
        #expect(made["name"] as? String == "ci" && (made["token"] as? String)?.hasPrefix("crumb_") == true)
        let revoked = try home.crumb("serve", "token", "revoke", "ci", "--json")
        #expect(revoked.text == "{\"revoked\":\"ci\"}\n" && revoked.messages.isEmpty)
    }

    @Test(
        "Invalid options of a token are rejected",
        arguments: [
            (["ci"], 64), (["ci", "--read", "--expires", "soon"], 64), (["ci", "--read", "--expires", "-1d"], 64),
            (["a\u{1}", "--read"], 36),
        ])
    func refused(arguments: [String], status: Int) throws {
        let result = try home.start(["serve", "token", "create"] + arguments, input: "/dev/null").wait()
        #expect(result.status == Int32(status))
        #expect(try home.crumb("serve", "token", "list", "--all").text.isEmpty)
    }
}
