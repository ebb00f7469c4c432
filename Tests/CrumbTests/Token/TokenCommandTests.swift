import Foundation
import TestSupport
import Testing

@Suite("crumb token")
struct TokenCommandTests {
    private let home = CrumbHome()
    private static let secret = "s3cret-acc3ss-tok3n"
    private static let refresh = "s3cret-r3fresh-tok3n"
    private static let reply =
        #"{"access_token": "\#(secret)", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "\#(refresh)", "scope": "a b"}"#

    private func importing(_ text: String, _ arguments: String...) throws -> RunResult {
        let path = try home.write(text, to: "token-input")
        return try home.start(["token", "import"] + arguments, input: path).wait()
    }

    /// Expects that neither token stands anywhere in what a run said.
    private func expectSilent(_ result: RunResult) {
        for secret in [TokenCommandTests.secret, TokenCommandTests.refresh] {
            #expect(!result.text.contains(secret) && !result.messages.contains(secret))
        }
    }

    @Test("A reply is stored, printed for $(…), listed without tokens, and removed")
    func roundTrip() throws {
        let stored = try importing(TokenCommandTests.reply, "--issuer", "https://id.example", "--account", "me", "work")
        #expect(stored.status == 0 && stored.output.isEmpty)
        #expect(
            stored.messages.hasPrefix("stored work: valid, expires ")
                && stored.messages.contains("with a refresh token"))
        expectSilent(stored)
        let token = try home.crumb("token", "get", "work")
        #expect(token.status == 0 && token.text == "\(TokenCommandTests.secret)\n" && token.messages.isEmpty)
        let list = try home.crumb("token", "list")
        expectSilent(list)
        #expect(list.text.contains("work") && list.text.contains("https://id.example") && list.text.contains("yes"))
        let listed = try home.crumb("token", "list", "--json")
        expectSilent(listed)
        #expect(try listed.objects().first?["account"] as? String == "me")
        #expect(try home.crumb("token", "remove", "work").status == 0)
        #expect(try home.crumb("token", "get", "work").status == 40)
        #expect(try home.crumb("token", "list").messages == "no tokens\n")
    }

    @Test(
        "A token alone on a line, with or without its scheme, is stored",
        arguments: ["tok-1", "tok-1\n", "Bearer tok-1\r\n", "\"tok-1\""])
    func bare(text: String) throws {
        #expect(try importing(text, "bare").status == 0)
        #expect(try home.crumb("token", "get", "bare").text == "tok-1\n")
    }

    @Test("JSON has the token, its type and its end")
    func json() throws {
        #expect(try importing(TokenCommandTests.reply, "work").status == 0)
        let object = try #require(try home.crumb("token", "get", "--json", "work").objects().first)
        #expect(object["accessToken"] as? String == TokenCommandTests.secret)
        #expect(object["tokenType"] as? String == "Bearer" && object["expires"] is String)
    }

    @Test("An expired token is exit status 41 and not printed; an unknown name is 40")
    func failures() throws {
        let expired = #"{"access_token": "\#(TokenCommandTests.secret)", "expires_at": 1000000000}"#
        #expect(try importing(expired, "old").status == 0)
        let result = try home.crumb("token", "get", "old")
        #expect(result.status == 41 && result.output.isEmpty && result.messages.hasPrefix("crumb: old: "))
        expectSilent(result)
        for command in ["get", "remove"] {
            let unknown = try home.crumb("token", command, "nobody")
            #expect(unknown.status == 40 && unknown.messages.hasPrefix("crumb: nobody: ") && unknown.output.isEmpty)
        }
    }

    @Test(
        "Input that is not a token is exit status 42, and is not repeated",
        arguments: [
            "", "\n", "two words\n", "{}", "{\"error\": \"invalid_grant\"}", "{\"access_token\": \"\"}", "null",
            "[\"s3cret-acc3ss-tok3n\"]", "{\"access_token\": 17}", "{\"access_token\": \"s3cret-acc3ss-tok3n\"",
            "<html>s3cret-acc3ss-tok3n</html>",
            "s3cret-acc3ss-tok3n\nsecond line", "{\"access_token\": \"s3cret-acc3ss-tok3n\\n\"}", "\u{0}\u{1}",
        ])
    func invalid(text: String) throws {
        let result = try importing(text, "name")
        #expect(result.status == 42, "\(result.messages)")
        #expect(result.messages.hasPrefix("crumb: standard input: ") && result.output.isEmpty)
        expectSilent(result)
        #expect(try home.crumb("token", "get", "name").status == 40)
    }

    @Test("A file is read as well, and too large a one is refused")
    func file() throws {
        try home.write(TokenCommandTests.reply, to: "reply.json")
        #expect(try home.crumb("token", "import", "--file", home.file("reply.json"), "work").status == 0)
        #expect(try home.crumb("token", "get", "work").text == "\(TokenCommandTests.secret)\n")
        try home.write(String(repeating: "a", count: 20_000_000), to: "large")
        let large = try home.crumb("token", "import", "--file", home.file("large"), "large")
        #expect(large.status == 42 && large.messages.utf8.count < 500)
        #expect(try home.crumb("token", "import", "--file", home.file("missing"), "x").status == 17)
        #expect(try home.crumb("token", "import", "--file", home.path, "x").status == 15)
    }

    @Test("No command takes a token as an argument")
    func arguments() throws {
        for words in [
            ["token", "import", "work", TokenCommandTests.secret], ["token", "import", "--token", "x", "work"],
        ] {
            let result = try home.start(words).wait()
            #expect(result.status == 64)
        }
        for command in ["import", "get", "list", "remove"] {
            let help = try home.crumb("token", command, "--help")
            #expect(help.status == 0 && !help.text.contains("--token") && !help.text.contains("--access-token"))
        }
    }

    @Test("Two profiles do not meet, and a second import replaces the first of its name")
    func profiles() throws {
        #expect(try importing("one", "a").status == 0)
        #expect(try importing("two", "b").status == 0)
        #expect(try importing("three", "a").status == 0)
        #expect(try home.crumb("token", "get", "a").text == "three\n")
        #expect(try home.crumb("token", "get", "b").text == "two\n")
        #expect(try home.crumb("token", "list", "--json").objects().count == 2)
    }

    @Test("An import into a login keeps what it leaves out: issuer, client, account, endpoints and the refresh token")
    func importIntoLogin() throws {
        let options = [
            "--issuer", "https://id.example", "--client-id", "app", "--account", "me", "--endpoint",
            "token_endpoint=https://id.example/token",
        ]
        let input = try home.write(TokenCommandTests.reply, to: "reply")
        #expect(try home.start(["token", "import", "work"] + options, input: input).wait().status == 0)
        let before = try #require(try home.crumb("token", "status", "work", "--json").objects().first)
        #expect(try importing("other-token", "work").status == 0)
        #expect(try home.crumb("token", "get", "work").text == "other-token\n")
        let after = try #require(try home.crumb("token", "status", "work", "--json").objects().first)
        for name in ["endpoints", "grant", "requestedScope"] {
            #expect("\(after[name] ?? "")" == "\(before[name] ?? "")", "\(name)")
        }
        let token = try #require(after["token"] as? [String: Any])
        #expect(token["issuer"] as? String == "https://id.example" && token["clientID"] as? String == "app")
        #expect(token["account"] as? String == "me" && token["hasRefreshToken"] as? Bool == true)
        // Another client's login keeps nothing.
        #expect(try importing("foreign", "--client-id", "other", "work").status == 0)
        let foreign = try #require(try home.crumb("token", "status", "work", "--json").objects().first)
        #expect((foreign["endpoints"] as? [String: Any])?.isEmpty == true)
        #expect((foreign["token"] as? [String: Any])?["hasRefreshToken"] as? Bool == false)
    }

    @Test("Tokens that expire before the stored ones replace them only with --force")
    func importOfOlderTokens() throws {
        #expect(
            try importing(#"{"access_token": "new", "expires_in": 3600, "refresh_token": "r2"}"#, "work").status == 0)
        let old = #"{"access_token": "old", "expires_in": 60, "refresh_token": "r1"}"#
        let refused = try importing(old, "work")
        #expect(refused.status == 42 && refused.messages.contains("--force"), "\(refused.messages)")
        #expect(try home.crumb("token", "get", "work").text == "new\n")
        #expect(try importing(old, "--force", "work").status == 0)
        #expect(try home.crumb("token", "get", "--skew", "0", "work").text == "old\n")
    }

    @Test("Storing an authorization under a second name is rejected, and the error has the first name")
    func sameAuthorization() throws {
        #expect(try importing("one", "--issuer", "https://id.example", "--account", "me", "a").status == 0)
        let result = try importing("two", "--issuer", "https://id.example", "--account", "me", "b")
        #expect(result.status == 36 && result.messages.contains("'a'"))
        #expect(try home.crumb("token", "get", "a").text == "one\n")
    }

    @Test(
        "Names that cannot be typed are exit status 36", arguments: ["", "a\nb", String(repeating: "x", count: 101)])
    func names(name: String) throws {
        #expect(try importing("token", name).status == 36)
    }

    @Test("A token is neither in the database file nor beside it")
    func sealed() throws {
        #expect(try importing(TokenCommandTests.reply, "work").status == 0)
        try FileManager.default.removeItem(atPath: home.file("token-input"))
        for name in try FileManager.default.contentsOfDirectory(atPath: home.path) {
            for secret in [TokenCommandTests.secret, TokenCommandTests.refresh] {
                #expect(Data(home.bytes(name)).firstRange(of: Data(secret.utf8)) == nil, "\(name)")
            }
        }
    }
}
