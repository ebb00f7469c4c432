import CookieModel
import Foundation
import NIOCore
import NIOSSL
import Synchronization
import TestSupport
import Testing

@testable import SessionGateway

@Suite("Certificates of servers")
struct ServerCertificateTests {
    /// A server's own authority and certificate, in a folder that ends with it.
    private final class Identity: Sendable {
        let folder: String
        /// The names that clients have sent in SNI fields; `nil` for a client that has sent none.
        let serverNames = Mutex<[String?]>([])

        /// - Parameter names: The alternative names, as OpenSSL writes them.
        init(_ names: String) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "server-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let result = try RunningProcess(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=common.example", "-addext", "subjectAltName=\(names)", "-keyout", "\(folder)/key.pem",
                    "-out", "\(folder)/certificate.pem",
                ], scratch: folder
            ).wait()
            try #require(result.status == 0, "\(result.messages)")
        }

        deinit {
            try? FileManager.default.removeItem(atPath: folder)
        }

        var certificates: [NIOSSLCertificate] {
            get throws { try NIOSSLCertificate.fromPEMFile("\(folder)/certificate.pem") }
        }

        /// Starts a server that answers each request.
        func start(on host: String) async throws -> RecordingServer {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try certificates.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: "\(folder)/key.pem", format: .pem)))
            tls.sslContextCallback = { [self] values, promise in
                serverNames.withLock { $0.append(values.serverHostname) }
                promise.succeed(.noChanges)
            }
            return try await RecordingServer.start(on: host, tls: try NIOSSLContext(configuration: tls)) { octets in
                octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                    ? Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8) : nil
            }
        }
    }

    /// A gateway for programs that decrypts requests to a host, and trusts the server.
    ///
    /// - Parameter proxy: The proxy in front of the server; `nil` for none.
    private static func settings(
        intercepting host: WebHost, trusting identity: Identity, through proxy: GatewayAddress? = nil
    ) throws -> GatewaySetup {
        var settings = GatewaySetup.forTools
        settings.intercept(host, by: try CertificateAuthority(for: [host], now: .now))
        settings.tls.trustRoots = .certificates(try identity.certificates)
        settings.proxy = { _ in proxy.map { GatewayEnvironment.UpstreamProxy(host: $0.host, port: $0.port) } }
        return settings
    }

    /// Sends a request with curl, which trusts the gateway's authority only.
    ///
    /// - Returns: The head and the body of the response, behind those of the tunnel.
    private static func get(
        _ url: String, through address: GatewayAddress, _ settings: GatewaySetup, in folder: String
    ) async throws -> RunResult {
        let authority = try #require(settings.authority)
        try Data(authority.certificatePEM.utf8).write(to: URL(filePath: "\(folder)/authority.pem"))
        let process = try RunningProcess(
            "curl",
            [
                "-sSgi", "--suppress-connect-headers", "--noproxy", "", "--proxy", "\(address)", "--cacert",
                "\(folder)/authority.pem", url,
            ], scratch: folder)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: process.wait()) }
        }
    }

    @Test(
        "A server at an address is verified by it, behind a proxy at another address, too",
        arguments: [("127.0.0.2", false), ("127.0.0.2", true), ("[::1]", false), ("[::1]", true)])
    func addresses(text: String, hasProxy: Bool) async throws {
        let host = try #require(WebHost(text))
        let identity = try Identity("IP:127.0.0.2,IP:0:0:0:0:0:0:0:1")
        let server = try await identity.start(on: host.unbracketed)
        let fixture = try GatewayFixture()
        try fixture.set("sid=31d4; Secure; HttpOnly", at: "https://\(host)/")
        let authority = "\(host):\(server.port)"
        let proxy = try GatewayFixture()
        try await proxy.run { proxyAddress in
            let settings = try Self.settings(
                intercepting: host, trusting: identity, through: hasProxy ? proxyAddress : nil)
            try await fixture.run(settings) { address in
                let result = try await Self.get(
                    "https://\(authority)/a?b", through: address, settings, in: identity.folder)
                #expect(result.status == 0 && result.text.hasPrefix("HTTP/2 200"), "\(result.text) \(result.messages)")
                #expect(result.text.hasSuffix("hi"))
            }
        }
        #expect(server.firstRequest.hasPrefix("GET /a?b HTTP/1.1\r\nHost: \(authority)\r\n"))
        #expect(server.firstRequest.lowercased().contains("\r\ncookie: sid=31d4\r\n"))
        #expect(identity.serverNames.withLock { $0 } == [nil])
        #expect(fixture.records.withLock { $0.map(\.url) } == ["https://\(authority)/a"])
        #expect(proxy.records.withLock { $0.map(\.url) } == (hasProxy ? [authority] : []))
    }

    @Test(
        "A certificate for the address that the connection leads to is not one for another host",
        arguments: [("127.0.0.2", true), ("localhost", true), ("localhost", false)])
    func otherHost(text: String, hasProxy: Bool) async throws {
        let host = try #require(WebHost(text))
        let identity = try Identity("IP:127.0.0.1")
        let server = try await identity.start(on: host.isIPAddress ? text : "127.0.0.1")
        let fixture = try GatewayFixture()
        try await GatewayFixture().run { proxyAddress in
            let settings = try Self.settings(
                intercepting: host, trusting: identity, through: hasProxy ? proxyAddress : nil)
            try await fixture.run(settings) { address in
                let result = try await Self.get(
                    "https://\(host):\(server.port)/", through: address, settings, in: identity.folder)
                #expect(result.status == 0 && result.text.hasPrefix("HTTP/2 502"), "\(result.text) \(result.messages)")
                #expect(result.text.contains("the certificate of \(host):\(server.port) is for another host"))
            }
        }
        #expect(server.requests.withLock { $0.isEmpty })
        #expect(fixture.records.withLock { $0.map(\.failure) } == ["tls_certificate_error"])
    }

    @Test("A certificate is for the hosts that it names, with a wildcard for one label")
    func names() throws {
        let identity = try Identity(
            "DNS:Shop.example,DNS:*.api.example,DNS:w*.shop.example,DNS:127.0.0.3,IP:127.0.0.2,IP:0:0:0:0:0:0:0:1,"
                + "DNS:*.test,DNS:*.com,DNS:*.co.uk,DNS:*.github.io,DNS:*.shop.co.uk")
        let certificate = try #require(try identity.certificates.first)
        for (text, isNamed) in [
            ("shop.example", true), ("shop.example.", true), ("www.shop.example", false), ("example", false),
            ("a.api.example", true), ("a.b.api.example", false), ("api.example", false), ("common.example", false),
            ("127.0.0.2", true), ("127.0.0.1", false), ("127.0.0.3", false), ("[::1]", true), ("[::2]", false),
            ("[::ffff:127.0.0.2]", false), ("shop.test", false), ("shop.com", false), ("shop.co.uk", false),
            ("user.github.io", true), ("www.shop.co.uk", true), ("a.user.github.io", false),
        ] {
            let host = try #require(WebHost(text))
            #expect(try certificate.isFor(host) == isNamed, "\(text)")
        }
    }
}
