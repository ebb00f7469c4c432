import Foundation
import TestSupport
import Testing

/// A company's network on loopback: an authorization server, `https://id.corp.invalid`, whose certificate is of a private
/// authority, behind a proxy for CONNECT and SOCKS 5 that alone knows its name.
final class CorporateNetwork {
    /// The user name and password that the proxy wants, where it wants any.
    static let credentials = "ana:s3cret-w0rd"

    let home: CrumbHome
    /// The port of the HTTP proxy, and of the SOCKS proxy.
    let port: Int
    let socksPort: Int
    private let process: RunningProcess

    /// - Parameter wantsCredentials: whether the HTTP proxy lets only those through who know ``credentials``.
    init(_ home: CrumbHome, wantsCredentials: Bool = false) throws {
        self.home = home
        try home.makeCertificate(for: "id.corp.invalid", names: "DNS:id.corp.invalid")
        try home.write(Self.script, to: "network.py")
        process = try RunningProcess(
            "python3", [home.file("network.py"), home.path, wantsCredentials ? Self.credentials : ""],
            environment: home.environment, scratch: home.path)
        for _ in 0..<600 where home.bytes("ports").last != UInt8(ascii: "\n") { usleep(50_000) }
        let ports = String(decoding: home.bytes("ports"), as: UTF8.self).split { $0.isWhitespace }.compactMap {
            Int($0)
        }
        try #require(ports.count == 2, "python3 does not start")
        (port, socksPort) = (ports[0], ports[1])
    }

    deinit {
        process.kill()
        _ = process.wait()
    }

    /// What the proxies were asked for so far: `CONNECT HOST:PORT CREDENTIALS`, or `SOCKS HOST:PORT`.
    var requests: [String] {
        String(decoding: home.bytes("requests"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Logs in with the client's own credentials.
    func login(_ options: [String] = [], _ variables: [String: String?] = [:]) throws -> RunResult {
        try home.start(
            [
                "token", "login", "work", "--issuer", "https://id.corp.invalid", "--client-id", "app",
                "--client-credentials",
            ] + options,
            variables: variables.merging(["CRUMB_CLIENT_SECRET": "client-secret"]) { $1 }
        ).wait()
    }

    private static let script = #"""
        import base64, http.server, json, socket, socketserver, ssl, sys, threading
        folder, credentials = sys.argv[1:3]
        origin = "https://id.corp.invalid"

        def note(line):
            with open(folder + "/requests", "a") as file:
                file.write(line + "\n")

        class Server(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *arguments): pass
            def answer(self, value):
                body = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self):
                self.answer({"issuer": origin, "token_endpoint": origin + "/token"})
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.answer({"access_token": "corporate-token", "token_type": "Bearer", "expires_in": 3600})

        class Threaded(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

        class TLS(Threaded):
            def finish_request(self, request, address):
                try:
                    super().finish_request(context.wrap_socket(request, server_side=True), address)
                except OSError:
                    pass

        def pump(source, target):
            try:
                while data := source.recv(65536):
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        def tunnel(client):
            server = socket.create_connection(("127.0.0.1", tls.server_address[1]))
            threading.Thread(target=pump, args=(server, client), daemon=True).start()
            pump(client, server)

        class Connect(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments): pass
            def do_CONNECT(self):
                shown = self.headers.get("Proxy-Authorization", "-")
                note("CONNECT %s %s" % (self.path, shown))
                wanted = "Basic " + base64.b64encode(credentials.encode()).decode()
                if credentials and shown != wanted:
                    return self.send_error(407)
                if not self.path.startswith("id.corp.invalid:"):
                    return self.send_error(403)
                self.send_response(200)
                self.end_headers()
                tunnel(self.connection)

        class Socks(socketserver.BaseRequestHandler):
            def handle(self):
                _, count = self.request.recv(2)
                self.request.recv(count)
                self.request.sendall(b"\x05\x00")
                self.request.recv(3)
                kind = self.request.recv(1)[0]
                assert kind == 3
                host = self.request.recv(self.request.recv(1)[0]).decode()
                note("SOCKS %s:%d" % (host, int.from_bytes(self.request.recv(2), "big")))
                self.request.sendall(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
                tunnel(self.request)

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/host.pem", folder + "/host.key")
        tls = TLS(("127.0.0.1", 0), Server)
        servers = [tls, Threaded(("127.0.0.1", 0), Connect), Threaded(("127.0.0.1", 0), Socks)]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        with open(folder + "/ports", "w") as file:
            file.write(" ".join(str(server.server_address[1]) for server in servers[1:]) + "\n")
        threading.Event().wait()
        """#
}
