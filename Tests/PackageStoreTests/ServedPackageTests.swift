import Foundation
import SessionStore
import Testing
import WebPrimitives

@testable import PackageStore

@Suite("Packages of a database on a server")
struct ServedPackageTests {
    private let home: PackageHome

    init() throws {
        home = try PackageHome()
    }

    @Test("Their folder depends on the database's name and the user's folder for data")
    func folder() {
        func root(_ name: String, _ variables: [String: String]) -> String? {
            PackageStore.root(ofServed: name) { variables[$0] }
        }
        let (name, data) = ("postgresql://db1,db2/crumb", ["XDG_DATA_HOME": "/data", "HOME": "/home/me"])
        #expect(root(name, data) == "/data/crumb/packages/25098fceba418ba270f78bd57dc3471d")
        #expect(root("postgresql://db1/crumb", data) != root(name, data))
        #if os(Linux)
            #expect(root(name, ["HOME": "/home/me"])?.hasPrefix("/home/me/.local/share/crumb/packages/") == true)
        #endif
        // The XDG specification has relative paths ignored.
        #expect(root(name, ["XDG_DATA_HOME": "data"]) == nil)
        #expect(root(name, ["HOME": "relative"]) == nil && root(name, [:]) == nil)
        // The name of the database would depend on the user or the environment.
        #expect(root("postgresql://db1,db2/", data) == nil && root("postgresql:///run/postgresql/", data) == nil)
        #expect(root("postgresql://service crumb/", data) != nil)
    }

    @Test("Each folder has packages of its own, and a copy of one has the same")
    func folders() throws {
        func store(_ folder: String) throws -> PackageStore {
            PackageStore(database: home.database, jarID: try home.jar().id, root: "\(home.path)/\(folder)")
        }
        _ = try store("one").add(home.archive("1.0.0"), now: home.now)
        #expect(try store("other").packages().isEmpty)
        try FileManager.default.copyItem(atPath: "\(home.path)/one", toPath: "\(home.path)/other")
        #expect(try store("other").packages().map(\.current.version) == ["1.0.0"])
        #expect(try store("other").verify("shop").isEmpty)
        _ = try store("other").add(home.archive("1.1.0"), now: home.now)
        #expect(try store("one").packages().map(\.current.version) == ["1.0.0"])
    }

    @Test("Any key of the key file opens what a rotation has not reached, until it is forgotten")
    func anyKey() throws {
        let (place, key) = (Array("place".utf8), KeyFile("\(home.path)/key"))
        let sealed = Octets(try home.database.sealer.seal(Array("list".utf8), at: place))
        #expect(try home.database.openUnderAnyKey(sealed, at: place) == Octets("list"))
        for _ in 0..<2 {
            let rotating = try SessionDatabase(path: "\(home.path)/crumb.sqlite", keys: .file(key), now: home.now)
            _ = try rotating.rotateKey(now: home.now)
        }
        let other = try SessionDatabase(path: "\(home.path)/crumb.sqlite", keys: .file(key), now: home.now)
        #expect(other.sealer.open(sealed, at: place) == nil)
        #expect(try other.openUnderAnyKey(sealed, at: place) == Octets("list"))
        #expect(try other.openUnderAnyKey(sealed, at: Array("elsewhere".utf8)) == nil)
        #expect(try other.openUnderAnyKey(Octets("none"), at: place) == nil)
        try key.forget(key.formerKeys())
        #expect(try other.openUnderAnyKey(sealed, at: place) == nil)
        try FileManager.default.removeItem(atPath: key.path)
        let error = #expect(throws: SessionStoreError.self) { try other.openUnderAnyKey(sealed, at: place) }
        #expect(error?.code == .keyMissing)
    }

    @Test("The newest key of the key file opens what was sealed under it, if the database is from before the rotation")
    func restored() throws {
        let (place, key) = (Array("place".utf8), KeyFile("\(home.path)/key"))
        let backup = "\(home.path)/backup.sqlite"
        _ = try home.database.backUp(to: backup)
        let rotated = try SessionDatabase(path: "\(home.path)/crumb.sqlite", keys: .file(key), now: home.now)
        _ = try rotated.rotateKey(now: home.now)
        let sealed = Octets(try rotated.sealer.seal(Array("list".utf8), at: place))
        let restored = try SessionDatabase(path: backup, keys: .file(key), now: home.now)
        #expect(restored.sealer.open(sealed, at: place) == nil)
        #expect(try restored.openUnderAnyKey(sealed, at: place) == Octets("list"))
    }
}
