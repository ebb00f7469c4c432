import Foundation
import TestSupport
import Testing

/// Logins: with a key, a certificate, on another device, for several resources, with a preset.
extension TokenServerCommandTests {
    @Test("A client logs in by itself, with its secret from a file or the environment", arguments: [true, false])
    func machine(fromFile: Bool) throws {
        let file = try home.write("client-s3cret\n", to: "secret")
        let words = [
            "token", "login", "machine", "--client-credentials", "--issuer", server.issuer, "--client-id", "app",
            "--scope", "a", "--json",
        ]
        let result =
            fromFile
            ? try home.start(words + ["--client-secret-file", file]).wait()
            : try home.start(words, variables: ["CRUMB_CLIENT_SECRET": "client-s3cret"]).wait()
        #expect(result.status == 0, "\(result.messages)")
        expectSilent(result)
        #expect(try result.objects().first?["state"] as? String == "valid")
        #expect(server.forms(at: "/token") == ["grant_type=client_credentials&scope=a"])
        // The second one needs nothing that was said before: not even the server is asked who it is.
        let again = try home.crumb("token", "login", "machine")
        #expect(again.status == 0 && again.messages.hasPrefix("logged in: machine: valid"), "\(again.messages)")
        #expect(server.paths.filter { $0.hasPrefix("/.well-known") }.count == 1)
        #expect(try home.crumb("token", "get", "machine").text == "machine-1\n")
    }

    @Test("Without an issuer, the origin of the token endpoint tells servers apart")
    func endpointOrigin() throws {
        let secret = try home.write("client-s3cret\n", to: "secret")
        func login(_ name: String, host: String) throws -> RunResult {
            try home.crumb(
                "token", "login", name, "--client-credentials", "--client-id", "ci", "--client-secret-file", secret,
                "--endpoint", "token_endpoint=\(server.issuer.replacing("127.0.0.1", with: host))/token")
        }
        #expect(try login("one", host: "127.0.0.1").status == 0)
        let other = try login("two", host: "localhost")
        #expect(other.status == 0, "\(other.messages)")
        let same = try login("three", host: "127.0.0.1")
        #expect(same.status != 0 && same.messages.contains("stored as 'one'"), "\(same.messages)")
    }

    /// A P-256 key that is good for nothing else.
    private static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtCnk9IdqkTelQYji
        XUbAYMipfZMZYQRXzTO8JUWuO9ihRANCAARF6xWrKA0ULoOvU3Bus5OjgqGoYhrv
        kYYDGrofvzkK/nI4gQiEavTepKcKEIjhwxzqIU/y7yuk0mVLyWaVjNuE
        -----END PRIVATE KEY-----

        """

    @Test("A login by a key needs no user, and its file only once")
    func assertion() throws {
        let words = ["token", "login", "robot", "--jwt-bearer", "--issuer", server.issuer, "--scope", "a"]
        let missing = try home.start(words + ["--client-id", "app"]).wait()
        #expect(missing.status == 47 && missing.messages.contains("--assertion-key-file"), "\(missing.messages)")
        let exposed = try home.write(TokenServerCommandTests.keyPEM, to: "exposed.pem", mode: 0o644)
        let refused = try home.start(
            words + ["--assertion-issuer", "robot", "--assertion-key-file", exposed]
        ).wait()
        #expect(refused.status == 33 && refused.messages.contains("chmod 600"), "\(refused.messages)")
        let file = try home.write(TokenServerCommandTests.keyPEM, to: "key.pem")
        let result = try home.start(
            words + ["--assertion-key-file", file, "--assertion-issuer", "robot", "--assertion-subject", "alice"]
        ).wait()
        #expect(result.status == 0 && result.messages.hasPrefix("logged in: robot: valid"), "\(result.messages)")
        #expect(try home.crumb("token", "get", "robot").text == "robot-1\n")
        #expect(try home.crumb("token", "refresh", "robot").status == 0)
        #expect(try home.crumb("token", "login", "robot").status == 0)
        let forms = server.forms(at: "/token")
        #expect(forms.count == 3 && Set(forms).count == 3)
        #expect(forms.allSatisfy { $0.contains("&assertion=eyJ") && !$0.contains("client_id") }, "\(forms)")
        let status = try home.crumb("token", "status", "robot", "--json").objects().first
        #expect(status?["grant"] as? String == "jwt_bearer")
        #expect((status?["token"] as? [String: Any])?["account"] as? String == "alice")
    }

    @Test("A client with a certificate names itself and sends no secret; its key is for its user alone")
    func clientCertificate() throws {
        let words = [
            "token", "login", "mtls", "--client-credentials", "--issuer", server.issuer, "--client-id", "app",
            "--client-certificate-file",
        ]
        let certificate = SampleCertificate.pem
        let open = try home.write(certificate, to: "certificate.pem", mode: 0o644)
        let exposed = try home.write(SampleCertificate.keyPEM, to: "exposed.pem", mode: 0o644)
        let refused = try home.start(words + [open, "--client-certificate-key-file", exposed]).wait()
        #expect(refused.status == 33 && refused.messages.contains("chmod 600 '\(exposed)'"), "\(refused.messages)")
        let together = try home.write(
            certificate + SampleCertificate.keyPEM, to: "both.pem", mode: 0o644)
        #expect(try home.start(words + [together]).wait().status == 33)
        #expect(try home.start(words + [try home.write(certificate, to: "alone.pem")]).wait().status == 47)
        let key = try home.write(SampleCertificate.keyPEM, to: "key.pem")
        let result = try home.start(words + [open, "--client-certificate-key-file", key]).wait()
        #expect(result.status == 0, "\(result.messages)")
        #expect(server.forms(at: "/token") == ["grant_type=client_credentials&client_id=app"])
        let status = try home.crumb("token", "status", "mtls", "--json").objects().first
        #expect(status?["authenticationMethod"] as? String == "tls_client_auth")
        // Nothing of the key lies in the database in the clear.
        let files = try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.contains("sqlite") }
        #expect(!files.isEmpty)
        for file in files { #expect(!String(decoding: home.bytes(file), as: UTF8.self).contains("MIGHAgEA")) }
    }

    @Test("A login registers its client, and later logins use it")
    func register() throws {
        let words = ["token", "login", "new", "--client-credentials", "--issuer", server.issuer, "--register"]
        let refused = try home.start(words).wait()
        #expect(refused.status == 44 && refused.messages.contains("/register"), "\(refused.messages)")
        let exposed = try home.write("initial-token\n", to: "exposed", mode: 0o644)
        #expect(try home.start(words + ["--registration-token-file", exposed]).wait().status == 33)
        #expect(try home.start(words + ["--client-id", "mine"]).wait().status == 47)
        let file = try home.write("initial-token\n", to: "initial")
        let result = try home.start(words + ["--registration-token-file", "-"], input: file).wait()
        #expect(result.status == 0, "\(result.messages)")
        for secret in ["initial-token", "registered-s3cret", "manage-s3cret"] {
            #expect(!result.messages.contains(secret) && !result.text.contains(secret))
        }
        #expect(server.paths.filter { $0 == "/register" }.count == 2)
        let body = try #require(server.forms(at: "/register").last)
        #expect(body.contains(#""grant_types":["client_credentials"]"#), "\(body)")
        #expect(body.contains(#""token_endpoint_auth_method":"client_secret_basic""#))
        let status = try home.crumb("token", "status", "new", "--json").objects().first
        #expect((status?["token"] as? [String: Any])?["clientID"] as? String == "registered-1")
        #expect(try home.crumb("token", "login", "new").status == 0)
        #expect(server.paths.filter { $0 == "/register" }.count == 2 && server.forms(at: "/token").count == 2)
    }

    @Test("One login gives a token for each resource")
    func resourceTokens() throws {
        try given()
        for (resource, token) in [("https://a.example", "access-1"), ("https://b.example", "access-2")] {
            for _ in 0..<2 {
                let result = try home.crumb("token", "get", "work", "--resource", resource)
                #expect(result.status == 0 && result.text == "\(token)\n", "\(result.messages)")
            }
        }
        let forms = server.forms(at: "/token")
        #expect(forms.count == 2 && forms[1].contains("resource=https%3A%2F%2Fb.example"), "\(forms)")
        #expect(try home.crumb("token", "get", "work").text == "access-0\n")
        let header = try home.crumb("token", "header", "work", "--resource", "https://a.example")
        #expect(header.text == "Authorization: Bearer access-1\n")
        #expect(try home.crumb("token", "get", "work", "--resource", "nowhere").status == 47)
    }

    @Test("A stored token is exchanged for one that is kept as a login of its own")
    func exchange() throws {
        let login = try home.start(
            ["token", "login", "work", "--client-credentials", "--issuer", server.issuer, "--client-id", "app"],
            variables: ["CRUMB_CLIENT_SECRET": "client-s3cret"]
        ).wait()
        #expect(login.status == 0, "\(login.messages)")
        for (words, said) in [(["x", "--audience", "api"], "--exchange"), (["x", "--exchange", "none"], "none")] {
            let refused = try home.start(["token", "login"] + words).wait()
            #expect(refused.status != 0 && refused.messages.contains(said), "\(refused.messages)")
        }
        for audience in ["api", "billing"] {
            let result = try home.crumb(
                "token", "login", audience, "--exchange", "work", "--audience", audience, "--scope", "s")
            #expect(
                result.status == 0 && result.messages.hasPrefix("logged in: \(audience): valid"), "\(result.messages)")
        }
        #expect(try home.crumb("token", "get", "api").text == "exchanged-1\n")
        #expect(try home.crumb("token", "refresh", "api").status == 0)
        let forms = server.forms(at: "/token")
        #expect(forms.count == 4 && forms[1].contains("audience=api") && forms[2].contains("audience=billing"))
        #expect(forms[3] == forms[1] && forms[1].contains("subject_token=machine-1"))
        #expect(try home.crumb("token", "get", "work").text == "machine-1\n")
        // A login that would come from itself is refused before the server is asked.
        let loop = try home.crumb("token", "login", "work", "--exchange", "api", "--account", "me")
        #expect(loop.status != 0 && loop.messages.contains("exchanged for itself"), "\(loop.messages)")
        #expect(server.forms(at: "/token").count == 4)
    }

    @Test("A new secret goes the way that the old one went")
    func newSecret() throws {
        let words = [
            "token", "login", "machine", "--client-credentials", "--issuer", server.issuer, "--client-id", "app",
        ]
        let first = try home.start(
            words + ["--auth-method", "client_secret_post"], variables: ["CRUMB_CLIENT_SECRET": "old"]
        ).wait()
        #expect(first.status == 0, "\(first.messages)")
        let second = try home.crumb("token", "login", "machine", variables: ["CRUMB_CLIENT_SECRET": "new"])
        #expect(second.status == 0, "\(second.messages)")
        #expect(server.forms(at: "/token").last?.contains("client_secret=new") == true)
        #expect(try home.crumb("token", "login", "machine").status == 0)
        #expect(server.forms(at: "/token").last?.contains("client_secret=new") == true)
    }

    @Test("A login on another device prints the code and the address, and waits")
    func device() throws {
        let result = try home.crumb(
            "token", "login", "tv", "--device", "--issuer", server.issuer, "--client-id", "app", "--account", "me")
        #expect(result.status == 0, "\(result.messages)")
        expectSilent(result)
        #expect(result.messages.contains("Open \(server.issuer)/go and enter the code AB-CD"))
        #expect(result.messages.contains("or open \(server.issuer)/go?code=AB-CD"))
        // No terminal, no QR code.
        #expect(!result.messages.contains("\u{2580}") && result.output.isEmpty)
        #expect(server.forms(at: "/token").count == 2)
        #expect(try home.crumb("token", "get", "tv").text == "access-0\n")
    }

    #if os(Linux)
        @Test(
            "On a terminal, the code is copied and the page opened, unless there is to be no browser",
            arguments: [
                ("wl-copy", "WAYLAND_DISPLAY", ""), ("xclip", "DISPLAY", ""), ("xsel", "DISPLAY", ""),
                ("pbcopy", "ANY", ""), ("wl-copy", "DISPLAY", ""), ("wl-copy", "WAYLAND_DISPLAY", "--no-browser"),
            ])
        func deviceAtDesk(program: String, variable: String, option: String) throws {
            try FileManager.default.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
            try home.write("#!/bin/sh\ncat > \"$HOME/copied\"\n", to: "bin/\(program)", mode: 0o700)
            try home.write("#!/bin/sh\nprintf %s \"$1\" > \"$HOME/opened\"\n", to: "bin/xdg-open", mode: 0o700)
            let login =
                "crumb token login tv --device --no-qr-code --issuer \(server.issuer) --client-id app \(option)"
            let result = try home.shell(
                "unset DISPLAY WAYLAND_DISPLAY BROWSER; \(variable)=x PATH=\"$HOME/bin:$PATH\" "
                    + "script -qec '\(login)' /dev/null")
            #expect(result.text.contains("AB-CD") && result.text.contains("logged in"), "\(result.text)")
            let isCopied = option.isEmpty && (program != "wl-copy" || variable == "WAYLAND_DISPLAY")
            #expect(String(decoding: home.bytes("copied"), as: UTF8.self) == (isCopied ? "AB-CD" : ""))
            #expect(result.text.contains("on the clipboard") == isCopied)
            if !option.isEmpty { #expect(home.bytes("opened").isEmpty) }
            // The opener is not waited for; the poll that followed took a second.
            guard option.isEmpty else { return }
            for _ in 0..<5_000 where home.bytes("opened").isEmpty { usleep(2000) }
            // Without the code: every user of the machine can read the opener's arguments.
            #expect(String(decoding: home.bytes("opened"), as: UTF8.self) == "\(server.issuer)/go")
        }
    #endif

    @Test("The code and the address are an object in JSON, before the tokens")
    func deviceJSON() throws {
        let result = try home.crumb(
            "token", "login", "tv", "--device", "--issuer", server.issuer, "--client-id", "app", "--json")
        #expect(result.status == 0 && result.messages.isEmpty, "\(result.messages)")
        let objects = try result.objects()
        #expect(objects.count == 2 && objects[0]["userCode"] as? String == "AB-CD")
        #expect(objects[0]["verificationURI"] as? String == "\(server.issuer)/go" && objects[0]["expires"] is String)
        #expect(objects.last?["state"] as? String == "valid")
        expectSilent(result)
    }

    @Test("A server that does not speak HTTP is reported in words")
    func noHTTP() throws {
        let site = try LoopbackServer { _ in LoopbackServer.Response(99) }
        let result = try home.crumb(
            "token", "login", "x", "--client-credentials", "--client-id", "app", "--endpoint",
            "token_endpoint=http://127.0.0.1:\(site.port)/")
        #expect(result.status == 45 && !result.messages.contains("HTTPParserError"), "\(result.messages)")
    }

    @Test("The resources of tokens are sent at the login, and again at each refresh")
    func resources() throws {
        let resource = "resource=https%3A%2F%2Fapi.example%2F"
        let words = ["--issuer", server.issuer, "--client-id", "app", "--resource", "https://api.example/"]
        let login = try home.start(["token", "login", "tv", "--device", "--account", "tv"] + words).wait()
        #expect(login.status == 0, "\(login.messages)")
        #expect(try home.crumb("token", "refresh", "tv").status == 0)
        let path = try home.write(#"{"access_token":"a","refresh_token":"refresh-1"}"#, to: "tokens")
        let imported = try home.start(
            ["token", "import", "kept", "--discover", "--account", "me"] + words, input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
        #expect(try home.crumb("token", "refresh", "kept").status == 0)
        let forms = server.forms(at: "/device") + server.forms(at: "/token")
        #expect(forms.count == 5 && forms.allSatisfy { $0.contains(resource) }, "\(forms)")
    }

    @Test("The expiry of the refresh token that the server reports is stored")
    func introspectedExpiry() throws {
        try given()
        #expect(try home.crumb("token", "introspect", "--refresh-token", "work").status == 0)
        let status = try home.crumb("token", "export", "--format", "json", "work")
        #expect(status.text.contains(#""refresh_token_expires_at":"2096-10-02T07:06:40Z""#), "\(status.text)")
    }

    @Test("The end of the grant is kept through a refresh that does not tell it, an export and an import")
    func grantExpiry() throws {
        let end = "2096-10-02T07:06:40Z"
        let reply = AuthorizationServer.tokens().dropLast() + #","authorization_expires_at":4000000000}"#
        let path = try home.write(String(reply), to: "tokens")
        let words = ["--issuer", server.issuer, "--client-id", "app", "--discover", "--json"]
        let imported = try home.start(["token", "import", "work", "--account", "me"] + words, input: path).wait()
        #expect(imported.text.contains(#""grantExpires":"\#(end)""#), "\(imported.text)\(imported.messages)")
        let refreshed = try home.crumb("token", "refresh", "work", "--json")
        #expect(refreshed.text.contains(#""grantExpires":"\#(end)""#), "\(refreshed.text)")
        #expect(try home.crumb("token", "list", "--json").text.contains(#""grantExpires":"\#(end)""#))
        let status = try home.crumb("token", "status", "work").text.split(separator: "\n")
        #expect(status.contains { $0.contains("granted until") && $0.hasSuffix(end) }, "\(status)")
        let exported = try home.crumb("token", "export", "--format", "json", "work").text
        #expect(exported.contains(#""authorization_expires_at":"\#(end)""#), "\(exported)")
        #expect(!exported.contains("refresh_token_expires_at"))
        let copy = try home.start(
            ["token", "import", "copy", "--json"], input: try home.write(exported, to: "exported")
        ).wait()
        #expect(copy.text.contains(#""grantExpires":"\#(end)""#), "\(copy.text)\(copy.messages)")
    }

    @Test("A preset's server and scope count where nothing else is said")
    func preset() throws {
        try home.write(#"{"mine":{"issuer":"\#(server.issuer)","scope":"from-preset"}}"#, to: "presets")
        func login(_ more: String...) throws -> String? {
            let result = try home.start(
                [
                    "token", "login", "m", "--client-credentials", "--client-id", "app", "--provider", "mine",
                    "--providers-file", home.file("presets"),
                ] + more
            ).wait()
            #expect(result.status == 0, "\(result.messages)")
            return server.forms(at: "/token").last
        }
        #expect(try login()?.contains("scope=from-preset") == true)
        #expect(try login("--scope", "own")?.contains("scope=own") == true)
        // What was said before counts before the preset.
        #expect(try login()?.contains("scope=own") == true)
    }

    @Test(
        "A login with missing settings names them, and sends no request",
        arguments: [
            (["--client-id", "app"], "server"), (["--issuer", "http://127.0.0.1:1"], "client"),
            (["--endpoint", "nonsense=x", "--client-id", "app"], "--endpoint"),
            (["--provider", "nobody", "--client-id", "app"], "nobody"),
            (
                [
                    "--endpoint", "token_endpoint=http://127.0.0.1:1/t", "--client-id", "app", "--auth-method",
                    "client_secret_basic",
                ], "secret"
            ),
            (["--issuer", "http://id.example", "--client-id", "app"], "https"),
        ])
    func incomplete(options: [String], said: String) throws {
        let extra = options.contains("--endpoint") ? [] : ["--endpoint", "token_endpoint=http://127.0.0.1:1/t"]
        let words = ["token", "login", "x", "--client-credentials"] + options
        let result = try home.start(words + (said == "client" ? extra : [])).wait()
        #expect(
            result.status != 0 && result.messages.hasPrefix("crumb: ") && result.messages.contains(said),
            "\(result.messages)")
        #expect(try home.crumb("token", "get", "x").status == 40)
    }

    @Test("A bound token's header is for the request that is named, and for no other")
    func boundHeader() throws {
        let login = try home.crumb(
            "token", "login", "bound", "--client-credentials", "--dpop", "--issuer", server.issuer, "--client-id",
            "app")
        #expect(login.status == 0, "\(login.messages)")
        let refused = try home.crumb("token", "header", "bound")
        #expect(refused.status == 47 && refused.output.isEmpty && refused.messages.contains("--url"))
        let url = "https://api.example/a?b=c"
        let header = try home.crumb(
            "token", "header", "--method", "PATCH", "--url", url, "--nonce", "n1", "bound")
        let lines = header.text.split(separator: "\n")
        #expect(header.status == 0 && lines.count == 2 && lines[0] == "Authorization: DPoP bound-1")
        let proof = try #require(lines.last?.split(separator: " ").last?.split(separator: "."))
        var payload = proof[1].replacing("-", with: "+").replacing("_", with: "/")
        payload += String(repeating: "=", count: (4 - payload.count % 4) % 4)
        let bytes = try #require(Data(base64Encoded: String(payload)))
        let claims = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        #expect(claims["htm"] as? String == "PATCH" && claims["htu"] as? String == "https://api.example/a")
        #expect(claims["nonce"] as? String == "n1" && claims["ath"] is String)
        let json = try home.crumb("token", "header", "--json", "--url", url, "bound").objects()
        #expect(json.map { $0["name"] as? String } == ["Authorization", "DPoP"])
        #expect(try home.crumb("token", "header", "--url", "api.example", "bound").status == 19)
    }
}
