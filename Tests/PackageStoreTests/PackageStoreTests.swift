import Crypto
import Foundation
import Platform
import SessionStore
import Testing
import WebPrimitives

@testable import OfflinePackages
@testable import PackageStore

/// A file in memory.
struct MemoryZip: ZipSource {
    var octets: [UInt8]
    var length: Int64 { Int64(octets.count) }

    func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        Array(octets[Int(position)..<min(octets.count, Int(position) + count)])
    }
}

/// A database with a jar and its packages, for one test.
final class PackageHome {
    let path: String
    let now = Timestamp(seconds: 1_800_000_000)
    let database: SessionDatabase

    init() throws {
        path =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "packages-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        database = try SessionDatabase(path: "\(path)/crumb.sqlite", keys: .file(KeyFile("\(path)/key")), now: now)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func jar(_ name: String = "work") throws -> CookieJar { try database.jar(named: name, now: now) }

    func store(_ jar: String = "work") throws -> PackageStore { try #require(PackageStore(of: self.jar(jar))) }

    /// A package whose bodies name its version. One of them is longer than two chunks.
    func archive(
        _ version: String, name: String = "shop", origin: String = "https://shop.example",
        signedBy key: PackageKey? = nil
    ) throws -> PackageArchive {
        var builder = PackageBuilder()
        for (path, body) in [
            ("app.js", version), ("long", String(repeating: "\(version) ", count: 40_000)), ("empty", ""),
        ] {
            try builder.add(
                .init(
                    url: try RequestURL("\(origin)/\(path)"), fields: [.init("Content-Type", "text/plain")],
                    body: Array(body.utf8)))
        }
        var file: [UInt8] = []
        _ = try builder.write(name: name, version: #require(PackageVersion(version)), signedBy: key) { file += $0 }
        return try PackageArchive(MemoryZip(octets: file))
    }

    /// The files with the bodies of all versions of the jar.
    func bundles() throws -> [String] {
        let folder = "\(path)/crumb.sqlite.packages/\(try jar().id)/bundles"
        return try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
    }
}

@Suite("The store of packages")
struct PackageStoreTests {
    let home: PackageHome

    init() throws {
        home = try PackageHome()
    }

    func body(_ packages: OpenedPackages, _ path: String = "app.js") throws -> String? {
        try packages.find(RequestURL("https://shop.example/\(path)"))?.verifiedBody()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A package is stored whole, sealed, and read by others")
    func stored() throws {
        let (added, newOrigins) = try home.store().add(home.archive("1.0.0"), now: home.now)
        #expect(added.current.version == "1.0.0" && added.current.resources == 3 && newOrigins.isEmpty)
        #expect(added.current.origins == ["https://shop.example"] && added.signer == nil && added.previous == nil)
        let found = try home.store().packages()
        #expect(found.map(\.name) == ["shop"] && found[0].current.length == added.current.length)
        #expect(try home.store().verify("shop").isEmpty)
        let shelf = try #require(PackageShelf(of: home.jar()) { Issue.record("\($0)") })
        #expect(try body(shelf.newest()) == "1.0.0")
        #expect(try body(shelf.newest(), "long")?.hasPrefix("1.0.0 1.0.0 ") == true)
        #expect(try body(shelf.newest(), "empty") == "" && body(shelf.newest(), "other") == nil)
        // Neither a URL nor a body is in a file.
        for path in try home.bundles() + ["\(home.path)/crumb.sqlite.packages/\(home.jar().id)/index"] {
            let text = String(decoding: try FileSystem.contents(path, limit: .max), as: UTF8.self)
            #expect(!text.contains("shop") && !text.contains("1.0.0"))
            #expect(FileSystem.permissions(path) == 0o600)
        }
        #expect(try home.store("other").packages().isEmpty)
        let other = try #require(PackageShelf(of: home.jar("other")) { Issue.record("\($0)") })
        #expect(other.newest().isEmpty)
    }

    @Test("Only a newer version replaces one, unless it is forced; what is not needed goes")
    func versions() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        for version in ["1.0.0", "0.9.0", "1.0.0-rc.1", "1.0.0+7"] {
            let error = #expect(throws: PackageError.self) { try store.add(home.archive(version), now: home.now) }
            #expect(error?.code == .outdated)
        }
        #expect(try home.bundles().count == 1)
        let second = try store.add(home.archive("1.1.0"), now: home.now).package
        #expect(second.current.version == "1.1.0" && second.previous?.version == "1.0.0")
        #expect(try home.bundles().count == 2)
        var conditions = PackageStore.Conditions()
        conditions.isForced = true
        let third = try store.add(home.archive("0.9.0"), on: conditions, now: home.now).package
        #expect(third.current.version == "0.9.0" && third.previous?.version == "1.1.0")
        #expect(try home.bundles().count == 2)
    }

    @Test("A rollback brings the version before back, and a second one undoes it")
    func rollback() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        #expect(throws: PackageError.self) { try store.rollBack("shop", now: home.now) }
        #expect(throws: PackageError.self) { try store.rollBack("other", now: home.now) }
        _ = try store.add(home.archive("1.1.0"), now: home.now)
        let shelf = try #require(PackageShelf(of: home.jar()) { Issue.record("\($0)") })
        let before = shelf.newest()
        #expect(try store.rollBack("shop", now: home.now).current.version == "1.0.0")
        #expect(shelf.known == nil)
        #expect(try body(shelf.newest()) == "1.0.0")
        #expect(shelf.known != nil)
        #expect(try body(before) == "1.1.0")
        // The update is possible again.
        _ = try store.add(home.archive("1.1.0"), now: home.now)
        #expect(try store.rollBack("shop", now: home.now).current.version == "1.0.0")
        #expect(try store.rollBack("shop", now: home.now).current.version == "1.1.0")
    }

    @Test("A removed package comes back within a day, and goes with the next change after that")
    func removed() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        let shelf = try #require(PackageShelf(of: home.jar()) { Issue.record("\($0)") })
        let held = shelf.newest()
        #expect(try store.remove("shop", now: home.now).removed != nil)
        #expect(shelf.newest().isEmpty)
        #expect(throws: PackageError.self) { try store.remove("shop", now: home.now) }
        #expect(throws: PackageError.self) { try store.verify("shop") }
        #expect(try store.rollBack("shop", now: home.now.advanced(bySeconds: 86_399)).removed == nil)
        #expect(try body(shelf.newest()) == "1.0.0")
        _ = try store.remove("shop", now: home.now)
        _ = try store.add(home.archive("1.0.0", name: "a"), now: home.now.advanced(bySeconds: 86_401))
        #expect(try store.packages().map(\.name) == ["a"] && home.bundles().count == 1)
        // A page that is open still has it.
        #expect(try body(held) == "1.0.0" && body(held, "long") != nil)
    }

    @Test("A key is pinned with the first signed version")
    func pinned() throws {
        let (store, key, other) = (try home.store(), PackageKey(), PackageKey())
        #expect(try store.add(home.archive("1.0.0", signedBy: key), now: home.now).package.signer == key.publicKey)
        for archive in [try home.archive("1.1.0"), try home.archive("1.1.0", signedBy: other)] {
            let error = #expect(throws: PackageError.self) { try store.add(archive, now: home.now) }
            #expect(error?.code == .refused)
        }
        var conditions = PackageStore.Conditions()
        conditions.key = other.publicKey
        #expect(throws: PackageError.self) {
            try store.add(home.archive("1.1.0", signedBy: other), on: conditions, now: home.now)
        }
        #expect(throws: PackageError.self) {
            try store.add(home.archive("1.0.0", name: "b"), on: conditions, now: home.now)
        }
        #expect(try store.add(home.archive("1.1.0", signedBy: key), now: home.now).package.signer == key.publicKey)
        // What came over http has to have a key that is known before.
        conditions = PackageStore.Conditions()
        conditions.needsKnownKey = true
        #expect(throws: PackageError.self) {
            try store.add(home.archive("1.0.0", name: "b", signedBy: other), on: conditions, now: home.now)
        }
        _ = try store.add(home.archive("1.2.0", signedBy: key), on: conditions, now: home.now)
    }

    @Test("Origins that were named once bound later versions, too")
    func origins() throws {
        let store = try home.store()
        var conditions = PackageStore.Conditions()
        conditions.origins = ["https://shop.example"]
        _ = try store.add(home.archive("1.0.0"), on: conditions, now: home.now)
        let moved = try home.archive("1.1.0", origin: "https://bank.example")
        let error = #expect(throws: PackageError.self) { try store.add(moved, now: home.now) }
        #expect(error?.code == .refused && error?.description.contains("https://bank.example") == true)
        conditions.origins = ["https://bank.example"]
        #expect(try store.add(moved, on: conditions, now: home.now).newOrigins == ["https://bank.example"])
    }

    @Test("A package cannot get around a pinned key by another name")
    func names() throws {
        let (store, key, other) = (try home.store(), PackageKey(), PackageKey())
        _ = try store.add(home.archive("1.0.0", signedBy: key), now: home.now)
        for archive in [
            try home.archive("1.0.0", name: "a"), try home.archive("1.0.0", name: "a", signedBy: other),
        ] {
            let error = #expect(throws: PackageError.self) { try store.add(archive, now: home.now) }
            #expect(error?.code == .refused && error?.description.contains("package 'shop'") == true)
        }
        #expect(try store.packages().map(\.name) == ["shop"])
        _ = try store.add(home.archive("1.0.0", name: "same", signedBy: key), now: home.now)
        _ = try store.add(home.archive("1.0.0", name: "b", origin: "https://b.example"), now: home.now)
        // The user trusts both, and later versions need no word.
        var conditions = PackageStore.Conditions()
        conditions.key = other.publicKey
        _ = try store.add(home.archive("1.0.0", name: "a", signedBy: other), on: conditions, now: home.now)
        _ = try store.add(home.archive("1.1.0", name: "a", signedBy: other), now: home.now)
        _ = try store.add(home.archive("1.1.0", signedBy: key), now: home.now)
        // An update is no way to the origin of another package either.
        let moved = try home.archive("1.1.0", name: "b")
        #expect(throws: PackageError.self) { try store.add(moved, now: home.now) }
        for name in ["shop", "same", "a"] { _ = try store.remove(name, now: home.now) }
        _ = try store.add(moved, now: home.now)
    }

    @Test("After a rollback from a signed version to an unsigned one, the key is pinned, and the version is not signed")
    func unsignedBefore() throws {
        let (store, key) = (try home.store(), PackageKey())
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        let signed = try store.add(home.archive("1.1.0", signedBy: key), now: home.now).package
        #expect(signed.current.isSigned && signed.previous?.isSigned == false)
        let package = try store.rollBack("shop", now: home.now)
        #expect(package.signer == key.publicKey && !package.current.isSigned && package.previous?.isSigned == true)
    }
}
