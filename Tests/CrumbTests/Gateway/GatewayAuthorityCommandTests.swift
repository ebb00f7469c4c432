import CookieModel
import Foundation
import OAuth2
import SessionStore
import TestSupport
import Testing

@Suite("The authority of the gateway, through the commands")
struct GatewayAuthorityCommandTests {
    private let home = CrumbHome()

    private func create(_ hosts: String...) throws {
        let words = hosts.flatMap { ["--host", $0] }
        let result = try home.start(["gateway", "ca", "create"] + words).wait()
        #expect(result.status == 0, "\(result.messages)")
    }

    private func database() throws -> SessionDatabase {
        try SessionDatabase(path: home.file("crumb.sqlite"), keys: .file(home.file("key")), now: .now)
    }

    @Test("The commands create, show, export and remove the authority")
    func story() throws {
        let created = try home.crumb(
            "gateway", "ca", "create", "--host", "Shop.example", "--host", "bücher.example", "--host", "shop.example")
        #expect(created.status == 0 && created.messages.contains("crumb gateway ca export"), "\(created.messages)")
        let shown = try home.crumb("gateway", "ca", "show")
        #expect(shown.text == created.text && shown.status == 0 && shown.messages.isEmpty)
        #expect(shown.text.contains("shop.example, xn--bcher-kva.example\n"))
        let report = try #require(try home.crumb("gateway", "ca", "show", "--json").objects().first)
        #expect(report["hosts"] as? [String] == ["shop.example", "xn--bcher-kva.example"])
        let lifetime = try ["created", "expires"].map { name in
            let text = try #require(report[name] as? String)
            return try #require(Timestamp(rfc3339: text.utf8)).seconds
        }
        #expect(lifetime[1] - lifetime[0] == 365 * 86_400)

        let exported = try home.crumb("gateway", "ca", "export")
        #expect(exported.text.hasPrefix("-----BEGIN CERTIFICATE-----\n") && !exported.text.contains("KEY"))
        let file = try home.crumb("gateway", "ca", "export", "--output", home.file("ca.pem"))
        #expect(file.status == 0 && file.text.isEmpty && home.bytes("ca.pem") == exported.output, "\(file.messages)")
        #expect(try home.crumb("gateway", "ca", "export", "-o", home.file("ca.pem")).status == 28)
        #expect(try home.crumb("gateway", "ca", "export", "-o", home.file("ca.pem"), "--force").status == 0)
        #expect(try home.crumb("gateway", "ca", "export", "-o", home.file("crumb.sqlite"), "--force").status == 28)
        #expect(
            try home.crumb("gateway", "ca", "export", "--json").objects().first?["certificate"] as? String
                == exported.text)
        let fingerprint = try #require(report["fingerprint"] as? String)
        let computed = try home.shell("openssl x509 -in ca.pem -noout -fingerprint -sha256")
        #expect(computed.text.hasSuffix("=\(fingerprint)\n"))

        let removed = try home.crumb("gateway", "ca", "remove")
        #expect(removed.status == 0 && removed.messages.contains("removed"), "\(removed.messages)")
        #expect(try home.crumb("gateway", "ca", "show").status == 80)
    }

    @Test("A database has one; another one is refused, and the first one stays")
    func exists() throws {
        try create("shop.example")
        let before = try home.crumb("gateway", "ca", "show", "--json").text
        let result = try home.crumb("gateway", "ca", "create", "--host", "other.example")
        #expect(
            result.status == 79 && result.output.isEmpty
                && result.messages.hasSuffix(
                    "already has an authority for shop.example; 'crumb gateway ca remove' removes it\n"),
            "\(result.messages)")
        #expect(try home.crumb("gateway", "ca", "show", "--json").text == before)
    }

    @Test(
        "Hosts that no authority may cover are errors, and nothing is created",
        arguments: [
            ("co.uk", "public suffix"), ("com", "public suffix"), ("github.io", "shop.github.io"),
            ("*.shop.example", "not a host"), ("shop.example.", "not a host"), ("https://shop.example/", "not a host"),
            ("", "not a host"),
        ])
    func refused(host: String, message: String) throws {
        let result = try home.crumb("gateway", "ca", "create", "--host", host)
        #expect(
            result.status == 64 && result.messages.contains("--host '\(host)'") && result.messages.contains(message),
            "\(result.messages)")
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("Without an authority, each command names the one that creates it", arguments: ["show", "export", "remove"])
    func missing(command: String) throws {
        for hasDatabase in [false, true] {
            if hasDatabase { try home.receive("a=1") }
            let result = try home.crumb("gateway", "ca", command)
            #expect(
                result.status == 80 && result.output.isEmpty
                    && result.messages.contains("'crumb gateway ca create --host HOST' creates one"),
                "\(result.messages)")
            #expect(FileManager.default.fileExists(atPath: home.file("crumb.sqlite")) == hasDatabase)
        }
    }

    @Test("The key is in no file in the clear, in any form, and is rotated with the rest")
    func secrecy() throws {
        try create("shop.example")
        let key = try #require(try database().authority()).privateKey.exposedBytes
        #expect(key.count == 32)
        let rotation = try home.crumb("key", "rotate")
        #expect(rotation.text == "rotated the key: 1 value resealed\n", "\(rotation.messages)")
        #expect(try database().authority()?.privateKey == Secret(key))
        let check = try home.crumb("check")
        #expect(check.text.contains("1 sealed value can be read"), "\(check.text)")
        #expect(try home.crumb("backup", home.file("backup")).status == 0)
        let forms = [
            Data(key), Data(Data(key).base64EncodedString().utf8.dropLast(4)),
            Data(key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined().utf8),
            Data("PRIVATE KEY".utf8),
        ]
        for name in try FileManager.default.contentsOfDirectory(atPath: home.path) {
            let bytes = Data(home.bytes(name))
            #expect(forms.allSatisfy { bytes.firstRange(of: $0) == nil }, "\(name)")
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The hosts of the authority; none for no authority.
        var hosts: [String] = []
        var isExpired = false
        let intercepted: [String]
        let message: String
    }

    @Test(
        "A gateway without an authority for its hosts does not start, and prints the next step",
        arguments: [
            Refusal(
                testDescription: "no authority", intercepted: ["shop.example", "*.shop.example"],
                message: "Run 'crumb gateway ca create --host shop.example', or use --temporary-authority FILE"),
            Refusal(
                testDescription: "another host", hosts: ["shop.example"],
                intercepted: ["www.shop.example", "other.example"],
                message: "--intercept other.example: the gateway's authority is only for shop.example: run "
                    + "'crumb gateway ca remove' and 'crumb gateway ca create --host other.example --host shop.example'"
            ),
            Refusal(
                testDescription: "subdomains of another host", hosts: ["www.shop.example"],
                intercepted: ["*.shop.example"], message: "--intercept shop.example: "),
            Refusal(
                testDescription: "expired", hosts: ["shop.example"], isExpired: true, intercepted: ["shop.example"],
                message: "expired at 2001-09-09T01:46:40Z: run 'crumb gateway ca remove' and "
                    + "'crumb gateway ca create --host shop.example'"),
        ])
    func notStarted(refusal: Refusal) throws {
        if refusal.isExpired {
            try database().addAuthority(
                StoredAuthority(
                    hosts: try refusal.hosts.map { try #require(WebHost($0)) }, certificatePEM: "",
                    privateKey: Secret("key"), creation: Timestamp(seconds: 0),
                    expiry: Timestamp(seconds: 1_000_000_000)))
        } else if !refusal.hosts.isEmpty {
            try create(refusal.hosts[0])
        }
        let result = try home.start(["gateway", "run"] + refusal.intercepted.flatMap { ["--intercept", $0] }).wait()
        #expect(result.status == 77 && result.output.isEmpty, "\(result.messages)")
        #expect(result.messages.contains(refusal.message), "\(result.messages)")
    }

    @Test(
        "Sites that cannot be offered are refused before the gateway starts",
        arguments: [
            (["--upstream", "shop.example"], 64, "write an origin such as https://shop.example"),
            (["--upstream", "https://shop.example/a"], 64, "write an origin"),
            (["--upstream", "https://shop.example", "--intercept", "shop.example"], 64, "Leave it out"),
            (["--listen", ":0", "--listen", ":0"], 64, "as many as there are of --upstream"),
            (["--upstream", "https://a.example", "--upstream", "https://b.example"], 77, "Run another gateway for it"),
            (["--upstream", "https://a.example", "--cookies", "pass"], 77, "Use the mode 'strip'"),
        ])
    func notOffered(options: [String], status: Int32, message: String) throws {
        let result = try home.start(["gateway", "run"] + options).wait()
        #expect(result.status == status && result.output.isEmpty, "\(result.messages)")
        #expect(result.messages.contains(message), "\(result.messages)")
    }

    @Test(
        "A client that trusts the exported certificate accepts the gateway's for the authority's hosts, run after run")
    func trusted() throws {
        try create("localhost")
        #expect(try home.crumb("gateway", "ca", "export", "-o", home.file("authority.pem")).status == 0)
        try home.makeCertificate(for: "localhost", names: "DNS:localhost")
        let (server, port) = try home.startTLSServer()
        defer {
            server.kill()
            _ = server.wait()
        }
        for round in 0..<2 {
            let output = home.file("address\(round)")
            let gateway = try home.start(
                ["gateway", "run", "--intercept", "localhost", "--ca-file", home.file("ca.pem")], output: output,
                messages: home.file("messages\(round)"))
            defer {
                gateway.interrupt()
                #expect(gateway.wait().status == 0)
            }
            let deadline = ContinuousClock.now + .seconds(60)
            while home.bytes("address\(round)").last != UInt8(ascii: "\n"), ContinuousClock.now < deadline {
                usleep(20_000)
            }
            let address = String(decoding: home.bytes("address\(round)").dropLast(), as: UTF8.self)
            let curl = "curl -sS -o answer -w '%{http_code}' --retry 5 --retry-connrefused --proxy \(address)"
            let result = try home.shell("\(curl) --cacert authority.pem https://localhost:\(port)/")
            #expect(result.text == "200", "\(result.text) \(result.messages)")
            #expect(try home.shell("\(curl) --cacert ca.pem https://localhost:\(port)/").status == 60)
        }
    }
}
