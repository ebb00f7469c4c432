import Foundation
import TestSupport
import Testing

@Suite("A service with a certificate of a private authority, and one behind a path")
struct ServiceAuthorityTests {
    /// Runs a service until `body` ends.
    private static func serving(
        _ home: CrumbHome, port: UInt16, _ options: [String], _ isReady: () throws -> Bool, _ body: () throws -> Void
    ) throws {
        let process = try home.start(
            ["serve", "--log-level", "error", "--listen", "127.0.0.1:\(port)"] + options)
        defer {
            process.kill()
            _ = process.wait()
        }
        for _ in 0..<600 {
            if try isReady() { return try body() }
            usleep(50_000)
        }
        Issue.record("The service does not start")
    }

    @Test("--service-ca trusts it, CRUMB_SERVICE_CA too; without either the message names the option")
    func authority() throws {
        let home = CrumbHome()
        try home.makeCertificate(for: "localhost", names: "IP:127.0.0.1,DNS:localhost")
        let port = try RunningService.freePort()
        let address = "https://127.0.0.1:\(port)"
        func ask(_ words: [String], _ authority: String? = nil) throws -> RunResult {
            try home.start(
                words,
                variables: [
                    "CRUMB_SERVICE": address, "CRUMB_DATABASE": nil, "CRUMB_SERVICE_CA": authority,
                    "CRUMB_SERVICE_TOKEN_FILE": home.file("crumb.sqlite.token"),
                ]
            ).wait()
        }
        try Self.serving(
            home, port: port, ["--certificate", home.file("host.pem"), "--private-key", home.file("host.key")]
        ) {
            try ask(["jars", "--service-ca", home.file("ca.pem")]).status == 0
        } _: {
            #expect(try ask(["jars"], home.file("ca.pem")).status == 0)
            let untrusted = try ask(["jars"])
            #expect(untrusted.status == 55 && untrusted.output.isEmpty)
            #expect(
                untrusted.messages
                    == "crumb: \(address): the certificate is not trusted: add its authority with `--service-ca`\n",
                "\(untrusted.messages)")
            let noCertificate = try ask(["jars", "--service-ca", home.file("names")])
            #expect(noCertificate.status == 11 && noCertificate.messages.contains(home.file("names")))
            try home.write("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n", to: "bad")
            let bad = try ask(["jars", "--service-ca", home.file("bad")])
            #expect(bad.status == 47 && bad.messages.contains("--service-ca"), "\(bad.messages)")
            #expect(try ask(["jars", "--service-ca", home.file("none")]).status == 17)
        }
    }

    @Test("A service behind a path is asked there")
    func path() throws {
        let home = CrumbHome()
        let port = try RunningService.freePort()
        let address = "http://127.0.0.1:\(port)/tools/crumb"
        func ask(_ words: String...) throws -> RunResult {
            try home.start(
                words,
                variables: [
                    "CRUMB_SERVICE": address, "CRUMB_DATABASE": nil,
                    "CRUMB_SERVICE_TOKEN_FILE": home.file("crumb.sqlite.token"),
                ]
            ).wait()
        }
        try Self.serving(home, port: port, ["--public-url", address]) {
            try ask("jars", "create", "made").status == 0
        } _: {
            #expect(try ask("jars", "--json").text.contains(#""name":"made""#))
            let slash = try ask("jars", "--service", "\(address)/")
            #expect(slash.status == 0 && slash.text.contains("made"))
            let elsewhere = try ask("jars", "--service", "http://127.0.0.1:\(port)/other")
            #expect(elsewhere.status == 57, "\(elsewhere.messages)")
        }
    }

    @Test("The list of jars of a service has all its pages")
    func pages() throws {
        let service = try RunningService(.socket)
        let insertion = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            INSERT INTO jar (name, profile, created_at) SELECT 'jar-' || i, 'rfc6265bis', 0 FROM n
            """
        try service.home.write(insertion, to: "insertion.sql")
        #expect(try service.home.shell("sqlite3 crumb.sqlite < insertion.sql").status == 0)
        let listed = try service.ask(["jars", "list", "--json"])
        let onFile = try service.home.crumb("jars", "list", "--json")
        #expect(listed.status == 0 && listed.text == onFile.text && listed.text.contains("jar-1500"))
    }
}
