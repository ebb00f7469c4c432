import Foundation
import TestSupport
import Testing

/// What `crumb token` does with a server: each subcommand, for people and in JSON.
@Suite("crumb token with a server")
struct TokenServerCommandTests {
    let home = CrumbHome()
    let server: AuthorizationServer

    init() throws {
        server = try AuthorizationServer()
    }

    /// A profile `work` that can be refreshed.
    func given(expired: Bool = false, _ more: String...) throws {
        let path = try home.write(AuthorizationServer.tokens(expired: expired), to: "tokens")
        let result = try home.start(
            [
                "token", "import", "work", "--issuer", server.issuer, "--client-id", "app", "--account", "me",
                "--discover",
            ] + more, input: path
        ).wait()
        #expect(result.status == 0, "\(result.messages)")
        try FileManager.default.removeItem(atPath: path)
    }

    /// Everything secret that there is.
    func expectSilent(_ result: RunResult, but allowed: [String] = []) {
        let secrets = ["access-0", "access-1", "refresh-0", "refresh-1", "client-s3cret", "machine-1", "dev-1"]
        for secret in secrets where !allowed.contains(secret) {
            #expect(!result.text.contains(secret), "\(secret)")
        }
        for secret in secrets { #expect(!result.messages.contains(secret), "\(secret)") }
    }

    /// A command, and what it prints: a part of its output for people, of its messages, and members of its JSON.
    struct Row: Sendable, CustomTestStringConvertible {
        let command: [String]
        var expired = false
        var status: Int32 = 0
        var text = ""
        var messages = ""
        var json: [String: String] = [:]
        var shown: [String] = []

        var testDescription: String { command.joined(separator: " ") }
    }

    static let rows: [Row] = [
        Row(
            command: ["get"], text: "access-0\n", json: ["accessToken": "access-0", "tokenType": "Bearer"],
            shown: ["access-0"]),
        Row(
            command: ["get"], expired: true, text: "access-1\n", json: ["accessToken": "access-1"],
            shown: ["access-1"]),
        // Never more than the later half of its life.
        Row(
            command: ["get", "--skew", "7200"], text: "access-0\n", json: ["accessToken": "access-0"],
            shown: ["access-0"]),
        Row(
            command: ["header"], text: "Authorization: Bearer access-0\n",
            json: ["name": "Authorization", "value": "Bearer access-0"], shown: ["access-0"]),
        Row(
            command: ["header", "--url", "https://api.example/"], text: "Authorization: Bearer access-0\n",
            json: ["name": "Authorization"], shown: ["access-0"]),
        Row(command: ["list"], text: "me", json: ["name": "work", "state": "valid", "account": "me"]),
        Row(command: ["list"], expired: true, text: "expired", json: ["state": "expired"]),
        Row(command: ["status"], text: "refresh token: stored", json: ["tokenType": "Bearer", "grant": "imported"]),
        Row(command: ["refresh"], messages: "refreshed work: valid", json: ["name": "work", "state": "valid"]),
        Row(command: ["refresh"], expired: true, messages: "refreshed work: valid", json: ["state": "valid"]),
        Row(
            command: ["introspect"], text: "active: yes\nscope: a b\nclient: app\nuser: me\n",
            json: ["clientID": "app", "username": "me", "subject": "s-1"]),
        Row(command: ["introspect", "--refresh-token"], text: "active: yes", json: ["scope": "a b"]),
        Row(command: ["revoke"], messages: "revoked work", json: ["name": "work"]),
        Row(command: ["logout"], messages: "logged out: work", json: ["name": "work"]),
        Row(
            command: ["export"], text: "export ACCESS_TOKEN='access-0'\nexport TOKEN_TYPE='Bearer'\nexport EXPIRES_AT",
            shown: ["access-0"]),
        Row(
            command: ["export", "--format", "env", "--prefix", "WORK_"], text: "export WORK_ACCESS_TOKEN='access-0'",
            shown: ["access-0"]),
        Row(
            command: ["export", "--format", "json"], text: #""scope":"a b""#,
            json: ["access_token": "access-0", "refresh_token": "refresh-0", "token_type": "Bearer"],
            shown: ["access-0", "refresh-0"]),
        Row(
            command: ["export", "--format", "kubernetes", "--use-access-token"],
            text: #""status":{"expirationTimestamp":""#,
            json: ["kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1"],
            shown: ["access-0"]),
        Row(command: ["export", "--format", "kubernetes"], status: 47, messages: "openid"),
        Row(command: ["export", "--use-access-token"], status: 64),
        Row(
            command: ["export", "--format", "netrc", "--host", "api.example", "--username", "u"],
            text: "machine api.example login u password access-0\n", shown: ["access-0"]),
        Row(
            command: ["export", "--json"], text: #""access_token":"access-0""#,
            json: ["access_token": "access-0", "refresh_token": "refresh-0"],
            shown: ["access-0", "refresh-0"]),
        Row(command: ["export", "--format", "netrc"], status: 64),
        Row(command: ["export", "--prefix", "a b"], status: 64),
        Row(command: ["remove"], messages: "removed work", json: ["removed": "work"]),
        Row(command: ["get", "--skew", "-1"], status: 64),
        Row(command: ["header", "--method", "GET"], status: 64),
    ]

    @Test("Each subcommand prints its documented output, and nothing more", arguments: rows)
    func command(row: Row) throws {
        try given(expired: row.expired)
        let words = ["token", row.command[0]] + (row.command[0] == "list" ? [] : ["work"]) + row.command.dropFirst()
        let result = try home.start(words).wait()
        #expect(result.status == row.status, "\(result.messages)")
        expectSilent(result, but: row.shown)
        if row.status == 0 {
            #expect(row.text.isEmpty ? result.text.isEmpty : result.text.contains(row.text), "\(result.text)")
            #expect(
                row.messages.isEmpty ? result.messages.isEmpty : result.messages.contains(row.messages),
                "\(result.messages)")
        }
    }

    @Test("Each subcommand says the same in JSON", arguments: rows.filter { !$0.json.isEmpty })
    func json(row: Row) throws {
        try given(expired: row.expired)
        let words = ["token", row.command[0], "--json"] + (row.command[0] == "list" ? [] : ["work"])
        let result = try home.start(words + row.command.dropFirst()).wait()
        #expect(result.status == 0 && result.messages.isEmpty, "\(result.messages)")
        expectSilent(result, but: row.shown)
        let object = try #require(try result.objects().first)
        for (name, value) in row.json { #expect(object[name] as? String == value, "\(name)") }
    }

    @Test("git gets a credential for the host that was named, and over secure connections")
    func gitCredential() throws {
        try given()
        let rows = [
            ("protocol=https\nhost=git.example\n", true), ("protocol=https\nhost=other.example\n", false),
            ("protocol=http\nhost=git.example\n", false), ("host=git.example\n", false), ("protocol=https\n", false),
            ("protocol=smtp\nhost=git.example\n", false), ("protocol=https\nhost=git.example:8443\n", false),
        ]
        for (question, isAnswered) in rows {
            let result = try home.crumb(
                "token", "export", "--format", "git-credential", "--host", "git.example", "work", "get",
                input: question)
            #expect(result.status == 0)
            #expect(result.text.hasPrefix("username=oauth2\npassword=access-0\npassword_expiry_utc=") == isAnswered)
            #expect(result.output.isEmpty != isAnswered)
        }
        let store = try home.crumb(
            "token", "export", "--format", "git-credential", "--host", "git.example", "work", "store",
            input: "protocol=https\n")
        #expect(store.status == 0 && store.output.isEmpty)
        // Without a host, whoever git asks about would get it.
        let any = try home.crumb(
            "token", "export", "--format", "git-credential", "work", "get", input: "protocol=https\nhost=a.test\n")
        #expect(any.status == 64 && any.output.isEmpty)
    }

    @Test("A revocation reports the ended tokens, and keeps them known; a logout removes them")
    func ending() throws {
        try given()
        let revoked = try home.crumb("token", "revoke", "--json", "work")
        #expect(try revoked.objects().first?["revoked"] as? [String] == ["refresh_token", "access_token"])
        #expect(server.revoked == ["refresh_token", "access_token"])
        // Nothing has expired: the login was ended.
        let ended = try home.crumb("token", "get", "work")
        #expect(
            ended.status == 43 && ended.messages.contains("revoked") && !ended.messages.contains("expired"),
            "\(ended.messages)")
        #expect(try home.crumb("token", "list", "--json").objects().first?["state"] as? String == "login-required")
        #expect(try home.crumb("token", "status", "work").status == 0)
        #expect(try home.crumb("token", "logout", "work").status == 0)
        #expect(try home.crumb("token", "status", "work").status == 40)
    }

    @Test("A logout forgets nothing where the server is away, unless it is told to")
    func unreachable() throws {
        let path = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try home.start(
            [
                "token", "import", "work", "--issuer", "http://127.0.0.1:1", "--endpoint",
                "revocation_endpoint=http://127.0.0.1:1/revoke",
            ], input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
        let failed = try home.crumb("token", "logout", "work")
        #expect(failed.status == 45 && failed.messages.hasPrefix("crumb: "))
        #expect(try home.crumb("token", "get", "work").status == 0)
        let forced = try home.crumb("token", "logout", "--force", "work")
        #expect(forced.status == 0 && forced.messages.contains("did not revoke"))
        #expect(try home.crumb("token", "get", "work").status == 40)
    }

    @Test("The last token of a login that the server no longer accepts comes with a note")
    func lastToken() throws {
        try given()
        let fresh = try home.crumb("token", "get", "work")
        #expect(fresh.status == 0 && fresh.messages.isEmpty)
        server.endGrants()
        #expect(try home.crumb("token", "refresh", "work").status == 43)
        for words in [["get", "work"], ["header", "work"], ["exec", "work", "--", "true"], ["export", "work"]] {
            let last = try home.start(["token"] + words).wait()
            #expect(
                last.status == 0 && last.messages.contains("'crumb token login work'"), "\(words): \(last.messages)")
        }
        let report = try #require(try home.crumb("token", "get", "work", "--json").objects().first)
        #expect(report["loginRequired"] as? Bool == true)
        let imported = try home.crumb(
            "token", "import", "work", input: #"{"access_token": "other", "expires_in": 1, "refresh_token": "r"}"#)
        #expect(imported.status == 0, "A dead login's tokens need no --force: \(imported.messages)")
    }

    @Test("A grant that the server refuses is status 43, and the server is not asked again")
    func refused() throws {
        try given(expired: true)
        server.endGrants()
        for _ in 0..<2 {
            let result = try home.crumb("token", "get", "work")
            #expect(
                result.status == 43 && result.output.isEmpty && result.messages.contains("'crumb token login work'"))
        }
        #expect(server.forms(at: "/token").count == 1)
        #expect(try home.crumb("token", "list", "--json").objects().first?["state"] as? String == "login-required")
    }

    @Test("Commands that need a server's endpoint report that none is known", arguments: ["revoke", "introspect"])
    func noEndpoint(command: String) throws {
        #expect(try home.crumb("token", "import", "bare", input: "tok-1").status == 0)
        let result = try home.crumb("token", command, "bare")
        #expect(result.status == 47 && result.messages.contains("bare"), "\(result.messages)")
        // Each option that a message recommends is one that there is.
        let import_ = try home.crumb("token", "import", "--help").text
        let options = result.messages.matches(of: /--[a-z-]+/).map { String($0.output) }
        #expect(!options.isEmpty && options.allSatisfy { import_.contains($0) }, "\(options)")
    }

    @Test("A server's error names the endpoint that gave it, and a missing endpoint the option that names one")
    func namedEndpoints() throws {
        try given(expired: true)
        server.endGrants()
        let path = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try home.start(
            ["token", "import", "half", "--endpoint", "token_endpoint=\(server.issuer)/nowhere"], input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
        let refused = try home.crumb("token", "refresh", "half")
        #expect(refused.messages.contains("\(server.issuer)/nowhere"), "\(refused.messages)")
        let missing = try home.crumb("token", "introspect", "half")
        #expect(
            missing.status == 47 && missing.messages.contains("--endpoint introspection_endpoint="),
            "\(missing.messages)")
        let insecure = try home.crumb(
            "token", "login", "x", "--client-credentials", "--client-id", "app", "--issuer", "http://id.example/a?b=c")
        #expect(insecure.status == 47 && insecure.messages.contains("'http://id.example/a'"), "\(insecure.messages)")
    }

    @Test("A secret that other users can read is refused, unless an option allows it", arguments: [true, false])
    func exposedSecret(isKey: Bool) throws {
        let option = isKey ? "--client-key-file" : "--client-secret-file"
        let file = try home.write("client-s3cret\n", to: "secret", mode: 0o644)
        let words = [
            "token", "login", "machine", "--client-credentials", "--issuer", server.issuer, "--client-id", "app",
        ]
        let refused = try home.start(words + [option, file]).wait()
        #expect(refused.status == 33 && refused.messages.contains("chmod 600"), "\(refused.messages)")
        #expect(refused.messages.contains("--dangerously-allow-exposed-files"))
        let allowed = try home.start(words + [option, file, "--dangerously-allow-exposed-files"]).wait()
        // The key is none; but it was read.
        #expect(allowed.status == (isKey ? 47 : 0), "\(allowed.messages)")
    }

    // MARK: - Fallback rules

    @Test("Rules of a login fallback are kept, listed and removed, in JSON as well")
    func fallback() throws {
        let unknown = try home.crumb(
            "token", "fallback", "set", "app", "https://app.example/", "--profile", "work", "--authorization")
        #expect(unknown.status == 40 && unknown.messages.contains("work"), "\(unknown.messages)")
        try given()
        let elsewhere = try home.crumb(
            "token", "fallback", "set", "app", "https://app.example/", "--profile", "work", "--exchange",
            "https://id.other/cookie")
        #expect(
            elsewhere.status == 47 && elsewhere.messages.contains("https://id.other/cookie"), "\(elsewhere.messages)")
        let set = try home.crumb(
            "token", "fallback", "set", "app", "https://app.example/", "--profile", "work", "--when-redirect", "/login",
            "--cookie", "session={access_token}; Path=/; Secure")
        #expect(set.status == 0 && set.messages.hasPrefix("stored rule app: https://app.example/ at /login: cookie"))
        let list = try #require(try home.crumb("token", "fallback", "list", "--json").objects().first)
        #expect(list["profile"] as? String == "work" && list["delivery"] as? String == "cookie")
        let refused = try home.crumb(
            "token", "fallback", "set", "app", "http://app.example/", "--profile", "work", "--authorization")
        #expect(refused.status == 47, "\(refused.messages)")
        #expect(try home.crumb("token", "fallback", "remove", "--json", "app").objects().first != nil)
        #expect(try home.crumb("token", "fallback", "remove", "app").status == 40)
    }
}
