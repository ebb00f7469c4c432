import CookieModel
import Foundation
import OAuth2
import SessionStore
import TestSupport
import Testing

@testable import SessionGateway

@Suite("The certificate authority of a gateway")
struct CertificateAuthorityTests {
    private static let now = Timestamp(seconds: Timestamp.now.seconds)

    /// Which hosts clients accept certificates for, if the authority is for `shop.example` and `127.0.0.1`.
    private static let hosts = [
        ("shop.example", true), ("www.shop.example", true), ("a.b.shop.example", true), ("127.0.0.1", true),
        ("other.example", false), ("myshop.example", false), ("example", false), ("shop.example.com", false),
        ("127.0.0.2", false), ("[::1]", false),
    ]

    private static func authority(lifetime: Int64 = CertificateAuthority.storedLifetime) throws -> CertificateAuthority
    {
        let hosts = try ["shop.example", "127.0.0.1"].map { try #require(WebHost($0)) }
        return try CertificateAuthority(for: hosts, lifetime: lifetime, now: now)
    }

    /// Runs a program in a folder.
    private static func run(_ words: String..., in folder: String) throws -> RunResult {
        try RunningProcess(
            "/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", folder] + words, joinsTalk: true, scratch: folder
        ).wait()
    }

    /// Gives a folder with an authority's certificate, `ca.pem`, and one of its for each host: `leaf0.pem` and so on.
    private static func withCertificates(
        of authority: CertificateAuthority, _ body: (_ folder: String) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(authority.certificatePEM.utf8).write(to: folder.appending(path: "ca.pem"))
        for (number, host) in hosts.enumerated() {
            let leaf = try authority.leaf(for: try #require(WebHost(host.0)), now: now)
            let text = Data(leaf).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            try Data("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8)
                .write(to: folder.appending(path: "leaf\(number).pem"))
        }
        try body(folder.path)
    }

    @Test("OpenSSL refuses certificates for hosts outside the authority's", arguments: [false, true])
    func openSSL(isStored: Bool) throws {
        let new = try Self.authority()
        let authority = isStored ? try CertificateAuthority(new.stored) : new
        try Self.withCertificates(of: authority) { folder in
            for (number, (host, isAccepted)) in Self.hosts.enumerated() {
                #expect(WebHost(host).map(authority.stored.covers) == isAccepted, "\(host)")
                let result = try Self.run(
                    "openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem",
                    "leaf\(number).pem", in: folder)
                #expect((result.status == 0) == isAccepted, "\(host): \(result.text)")
                #expect(isAccepted || result.text.contains("permitted subtree violation"), "\(host): \(result.text)")
            }
        }
    }

    #if os(Linux)
        @Test("NSS, which browsers use, refuses them too")
        func nss() throws {
            try Self.withCertificates(of: try Self.authority()) { folder in
                try FileManager.default.createDirectory(atPath: "\(folder)/nss", withIntermediateDirectories: true)
                let made = try Self.run("certutil", "-N", "-d", "sql:nss", "--empty-password", in: folder)
                try #require(made.status == 0, "certutil (libnss3-tools) is needed: \(made.text)")
                let trusted = try Self.run(
                    "certutil", "-A", "-d", "sql:nss", "-n", "crumb", "-t", "C,,", "-i", "ca.pem", in: folder)
                #expect(trusted.status == 0, "\(trusted.text)")
                for (number, (host, isAccepted)) in Self.hosts.enumerated() {
                    let name = "leaf\(number)"
                    let added = try Self.run(
                        "certutil", "-A", "-d", "sql:nss", "-n", name, "-t", ",,", "-i", "\(name).pem", in: folder)
                    #expect(added.status == 0, "\(added.text)")
                    let result = try Self.run(
                        "certutil", "-V", "-d", "sql:nss", "-n", name, "-u", "V", "-e", in: folder)
                    #expect((result.status == 0) == isAccepted, "\(host): \(result.text)")
                }
            }
        }
    #endif

    @Test("What a database stores makes the same authority, valid as long")
    func stored() throws {
        let authority = try Self.authority(lifetime: 100)
        let stored = authority.stored
        #expect(stored.hosts.map(\.description) == ["shop.example", "127.0.0.1"])
        #expect(stored.creation == Self.now && stored.expiry == Self.now.advanced(bySeconds: 100))
        #expect(try CertificateAuthority(stored).stored == stored)
        #expect(!stored.certificatePEM.contains("KEY"))
        try Self.withCertificates(of: authority) { folder in
            let result = try Self.run(
                "openssl", "x509", "-in", "ca.pem", "-noout", "-fingerprint", "-sha256", "-enddate", "-dateopt",
                "iso_8601", in: folder)
            #expect(result.text.contains("=\(stored.fingerprint)\n"), "\(result.text)")
            let end = stored.expiry.rfc3339.prefix(19).replacing("T", with: " ")
            #expect(result.text.contains("notAfter=\(end)Z"), "\(result.text)")
            let late = try Self.run(
                "openssl", "verify", "-attime", "\(Self.now.seconds + 101)", "-CAfile", "ca.pem", "leaf0.pem",
                in: folder)
            #expect(late.status != 0 && late.text.contains("expired"), "\(late.text)")
        }
        #expect(throws: (any Error).self) {
            try CertificateAuthority(
                StoredAuthority(
                    hosts: stored.hosts, certificatePEM: stored.certificatePEM, privateKey: Secret("no key"),
                    creation: stored.creation, expiry: stored.expiry))
        }
    }
}
