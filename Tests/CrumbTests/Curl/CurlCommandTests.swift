import CookieModel
import Foundation
import RequestDecoration
import SessionOperations
import TestSupport
import Testing

@testable import CrumbCommands

/// Real runs of `crumb curl` against a server on this machine.
@Suite(.serialized) struct CurlCommandTests {
    let crumb: CurlFixture

    init() throws {
        crumb = try CurlFixture()
    }

    @Test func `every hop gets its cookies, and what it sets is there for the next`() throws {
        let other = try LoopbackServer { request in
            LoopbackServer.Response(setCookie: ["other=1"], body: "end of \(request.target)\n")
        }
        let server = try LoopbackServer { request in
            switch request.target {
            case "/1": LoopbackServer.Response(302, setCookie: ["a=1", "deep=1; Path=/deep"], location: "/2")
            case "/2": LoopbackServer.Response(301, setCookie: ["b=2", "__Host-x=1"], location: "/deep/3")
            case "/deep/3": LoopbackServer.Response(303, setCookie: ["a=; Max-Age=0; Path=/"], location: "../4")
            case "/4":
                // The same machine under another name is another host.
                LoopbackServer.Response(
                    307, setCookie: ["b=3"],
                    location: "//"
                        + request.text("host").joined().replacingOccurrences(of: "127.0.0.1", with: "localhost") + "/5")
            default: LoopbackServer.Response(308, location: "http://127.0.0.1:\(other.port)/6")
            }
        }
        let outcome = try crumb.curl("--no-progress-meter", "-L", "http://127.0.0.1:\(server.port)/1")
        #expect(outcome.text == "end of /6\n")
        #expect(outcome.status == 0)
        #expect(outcome.messages == "crumb: 6 hops, 6 cookies sent, 5 taken, 1 deleted, 1 refused (prefix-host)\n")
        #expect(server.requests.map(\.target) == ["/1", "/2", "/deep/3", "/4", "/5"])
        #expect(server.requests.map { $0.text("cookie") } == [[], ["a=1"], ["deep=1; a=1; b=2"], ["b=2"], []])
        // Cookies know no ports: the other server is the same host.
        #expect(other.requests.map { $0.text("cookie") } == [["b=3"]])
    }

    @Test func `without -L there is one request`() throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(302, setCookie: ["a=1"], location: "/x", body: "moved")
        }
        let outcome = try crumb.curl("--no-progress-meter", "http://127.0.0.1:\(server.port)/")
        #expect(outcome.text == "moved")
        #expect(server.requests.count == 1)
        #expect(outcome.messages == "crumb: 1 hop, 0 cookies sent, 1 taken\n")
    }

    @Test(arguments: [401, 404, 500])
    func `cookies of a failure count too`(status: Int) throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(status, setCookie: ["a=1"]) }
        let url = "http://127.0.0.1:\(server.port)/"
        #expect(try crumb.curl("-sSf", url).status == 22)
        #expect(try crumb.curl("-sS", url).status == 0)
        #expect(server.requests.map { $0.text("cookie") } == [[], ["a=1"]])
    }

    @Test func `cookies stay where a later hop fails`() throws {
        let server = try LoopbackServer { request in
            request.target == "/"
                ? LoopbackServer.Response(302, setCookie: ["a=1"], location: "http://127.0.0.1:1/")
                : LoopbackServer.Response()
        }
        let outcome = try crumb.curl("-sSL", "http://127.0.0.1:\(server.port)/")
        #expect(outcome.status == 7)
        #expect(outcome.messages.hasPrefix("curl: (7) "))
        _ = try crumb.curl("-sS", "http://127.0.0.1:\(server.port)/2")
        #expect(server.requests.last?.text("cookie") == ["a=1"])
    }

    @Test func `a POST becomes a GET or stays, with its body from standard input`() throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/302": LoopbackServer.Response(302, location: "/end")
            case "/307": LoopbackServer.Response(307, location: "/308")
            case "/308": LoopbackServer.Response(308, location: "/end")
            default: LoopbackServer.Response()
            }
        }
        let base = "http://127.0.0.1:\(server.port)"
        _ = try crumb.curl("-sSL", "-d", "@-", "\(base)/302", input: "body")
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect(server.requests[1].body.isEmpty)
        #expect(server.requests[1].text("content-type").isEmpty)
        for arguments in [["-d", "@-"], ["-T", "-"], ["-F", "f=@-"]] {
            let before = server.requests.count
            let outcome = try crumb.run(
                ["curl", "--database", crumb.path("jar"), "--", "-sSL"] + arguments + ["\(base)/307"], input: "again")
            #expect(outcome.status == 0)
            let bodies = server.requests[before...].map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.count == 3 && bodies.allSatisfy { $0.contains("again") }, "\(arguments)")
            #expect(Set(server.requests[before...].map(\.method)) == [arguments[0] == "-T" ? "PUT" : "POST"])
        }
    }

    @Test func `the chain has an end`() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(302, location: "/") }
        let url = "http://127.0.0.1:\(server.port)/"
        let outcome = try crumb.curl("--no-progress-meter", "-L", "--max-redirs", "3", "-w", "%{num_redirects}", url)
        #expect(outcome.status == 47)
        #expect(outcome.text == "3")
        #expect(
            outcome.messages == "curl: (47) Maximum (3) redirects followed\ncrumb: 4 hops, 0 cookies sent, 0 taken\n")
        #expect(try crumb.curl("-sL", url, options: ["--quiet"]).messages.isEmpty)
        #expect(server.requests.count == 4 + 21)
    }

    @Test func `credentials do not cross origins`() throws {
        let other = try LoopbackServer { _ in LoopbackServer.Response() }
        let server = try LoopbackServer { request in
            LoopbackServer.Response(
                302, setCookie: ["jar=1"], location: request.target == "/" ? "/2" : "http://127.0.0.1:\(other.port)/")
        }
        try crumb.write(".curlrc", "oauth2-bearer = \"token\"\nheader = \"Authorization: Bearer token\"\nsilent\n")
        let url = "http://me:pw@127.0.0.1:\(server.port)/"
        let outcome = try crumb.curl("-L", "-b", "own=1; jar=mine", "-H", "Cookie: more=2", "-H", "X-Key: k", url)
        #expect(outcome.status == 0)
        #expect(server.requests.map { $0.text("authorization") } == [["Bearer token"], ["Bearer token"]])
        #expect(
            server.requests.map { $0.text("cookie") } == [["own=1; jar=mine; more=2"], ["own=1; jar=mine; more=2"]])
        #expect(other.requests.map { $0.text("authorization") } == [[]])
        #expect(other.requests.map { $0.text("cookie") } == [["jar=1"]])
        #expect(other.requests.map { $0.text("x-key") } == [["k"]])
        _ = try crumb.curl("--location-trusted", url)
        #expect(other.requests[1].text("authorization") == ["Bearer token"])
    }

    @Test func `a redirect to elsewhere is named without its secrets`() throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(302, setCookie: ["a=1"], location: "app://callback?code=s3cr3t")
        }
        let outcome = try crumb.curl("--no-progress-meter", "-L", "http://127.0.0.1:\(server.port)/")
        #expect(outcome.status == FailureKind.redirectInvalid.exitStatus)
        #expect(outcome.messages.contains("app://callback") && !outcome.messages.contains("s3cr3t"))
        #expect(outcome.messages.contains("1 taken"))
    }

    @Test func `curl's own configuration cannot follow redirects or keep cookies`() throws {
        let server = try LoopbackServer { request in
            request.target == "/"
                ? LoopbackServer.Response(302, setCookie: ["a=1"], location: "/2") : LoopbackServer.Response()
        }
        let url = "http://127.0.0.1:\(server.port)/"
        try crumb.write(".curlrc", "location\nsilent\n")
        #expect(try crumb.curl(url).text == "body\n")
        #expect(server.requests.map { $0.text("cookie") } == [[], ["a=1"]])
        #expect(try crumb.curl("--no-location", url).text == "body\n")
        #expect(server.requests.count == 3)
        try crumb.write(".curlrc", "cookie-jar = jar.txt\n")
        #expect(try crumb.curl(url).status == FailureKind.curlArgumentsUnsupported.exitStatus)
        #expect(try crumb.curl("-q", "-sS", url).status == 0)
    }

    @Test func `a challenge within a hop is answered, and its cookies are taken`() throws {
        let server = try LoopbackServer { request in
            if request.target == "/", request.values("authorization").isEmpty {
                var response = LoopbackServer.Response(401, setCookie: ["challenge=1"])
                response.fields.append(
                    ("WWW-Authenticate", Array("Digest realm=\"r\", nonce=\"n\", qop=\"auth\"".utf8)))
                return response
            }
            return request.target == "/"
                ? LoopbackServer.Response(302, setCookie: ["in=1"], location: "/end")
                : LoopbackServer.Response(body: "in")
        }
        let outcome = try crumb.curl("-sSL", "--digest", "-u", "a:b", "http://127.0.0.1:\(server.port)/")
        #expect(outcome.text == "in")
        #expect(outcome.status == 0)
        #expect(server.requests.map(\.target) == ["/", "/", "/end"])
        #expect(server.requests.map { $0.text("cookie") } == [[], [], ["challenge=1; in=1"]])
    }

    @Test func `a proxy sets no cookies for the server behind it`() throws {
        let proxy = try LoopbackServer { request in
            LoopbackServer.Response(request.method == "CONNECT" ? 403 : 407, setCookie: ["proxy=1"])
        }
        let arguments = ["--no-progress-meter", "-x", "http://127.0.0.1:\(proxy.port)", "http://server.example/"]
        let tunnel = try crumb.run(["curl", "--database", crumb.path("jar"), "--", "-p"] + arguments)
        #expect(tunnel.status == 56)
        let plain = try crumb.run(["curl", "--database", crumb.path("jar"), "--"] + arguments)
        #expect(plain.status == 0)
        #expect(proxy.requests.map(\.method) == ["CONNECT", "GET"])
        #expect(plain.messages == "crumb: 1 hop, 0 cookies sent, 0 taken\n")
        #expect(tunnel.messages.hasSuffix("crumb: 1 hop without a response, 0 cookies sent, 0 taken\n"))
    }

    @Test func `any octets come back as they were`() throws {
        let value = Array("\"q\\u%41 \t;".utf8.dropLast()) + [0xFF, 0xC3, 0x28, 0x80] + Array("\\n\"".utf8)
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response()
            response.fields = [("Set-Cookie", Array("v=".utf8) + value + Array("; Path=/".utf8))]
            return response
        }
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try crumb.curl("-sS", url)
        _ = try crumb.curl("-sSL", url)
        #expect(server.requests.last?.values("cookie") == [Array("v=".utf8) + value])
        // And those that the user types.
        let words = ["curl", "--database", crumb.path("jar"), "--", "-sS", url, "-b"].map { Array($0.utf8) }
        _ = try crumb.run(octets: words + [Array("w=".utf8) + value])
        #expect(server.requests.last?.values("cookie") == [Array("w=".utf8) + value + Array("; v=".utf8) + value])
    }

    @Test func `a header longer than a pipe goes through`() throws {
        let server = try LoopbackServer { request in
            let first = request.target == "/1" ? 0 : 12
            return LoopbackServer.Response(
                setCookie: (first..<(first + 12)).map { "c\($0)=" + String(repeating: "x", count: 4000) })
        }
        let base = "http://127.0.0.1:\(server.port)"
        for target in ["/1", "/2", "/3"] { #expect(try crumb.curl("-sS", base + target).status == 0) }
        #expect(server.requests.last?.values("cookie").first?.count ?? 0 > 24 * 4000)
    }

    #if os(Linux)
        @Test func `no process shows a cookie's value`() throws {
            let secret = "s3cr3t-\(UInt64.random(in: .min ... .max))"
            let seen = Seen()
            let server = try LoopbackServer { request in
                if request.target == "/look" { seen.look(for: secret) }
                return LoopbackServer.Response(setCookie: ["v=\(secret)"])
            }
            let base = "http://127.0.0.1:\(server.port)"
            _ = try crumb.curl("-sS", "\(base)/seed")
            let outcome = try crumb.curl("-sSL", "\(base)/look")
            #expect(server.requests.last?.text("cookie") == ["v=\(secret)"])
            #expect(!outcome.messages.contains(secret))
            #expect(seen.processes > 1)
            #expect(seen.leaks.isEmpty)
        }

        /// The data that other programs could see while a request is in progress.
        ///
        /// `@unchecked` because the compiler cannot see that `lock` guards the state while requests run. The test reads it
        /// afterwards.
        private final class Seen: @unchecked Sendable {
            private let lock = NSLock()
            private(set) var processes = 0
            private(set) var leaks: [String] = []

            func look(for secret: String) {
                lock.withLock {
                    for process in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
                        for file in ["cmdline", "environ"] where Int(process) != nil {
                            let path = "/proc/\(process)/\(file)"
                            guard let octets = FileManager.default.contents(atPath: path), !octets.isEmpty else {
                                continue
                            }
                            let text = String(decoding: octets, as: UTF8.self)
                            if text.contains("/look") { processes += 1 }
                            if text.contains(secret) { leaks.append(path) }
                        }
                    }
                }
            }
        }
    #endif

    @Test func `what curl prints is what curl prints`() throws {
        let server = try LoopbackServer { request in
            request.target == "/1"
                ? LoopbackServer.Response(302, setCookie: ["a=1"], location: "/dir/end", body: "moved\n")
                : LoopbackServer.Response(body: "end\n")
        }
        let url = "http://127.0.0.1:\(server.port)/1"
        let heads = """
            HTTP/1.1 302 Status\r\nSet-Cookie: a=1\r\nLocation: /dir/end\r\nContent-Length: 6\r\nConnection: close\r\n\r
            HTTP/1.1 200 Status\r\nContent-Length: 4\r\nConnection: close\r\n\r\n
            """
        #expect(try crumb.curl("-sSL", "-i", url).text == heads + "end\n")
        #expect(try crumb.curl("-sSL", "-I", url).text == heads)
        #expect(try crumb.curl("-sSL", "-D", "-", url).text == heads + "end\n")
        #expect(
            try crumb.curl("-sSL", "-D", "-", "-o", crumb.path("o"), "-w", "%{http_code}", url).text == heads + "200")
        #expect(crumb.read("o") == "end\n")
        #expect(try crumb.curl("-sSL", "-D", crumb.path("d"), url).text == "end\n")
        #expect(crumb.read("d") == heads)
        let attributes = try FileManager.default.attributesOfItem(atPath: crumb.path("d"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try crumb.curl("-sSL", "-w", "%{http_code} %{num_redirects}\\n", url).text == "end\n200 1\n")
        let toError = try crumb.curl("--no-progress-meter", "-L", "-w", "%{stderr}%{http_code}\n", url)
        #expect(toError.text == "end\n")
        #expect(toError.messages == "200\ncrumb: 2 hops, 2 cookies sent, 1 taken\n")
        _ = try crumb.curl("-sSL", "-O", "--output-dir", crumb.folder, url)
        #expect(crumb.read("1") == "end\n")
        let verbose = try crumb.curl("-sSLv", url).messages
        #expect(verbose.contains("< HTTP/1.1 302 Status") && verbose.contains("< HTTP/1.1 200 Status"))
        #expect(!verbose.contains("redirects followed"))
    }

    @Test func `there is a line of JSON for each hop, without values`() throws {
        let server = try LoopbackServer { request in
            request.target != "/2"
                ? LoopbackServer.Response(302, setCookie: ["a=v4lue", "__Host-x=1"], location: "/2")
                : LoopbackServer.Response()
        }
        let origin = "http://127.0.0.1:\(server.port)"
        let messages = try crumb.curl("-sSL", "\(origin)/1?code=s3cr3t", options: ["--json"]).messages
        #expect(
            messages == """
                {"deleted":[],"evicted":[],"hop":1,"method":"GET","refused":[{"name":"__Host-x","reasons":["prefix-host"]}],\
                "sent":[],"statuses":[302],"stored":["a"],"url":"\(origin)/1"}
                {"deleted":[],"evicted":[],"hop":2,"method":"GET","refused":[],"sent":["a"],"statuses":[200],"stored":[],"url":"\(origin)/2"}

                """)
    }

    @Test func `cookies that curl could not send are not counted as sent`() throws {
        let server = try LoopbackServer { request in
            request.target == "/on"
                ? LoopbackServer.Response(302, location: "http://127.0.0.1:1/")
                : LoopbackServer.Response(setCookie: ["a=1; Path=/", "b=2; Path=/", "c=3; Path=/"])
        }
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try crumb.curl("-sS", url)
        let unsent = try crumb.curl("--no-progress-meter", "http://127.0.0.1:1/")
        #expect(unsent.status == 7)
        #expect(
            unsent.messages.hasSuffix("crumb: 1 hop without a response, 0 cookies sent, 0 taken\n"),
            "\(unsent.messages)")
        let json = try crumb.curl("-sS", "http://127.0.0.1:1/", options: ["--json"]).messages
        #expect(json.contains(#""sent":[],"statuses":[]"#) && !json.contains("possiblySent"), "\(json)")
        let half = try crumb.curl("--no-progress-meter", "-L", url + "on")
        #expect(
            half.messages.hasSuffix("crumb: 2 hops (1 without a response), 3 cookies sent, 0 taken\n"),
            "\(half.messages)")
    }

    @Test(arguments: [(7, 0, 0), (6, 0, 0), (60, 0, 0), (52, 3, 0), (28, 0, 3), (56, 0, 3), (0, 3, 0)])
    func `how curl ended tells whether the request went out`(status: Int32, sent: Int, possibly: Int) throws {
        let context = RequestContext(url: try RequestURL("http://127.0.0.1/"))
        var report = CurlHopReport(RedirectChain(context), CurlDecoration(cookies: ["a", "b", "c"]))
        report.noteEnd(status)
        #expect((report.sent.count, report.possiblySent?.count ?? 0) == (sent, possibly))
        report.noteResponse()
        #expect(report.sent.count == 3)
    }

    @Test(arguments: [["-s"], ["--silent"], ["-sS"], ["-fsS"]])
    func `with curl's --silent there is no summary`(words: [String]) throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(setCookie: ["a=1"]) }
        let url = "http://127.0.0.1:\(server.port)/"
        let run = { try crumb.run(["curl", "--database", crumb.path("jar")] + $0 + words + [url]) }
        #expect(try run([]).messages.isEmpty)
        #expect(try run(["--json"]).messages.hasPrefix("{"))
    }

    @Test func `curl's arguments begin with the first that is not crumb's, with or without --`() throws {
        let server = try LoopbackServer { request in
            LoopbackServer.Response(body: "\(request.method) \(request.target) \(request.text("x-a").joined())")
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let curl = ["curl", "--database", crumb.path("jar")]
        #expect(try crumb.run(curl + [url + "1"]).text == "GET /1 ")
        #expect(try crumb.run(curl + ["-s", "-H", "X-A: --json", url]).text == "GET / --json")
        #expect(try crumb.run(curl + [url, "-sX", "PUT"]).text == "PUT / ")
        #expect(try crumb.run(curl + ["--quiet", "--", "-H", "X-A: b", url]).text == "GET / b")
        #expect(try crumb.run(curl + ["--", "-s", "--", url]).text == "GET / ")
        #expect(try crumb.run(curl + ["--", "-s", "--json", "{}", url]).text == "POST / ")
        let ambiguous = try crumb.run(curl + ["--json", "{}", url])
        #expect(ambiguous.status == 64 && ambiguous.output.isEmpty)
        #expect(
            ambiguous.messages.contains("Put '--' before curl's arguments: crumb curl -- "), "\(ambiguous.messages)")
        let late = try crumb.run(curl + ["-s", url, "--jar", "work"])
        #expect(late.status == FailureKind.curlArgumentsUnsupported.exitStatus)
        #expect(late.messages.contains("--jar: ") && late.messages.contains("before curl's arguments"))
    }

    @Test func `the context of the request counts`() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(setCookie: ["s=1; SameSite=Strict"]) }
        let url = "http://127.0.0.1:\(server.port)/"
        _ = try crumb.curl("-sS", url)
        _ = try crumb.curl("-sS", url, options: ["--initiator", "https://elsewhere.example"])
        _ = try crumb.curl("-sS", url)
        #expect(server.requests.map { $0.text("cookie") } == [[], [], ["s=1"]])
    }

    @Test func `failures before curl runs have a status and a sentence`() throws {
        let missing = try crumb.curl()
        #expect(missing.status == FailureKind.urlMissing.exitStatus)
        let refused = try crumb.curl("-c", "f", "http://127.0.0.1:1/")
        #expect(refused.status == FailureKind.curlArgumentsUnsupported.exitStatus)
        #expect(refused.messages.hasPrefix("crumb: --cookie-jar: "))
        let unwritable = try crumb.curl("-D", crumb.path("no/such"), "http://127.0.0.1:1/")
        #expect(unwritable.status == FailureKind.outputFailed.exitStatus)
        #expect(unwritable.messages.split(separator: "\n").count == 1)
        crumb.environment["PATH"] = crumb.folder
        let without = try crumb.curl("http://127.0.0.1:1/")
        #expect(without.status == FailureKind.curlNotFound.exitStatus)
        #expect(without.messages.hasPrefix("crumb: curl was not found on PATH"))
    }
}
