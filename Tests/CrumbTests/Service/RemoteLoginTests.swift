import Foundation
import TestSupport
import Testing

/// Logins that a service keeps, begun by the command.
@Suite("Logins over a service")
struct ServedLoginTests {
    private let server: AuthorizationServer
    private let service: RunningService

    init() throws {
        server = try AuthorizationServer()
        service = try RunningService(.socket)
    }

    @Test("The browser comes back here, and the tokens are with the service alone")
    func browser() throws {
        // The user's browser, as far as the server is concerned: whoever is sent to the page comes back with a code.
        let browser = try service.home.write(
            """
            #!/usr/bin/env python3
            import sys, urllib.request, urllib.parse
            class Stop(urllib.request.HTTPRedirectHandler):
                def redirect_request(self, *arguments): return None
            opener = urllib.request.build_opener(Stop, urllib.request.ProxyHandler({}))
            def fetch(url):
                try: return opener.open(url, timeout=20)
                except urllib.error.HTTPError as error: return error
            page = urllib.parse.urlsplit(fetch(sys.argv[1]).headers["Location"])
            query = dict(urllib.parse.parse_qsl(page.query))
            back = query["redirect_uri"] + "?" + urllib.parse.urlencode({"code": "code-1", "state": query["state"]})
            fetch(query["redirect_uri"] + "?code=stolen&state=wrong")
            with open(sys.argv[0] + ".page", "wb") as file: file.write(fetch(back).read())

            """, to: "xdg-open", mode: 0o700)
        // The command may end before the browser has read its page.
        let page = try TalkPipe("\(browser).page", staysOpen: true)
        let path = URL(filePath: browser).deletingLastPathComponent().path
        let search = "\(path):\(service.home.environment["PATH"] ?? "")"
        let words = [
            "token", "login", "work", "--endpoint", "token_endpoint=\(server.issuer)/token", "--endpoint",
            "authorization_endpoint=\(server.issuer)/authorize", "--client-id", "app", "--account", "me",
        ]
        let result = try service.ask(words, variables: ["PATH": search, "BROWSER": nil])
        #expect(result.status == 0 && result.messages.contains("logged in: work: valid"), "\(result.messages)")
        #expect(!result.messages.contains("access-0") && !result.messages.contains("refresh-0"))
        let forms = server.forms(at: "/token")
        #expect(forms.count == 1 && forms.first?.contains("code=code-1") == true, "\(forms)")
        #expect(forms.first?.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A") == true)
        #expect(try service.ask(["token", "get", "work"]).text == "access-0\n")
        // What was said before holds.
        let again = try service.ask(["token", "login", "work"], variables: ["PATH": search, "BROWSER": nil])
        #expect(again.status == 0 && server.forms(at: "/token").count == 2, "\(again.messages)")
        #expect(page.says("You are logged in"))
        // The account is refused by the service; the browser says so.
        let other = try service.ask(
            ["token", "login", "work", "--account", "you"], variables: ["PATH": search, "BROWSER": nil])
        #expect(other.status == 36, "\(other.messages)")
        #expect(page.says("The login failed") && page.says("nothing was changed"))
    }

    @Test("A login on another device and the client's own go over the service, too")
    func others() throws {
        let device = try service.ask([
            "token", "login", "tv", "--device", "--issuer", server.issuer, "--client-id", "app", "--account", "me",
            "--json",
        ])
        #expect(device.status == 0, "\(device.messages)")
        let objects = try device.objects()
        #expect(objects.count == 2 && objects.first?["userCode"] as? String == "AB-CD")
        #expect(objects.last?["state"] as? String == "valid")
        let machine = try service.ask(
            ["token", "login", "machine", "--client-credentials", "--issuer", server.issuer, "--client-id", "app"],
            variables: ["CRUMB_CLIENT_SECRET": "client-s3cret"])
        #expect(machine.status == 0, "\(machine.messages)")
        #expect(try service.ask(["token", "get", "machine"]).text == "machine-1\n")
        let refused = try service.ask([
            "token", "login", "wrong", "--client-credentials", "--client-id", "app", "--endpoint",
            "token_endpoint=\(server.issuer)/nowhere",
        ])
        #expect(refused.status != 0 && refused.messages.contains("/nowhere"), "\(refused.messages)")
        #expect(try service.ask(["token", "get", "wrong"]).status == 40)
    }
}
