import CookieModel
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

@testable import SessionGateway

@Suite("Old versions of TLS")
struct LegacyTLSTests {
    @Test("A server that speaks nothing newer is refused, unless its host is named", arguments: [true, false])
    func servers(isNamed: Bool) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(SampleCertificate.pem.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(SampleCertificate.keyPEM.utf8), format: .pem)))
        tls.minimumTLSVersion = .tlsv1
        tls.maximumTLSVersion = .tlsv11
        let server = try await RecordingServer.start(tls: try NIOSSLContext(configuration: tls)) { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8) : nil
        }
        var settings = GatewaySetup.forTools
        settings.cookies = .strip
        settings.origins = [GatewaySettings.Origin(try RequestURL("https://localhost:\(server.port)"))]
        settings.tls.certificateVerification = .none
        settings.legacyTLS = isNamed ? [try HostPattern("localhost")] : []
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET / HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n")
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 \(isNamed ? 200 : 502) "), "\(response)")
            #expect(isNamed || response.contains("name it with --legacy-tls"), "\(response)")
        }
    }

    @Test(
        "A client that speaks nothing newer is refused, unless the host that it reaches is named",
        arguments: [true, false])
    func clients(isNamed: Bool) async throws {
        let host = try #require(WebHost("localhost"))
        let authority = try CertificateAuthority(for: [host], now: .now)
        var settings = GatewaySetup.forTools
        settings.intercept(host, by: authority)
        settings.legacyTLS = isNamed ? [HostPattern(only: host)] : []
        (settings.limits.head, settings.limits.hesitation) = (.hours(1), .hours(1))
        try await GatewayFixture().run(settings) { address in
            let stream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .connect(host: address.host, port: address.port) { channel in
                    channel.eventLoop.makeCompletedFuture { try ByteStream.add(to: channel) }
                }
            try await stream.write(ByteBuffer(string: "CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n"))
            _ = try await stream.head(idle: nil, within: nil)
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv1
            tls.maximumTLSVersion = .tlsv11
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.certificatePEM.utf8)))
            let context = try NIOSSLContext(configuration: tls)
            let isDone: Bool
            do {
                try await stream.startTLS(
                    NIOSSLClientHandler(context: context, serverHostname: "localhost"), within: .hours(1))
                isDone = true
            } catch {
                isDone = false
            }
            #expect(isDone == isNamed)
            await stream.abort()
        }
    }
}
