import CookieModel
import Foundation
import OAuth2
import Testing

@testable import SessionStore

@Suite("The authority of the gateway in a database")
struct StoredAuthorityTests {
    private let folder = TemporaryFolder()

    @Test("A stored authority can be read, on disk and in memory, and is removed only once", arguments: [true, false])
    func roundTrip(isOnDisk: Bool) throws {
        let database = try Given.database(isOnDisk ? folder.file("a.sqlite") : nil)
        let authority = try FullDatabase.authority(["shop.example", "127.0.0.1", "[::1]"])
        #expect(try database.authority() == nil)
        try database.addAuthority(authority)
        #expect(try database.authority() == authority)
        if isOnDisk { #expect(try Given.database(folder.file("a.sqlite")).authority() == authority) }
        #expect(
            errorCode { try database.addAuthority(try FullDatabase.authority(["other.example"])) } == .authorityExists)
        #expect(try database.authority() == authority)
        #expect(try database.removeAuthority())
        #expect(try !database.removeAuthority() && database.authority() == nil)
        try database.addAuthority(authority)
    }

    @Test(
        "A stored authority covers its hosts and the names below them",
        arguments: [
            ("shop.example", true), ("www.shop.example", true), ("a.b.shop.example", true), ("127.0.0.1", true),
            ("example", false), ("other.example", false), ("myshop.example", false), ("shop.example.com", false),
            ("shop.example.", false), ("127.0.0.2", false), ("1.127.0.0.1.example", false), ("[::1]", false),
        ])
    func covers(host: String, isCovered: Bool) throws {
        let authority = try FullDatabase.authority(["shop.example", "127.0.0.1"])
        #expect(WebHost(host).map(authority.covers) == isCovered)
    }

    @Test("A stored authority expires in time, and its fingerprint is that of the certificate")
    func validity() throws {
        let authority = try FullDatabase.authority()
        #expect(!authority.isExpired(at: Given.now.advanced(bySeconds: 999)))
        #expect(authority.isExpired(at: Given.now.advanced(bySeconds: 1000)))
        // The digest of the octets 0, 1 and 2.
        #expect(
            authority.fingerprint.hasPrefix("AE:4B:32:80:E5:6E:2F:AF:83:F4:14:A6:E3:DA:BE:9D:5F:BE:18:97:65:44:C0:5F"))
    }

    @Test(
        "A changed row of an authority is an error, and can be removed",
        arguments: [
            "hosts = 'shop.example evil.example'", "certificate = certificate || ' '", "created_at = created_at - 1",
            "expires_at = expires_at + 1", "private_key = x'\(String(repeating: "00", count: 60))'",
            "private_key = x'00'",
        ])
    func tampered(change: String) throws {
        let database = try Given.database()
        try database.addAuthority(try FullDatabase.authority())
        try database.execute("UPDATE gateway_authority SET \(change)")
        #expect(errorCode { try database.authority() } == .valueDamaged)
        #expect(try database.check().findings.map(\.location?.kind) == [.authority])
        #expect(try database.removeAuthority())
        #expect(try database.check().isSound)
    }

    @Test("The key of an authority is in no file in the clear, and is resealed when the database's key is rotated")
    func secrecy() throws {
        let key = "pr1vate-k3y-0f-the-auth0rity"
        let search = SecretSearch(secrets: [key])
        let authority = try FullDatabase.authority(key: key)
        do {
            let database = try SessionDatabase(
                path: folder.file("crumb.sqlite"), keys: .file(folder.file("key")), now: Given.now)
            let other = try SessionDatabase(
                path: folder.file("crumb.sqlite"), keys: .file(folder.file("key")), now: Given.now)
            try database.addAuthority(authority)
            search.expectNothing(in: try folder.contents(), "after writing")
            let sealed = try database.blob("SELECT private_key FROM gateway_authority")
            #expect(try database.rotateKey(now: Given.now).resealed == 1)
            #expect(try database.blob("SELECT private_key FROM gateway_authority") != sealed)
            #expect(try FullDatabase.count(database, under: 1) == 0)
            #expect(try database.authority() == authority && other.authority() == authority)
            try database.backUp(to: folder.file("backup"))
            search.expectNothing(in: try folder.contents(), "after rotating")
            #expect(try database.removeAuthority())
            var dumped = ""
            dump(authority, to: &dumped)
            #expect(!dumped.contains(key) && !"\(authority)".contains(key))
        }
        search.expectNothing(in: try folder.contents(), "after closing")
        #expect(
            try SessionDatabase(path: folder.file("backup"), keys: .file(folder.file("key")), now: Given.now)
                .authority() == authority)
    }
}
