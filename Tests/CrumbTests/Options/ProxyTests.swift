import CookieModel
import Foundation
import OAuth2
import TestSupport
import Testing

@testable import crumb_network

@Suite("Proxies and private certificate authorities")
struct ProxyTests {
    @Test(
        "NO_PROXY, as curl reads it",
        arguments: [
            // Everything
            ("example.com", "*", true), ("192.0.2.1", "*", true), ("example.com", " * ", true),
            ("example.com", "", false),
            // Hosts, and those below them
            ("example.com", "example.com", true), ("www.example.com", "example.com", true),
            ("www.example.com", ".example.com", true), ("example.com", ".example.com", true),
            ("notexample.com", "example.com", false), ("example.com", "www.example.com", false),
            ("example.com", "*.example.com", false), ("example.com", "EXAMPLE.com", true),
            ("example.com.", "example.com", true), ("example.com", "example.com.", true),
            ("bücher.example", "bücher.example", true), ("www.bücher.example", "xn--bcher-kva.example", true),
            ("example.com", "com", true), ("example.com", ".", false), ("example.com", "..", false),
            ("example.com", "example.com:443", false),
            // Lists
            ("b.test", "a.test,b.test", true), ("b.test", "a.test b.test", true), ("b.test", "a.test , b.test,", true),
            ("c.test", "a.test,b.test", false), ("c.test", ",,", false), ("a.test", "*,b.test", false),
            // Addresses and ranges
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.10", false), ("10.1.2.3", "10.0.0.0/8", true),
            ("11.1.2.3", "10.0.0.0/8", false), ("192.0.2.129", "192.0.2.128/25", true),
            ("192.0.2.127", "192.0.2.128/25", false), ("192.0.2.1", "192.0.2.1/32", true),
            ("192.0.2.2", "192.0.2.1/32", false), ("192.0.2.1", "192.0.2.1/33", false),
            ("192.0.2.1", "192.0.2.0/-1", false), ("192.0.2.1", "192.0.2.0/", false), ("192.0.2.1", "0.0.0.0/0", true),
            ("192.0.2.1", "2.1", false), ("a.192.0.2.example", "192.0.2.0/24", false),
            ("[2001:db8::1]", "2001:db8::1", true), ("[2001:db8::1]", "[2001:db8:0::1]", true),
            ("[2001:db8::1]", "2001:db8::/32", true), ("[2001:db9::1]", "2001:db8::/32", false),
            ("[2001:db8::1]", "2001:db8::/129", false), ("[2001:db8:8000::]", "2001:db8::/33", false),
            ("[2001:db8::1]", "10.0.0.0/8", false), ("10.1.2.3", "::/0", false),
        ])
    func exceptions(host: String, list: String, isExempt: Bool) throws {
        #expect(ProxySettings.isExempt(try #require(WebHost(host)), by: list) == isExempt)
    }

    @Test(
        "The scheme of the URL decides which proxy variable counts",
        arguments: [
            (["HTTPS_PROXY": "p:1"], "https://a.test", "p:1"), (["https_proxy": "p:1"], "https://a.test", "p:1"),
            (["https_proxy": "p:1", "HTTPS_PROXY": "p:2"], "https://a.test", "p:1"),
            (["https_proxy": "", "HTTPS_PROXY": "p:2"], "https://a.test", "p:2"),
            (["HTTPS_PROXY": "p:1"], "http://a.test", nil), (["http_proxy": "p:1"], "http://a.test", "p:1"),
            // A CGI program has it from whoever asks.
            (["HTTP_PROXY": "p:1"], "http://a.test", nil), (["http_proxy": "p:1"], "https://a.test", nil),
            (["ALL_PROXY": "p:1"], "https://a.test", "p:1"), (["all_proxy": "p:1"], "http://a.test", "p:1"),
            (["ALL_PROXY": "p:1", "HTTPS_PROXY": "p:2"], "https://a.test", "p:2"),
            (["CRUMB_PROXY": "p:1", "HTTPS_PROXY": "p:2"], "https://a.test", "p:1"),
            (["CRUMB_PROXY": "p:1"], "http://a.test", "p:1"),
            (["CRUMB_PROXY": "", "HTTPS_PROXY": "p:2"], "https://a.test", nil), ([:], "https://a.test", nil),
            (["CRUMB_PROXY": "p:1", "NO_PROXY": "a.test"], "https://a.test", nil),
            (["ALL_PROXY": "p:1", "no_proxy": "b.test", "NO_PROXY": "a.test"], "https://a.test", "p:1"),
            (["ALL_PROXY": "p:1", "no_proxy": "", "NO_PROXY": "a.test"], "https://a.test", nil),
            // This machine is never behind a proxy.
            (["CRUMB_PROXY": "p:1"], "http://127.0.0.1:8000", nil), (["ALL_PROXY": "p:1"], "https://localhost", nil),
            (["ALL_PROXY": "p:1"], "https://[::1]:1", nil), (["ALL_PROXY": "p:1"], "http://a.localhost", nil),
        ] as [([String: String], String, String?)])
    func variables(environment: [String: String], url: String, address: String?) throws {
        let proxy = try ProxySettings(environment: environment).proxy(for: try RequestURL(url))
        #expect(proxy?.address == address)
    }

    @Test(
        "The URL of a proxy",
        arguments: [
            ("http://proxy.test:3128", "proxy.test:3128", nil), ("proxy.test:3128/", "proxy.test:3128", nil),
            ("HTTP://10.0.0.1:80", "10.0.0.1:80", nil), ("http://[2001:db8::1]:80", "[2001:db8::1]:80", nil),
            ("http://ana:w%40rd:x@p.test:1", "p.test:1", "ana:w@rd:x"), ("http://ana@p.test:1", "p.test:1", "ana:"),
            ("socks5://p.test:1080", "p.test:1080", nil), ("socks5h://p.test:1080", "p.test:1080", nil),
        ] as [(String, String, String?)])
    func addresses(text: String, address: String, credentials: String?) throws {
        let proxy = try Proxy(text, from: "HTTPS_PROXY")
        #expect(proxy.address == address)
        #expect(proxy.credentials.flatMap { $0.exposedText } == credentials)
    }

    @Test(
        "Text that is not a proxy's URL is rejected by the name of its variable, and not repeated",
        arguments: [
            "https://u:word@p.test:1", "ftp://u:word@p.test:1", "socks4://p.test:1", "socks5://u:word@p.test:1",
            "p.test",
            "http://u:word@p.test", "http://p.test:0", "http://p.test:65536", "http://:1", "http://p.test:1/word",
            "http://u:%ff@p.test:1", "word",
        ])
    func refused(text: String) {
        let error = #expect(throws: ProxyError.self) { _ = try Proxy(text, from: "HTTPS_PROXY") }
        #expect(error?.description.hasPrefix("HTTPS_PROXY: ") == true)
        #expect(error?.description.contains("word@") == false && error?.description.contains("u:word") == false)
    }

    @Test("A login goes through the proxy to a server of a private authority")
    func login() throws {
        let network = try CorporateNetwork(CrumbHome())
        let authority = network.home.file("ca.pem")
        let proxy = "http://127.0.0.1:\(network.port)"
        #expect(
            try network.home.shell(
                "mkdir -p certs && cp ca.pem certs/b.pem && echo none > certs/README && mkfifo certs/a.pem"
            ).status == 0)
        for (options, variables) in [
            ([], ["HTTPS_PROXY": proxy, "SSL_CERT_FILE": authority]),
            ([], ["all_proxy": proxy, "SSL_CERT_DIR": "/nowhere:\(network.home.file("certs"))"]),
            (["--proxy", proxy, "--ca-file", authority], [:]),
            (["--ca-file", authority], ["CRUMB_PROXY": "127.0.0.1:\(network.port)", "NO_PROXY": "other.invalid"]),
        ] as [([String], [String: String])] {
            let before = network.requests.count
            let result = try network.login(options, variables)
            #expect(result.status == 0, "\(options) \(variables): \(result.messages)")
            let asked = network.requests.dropFirst(before)
            #expect(!asked.isEmpty && asked.allSatisfy { $0 == "CONNECT id.corp.invalid:443 -" }, "\(asked)")
        }
        #expect(try network.home.crumb("token", "get", "work").text == "corporate-token\n")
        let socks = try network.login(["--proxy", "socks5://127.0.0.1:\(network.socksPort)", "--ca-file", authority])
        #expect(socks.status == 0, "\(socks.messages)")
        #expect(network.requests.last == "SOCKS id.corp.invalid:443")
    }

    @Test("A failure is printed with the option that helps, and without the proxy's password")
    func faults() throws {
        let network = try CorporateNetwork(CrumbHome(), wantsCredentials: true)
        let home = network.home
        let authority = home.file("ca.pem")
        let place = "127.0.0.1:\(network.port)"
        try home.write("\(CorporateNetwork.credentials)\n", to: "right")
        try home.write("ana:wr0ng\n", to: "wrong")
        try home.write("\(CorporateNetwork.credentials)\n", to: "exposed", mode: 0o644)
        let url = "http://\(CorporateNetwork.credentials)@\(place)"
        for (options, variables, status, words) in [
            (["--ca-file", authority], ["HTTPS_PROXY": url], 0, []),
            (["--ca-file", authority, "--proxy-credentials-file", home.file("right")], ["HTTPS_PROXY": place], 0, []),
            (["--ca-file", authority], ["HTTPS_PROXY": place], 45, [place, "--proxy-credentials-file"]),
            (
                ["--ca-file", authority, "--proxy-credentials-file", home.file("wrong")], ["HTTPS_PROXY": place], 45,
                [place, "--proxy-credentials-file"]
            ),
            (
                ["--proxy-credentials-file", home.file("exposed")], ["HTTPS_PROXY": place], 47,
                ["chmod 600", home.file("exposed")]
            ),
            ([], ["HTTPS_PROXY": url], 45, ["the certificate is not trusted", "--ca-file"]),
            (["--ca-file", home.file("names")], ["HTTPS_PROXY": url], 47, ["--ca-file", home.file("names")]),
            (["--ca-file", home.file("none")], ["HTTPS_PROXY": url], 47, ["--ca-file", "cannot be read"]),
            (
                [], ["HTTPS_PROXY": url, "SSL_CERT_FILE": home.file("names")], 47,
                ["SSL_CERT_FILE", home.file("names")]
            ),
            (["--proxy", "https://ana:s3cret-w0rd@p.invalid:1"], [:], 47, ["--proxy: ", "TLS"]),
            (["--proxy", "http://127.0.0.1:1"], [:], 45, ["the proxy 127.0.0.1:1", "connection refused"]),
            (
                ["--ca-file", authority, "--issuer", "https://no.corp.invalid"], ["HTTPS_PROXY": url], 45,
                [place, "rules"]
            ),
        ] as [([String], [String: String], Int32, [String])] {
            let result = try network.login(options, variables)
            #expect(result.status == status, "\(options) \(variables): \(result.messages)")
            for word in words { #expect(result.messages.contains(word), "\(result.messages)") }
            for secret in ["s3cret", "wr0ng", "client-secret"] {
                #expect(!result.messages.contains(secret), "\(result.messages)")
            }
        }
        let before = network.requests.count
        let direct = try network.login(["--ca-file", authority], ["HTTPS_PROXY": url, "NO_PROXY": "corp.invalid"])
        #expect(direct.status == 45 && direct.messages.contains("name cannot be resolved"), "\(direct.messages)")
        #expect(network.requests.count == before)
    }

    @Test("The service renews through the proxy, by options and by its file; a bad setting keeps it from starting")
    func service() throws {
        let network = try CorporateNetwork(CrumbHome())
        let home = network.home
        let proxy = "http://127.0.0.1:\(network.port)"
        #expect(try network.login(["--proxy", proxy, "--ca-file", home.file("ca.pem")]).status == 0)
        try home.write(#"{"proxy":"\#(proxy)","caFile":"\#(home.file("ca.pem"))"}"#, to: "serve.json")
        let socket = home.file("crumb.sock")
        for options in [["--proxy", proxy, "--ca-file", home.file("ca.pem")], ["--config", home.file("serve.json")]] {
            let before = network.requests.count
            let process = try home.start(["serve", "--log-level", "error", "--socket", socket] + options)
            defer {
                process.kill()
                _ = process.wait()
            }
            var refreshed: RunResult?
            for _ in 0..<600 where refreshed?.status != 0 {
                if refreshed != nil { usleep(50_000) }
                refreshed = try home.start(
                    ["token", "refresh", "work", "--service", "unix:\(socket)"],
                    variables: ["CRUMB_DATABASE": nil, "CRUMB_PROXY": "127.0.0.1:1"]
                ).wait()
                if refreshed?.status != 55 { break }
            }
            #expect(refreshed?.status == 0, "\(refreshed?.messages ?? "")")
            #expect(network.requests.count > before)
        }
        let refused = try home.start(["serve", "--socket", socket, "--proxy", "https://ana:s3cret-w0rd@p:1"]).wait()
        #expect(refused.status == 54 && refused.messages.contains("--proxy: "), "\(refused.messages)")
        #expect(!refused.messages.contains("s3cret"))

        try home.write(#"{"caFile":"/none/ca.pem"}"#, to: "wrong.json")
        let file = home.file("wrong.json")
        let byFile = try home.start(["serve", "--socket", socket, "--config", file]).wait()
        #expect(
            byFile.status == 54 && byFile.messages.contains("\(file): caFile: /none/ca.pem cannot be read"),
            "\(byFile.messages)")
        let byOption = try home.start(["serve", "--socket", socket, "--config", file, "--ca-file", "/none/own"]).wait()
        #expect(byOption.status == 54 && byOption.messages.contains("--ca-file: /none/own"), "\(byOption.messages)")
    }

    @Test(
        "A setting that cannot be used is told apart from a server that cannot be reached, for this machine's servers too",
        arguments: [
            (["--ca-file", "FILE"], [:], "--ca-file"), ([], ["CRUMB_CA_FILE": "FILE"], "--ca-file"),
            ([], ["SSL_CERT_FILE": "FILE"], "SSL_CERT_FILE"), ([], ["SSL_CERT_DIR": "FILE"], "SSL_CERT_DIR"),
            (["--proxy", "ftp://p.invalid"], [:], "--proxy"), ([], ["CRUMB_PROXY": "ftp://p.invalid"], "--proxy"),
            (["--proxy-credentials-file", "FILE"], [:], "--proxy-credentials-file"),
        ] as [([String], [String: String], String)])
    func settings(options: [String], variables: [String: String], name: String) throws {
        let home = CrumbHome()
        let server = try AuthorizationServer()
        let file = try home.write("no certificates\n", to: "file")
        let words = [
            "token", "login", "work", "--client-credentials", "--client-id", "app", "--endpoint",
            "token_endpoint=\(server.issuer)/token",
        ]
        func login(_ options: [String], _ variables: [String: String]) throws -> RunResult {
            var all = variables.mapValues { $0 == "FILE" ? file : $0 }
            all["CRUMB_CLIENT_SECRET"] = "client-s3cret"
            return try home.start(words + options.map { $0 == "FILE" ? file : $0 }, variables: all).wait()
        }
        let refused = try login(options, variables)
        #expect(refused.status == 47 && refused.messages.contains(name), "\(refused.messages)")
        #expect(refused.messages.contains("setting on this machine") && server.paths.isEmpty)
        #expect(try login([], [:]).status == 0)
    }

    @Test("A server on this machine is asked directly")
    func loopback() throws {
        let home = CrumbHome()
        let server = try AuthorizationServer()
        let tokens = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try home.start(
            ["token", "import", "work", "--client-id", "app", "--endpoint", "token_endpoint=\(server.issuer)/token"],
            input: tokens
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
        let proxies = ["http_proxy": "127.0.0.1:1", "ALL_PROXY": "127.0.0.1:1", "CRUMB_PROXY": "127.0.0.1:1"]
        let refreshed = try home.start(["token", "refresh", "work"], variables: proxies).wait()
        #expect(refreshed.status == 0, "\(refreshed.messages)")
    }
}
