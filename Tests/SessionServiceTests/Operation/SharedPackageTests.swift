import Foundation
import OfflinePackages
import SessionStore
import Testing
import WebPrimitives

@testable import PackageStore

@Suite(
    "Packages of services that share a database",
    .enabled(if: SharedDatabase.server != nil, "CRUMB_TEST_POSTGRESQL names no server"))
struct SharedPackageTests {
    private let shared: SharedDatabase
    private let folder = TemporaryFolder()

    init() throws {
        shared = try SharedDatabase()
    }

    private func archive(_ version: String) throws -> PackageArchive {
        var builder = PackageBuilder()
        let url = try RequestURL("https://shop.example/app.js")
        try builder.add(
            .init(url: url, fields: [.init("Content-Type", "text/javascript")], body: Array(version.utf8)))
        var octets: [UInt8] = []
        _ = try builder.write(name: "shop", version: #require(PackageVersion(version)), signedBy: nil) { octets += $0 }
        try Data(octets).write(to: URL(filePath: folder.file("\(version).zip")))
        return try PackageArchive(PackageFile(folder.file("\(version).zip")))
    }

    @Test("Each machine has packages of its own, which stay after a rotation by another one")
    func nodes() throws {
        let newer = try #require(SealingKey(bytes: Array(2...33)))
        // The first use enters the older key.
        _ = try shared.open()
        let (one, other) = (try shared.open(newer: [newer]), try shared.open(newer: [newer]))
        let jar = try one.jar(named: "work", now: ServiceFixture.now)
        // The folder of the user that runs the tests, which nothing is written to.
        #expect(PackageStore.root(of: one) == PackageStore.root(of: other))
        func store(_ database: SessionDatabase, _ name: String) -> PackageStore {
            PackageStore(database: database, jarID: jar.id, root: folder.file(name))
        }
        _ = try store(one, "one").add(archive("1.0.0"), now: ServiceFixture.now)
        #expect(try store(other, "other").packages().isEmpty)
        _ = try other.rotateKey(now: ServiceFixture.now)
        for database in [one, try shared.open(newer: [newer])] {
            let store = store(database, "one")
            #expect(try store.packages().map(\.current.version) == ["1.0.0"] && store.verify("shop").isEmpty)
        }
        // A change seals the list under the new key.
        let store = store(one, "one")
        _ = try store.add(archive("1.1.0"), now: ServiceFixture.now)
        let sealed = try Data(contentsOf: URL(filePath: store.indexPath))
        #expect(one.sealer.open(Octets(Array(sealed)), at: store.place) != nil)
    }
}
