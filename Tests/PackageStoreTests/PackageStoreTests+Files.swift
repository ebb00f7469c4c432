import Foundation
import Platform
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@testable import OfflinePackages
@testable import PackageStore

/// The files of the store: damage, keys, and what is removed or left over.
extension PackageStoreTests {
    @Test("The folder of a jar goes with it, once nothing can restore the jar, and others stay")
    func removedJars() throws {
        var folders: [String: String] = [:]
        for name in ["kept", "bin", "gone"] {
            let store = try home.store(name)
            _ = try store.add(home.archive("1.0.0"), now: home.now)
            folders[name] = store.folder
        }
        func exists(_ name: String) -> Bool {
            folders[name].map { FileManager.default.fileExists(atPath: $0) } ?? false
        }
        try home.database.discardJar(named: "bin", now: home.now)
        try home.database.removeJar(named: "gone")
        PackageStore.removeFolders(ofRemovedJars: home.database)
        #expect(exists("kept") && exists("bin") && !exists("gone"))
        try home.database.restoreJar(named: "bin", now: home.now)
        #expect(try home.store("bin").packages().map(\.name) == ["shop"])
        try home.database.removeJar(named: "bin")
        // A change of other packages does it, too.
        _ = try home.store("kept").add(home.archive("1.1.0"), now: home.now)
        #expect(exists("kept") && !exists("bin"))
    }

    @Test("A changed octet is found, and the others are read; a changed list is an error")
    func damage() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        let bundle = try #require(home.bundles().first)
        // The first octet is one of "app.js".
        var octets = try FileSystem.contents(bundle, limit: .max)
        octets[0] ^= 1
        try Data(octets).write(to: URL(filePath: bundle))
        #expect(try store.verify("shop").map(\.description) == ["https://shop.example/app.js"])
        let index = "\(home.path)/crumb.sqlite.packages/\(try home.jar().id)/index"
        var sealed = try FileSystem.contents(index, limit: .max)
        sealed[sealed.count - 1] ^= 1
        try Data(sealed).write(to: URL(filePath: index))
        let error = #expect(throws: PackageError.self) { try store.packages() }
        #expect(error?.code == .damaged)
        let messages = Mutex<[String]>([])
        let shelf = try #require(PackageShelf(of: home.jar()) { text in messages.withLock { $0.append(text) } })
        #expect(shelf.newest().isEmpty && shelf.newest().isEmpty)
        #expect(messages.withLock { $0.count } == 1)
    }

    @Test("A list that cannot be read is read again when it was replaced, or after five seconds")
    func failureIsKept() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        let time = ManualTime(home.now)
        let database = try SessionDatabase(
            path: "\(home.path)/crumb.sqlite", keys: .file(KeyFile("\(home.path)/key")), clock: .manual(time),
            now: home.now)
        let jar = try #require(try database.existingJar(named: "work"))
        let shelf = try #require(PackageShelf(of: jar) { _ in })
        let sealed = try FileSystem.contents(store.indexPath, limit: .max)
        try Data("changed".utf8).write(to: URL(filePath: store.indexPath))
        #expect(shelf.known == nil && shelf.newest().isEmpty)
        #expect(shelf.known?.isEmpty == true)
        time.advance(bySeconds: 4)
        #expect(shelf.known?.isEmpty == true)
        time.advance(bySeconds: 1)
        #expect(shelf.known == nil && shelf.newest().isEmpty && shelf.known?.isEmpty == true)
        try Data(sealed).write(to: URL(filePath: store.indexPath))
        #expect(shelf.known == nil && !shelf.newest().isEmpty && shelf.known?.isEmpty == false)
    }

    @Test("A package that breaks off changes nothing and leaves nothing behind")
    func brokenOff() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        var builder = PackageBuilder()
        try builder.add(
            .init(url: try RequestURL("https://shop.example/app.js"), fields: [], body: Array("hello".utf8)))
        var file: [UInt8] = []
        _ = try builder.write(name: "shop", version: #require(PackageVersion("2.0.0")), signedBy: nil) { file += $0 }
        let place = try #require(file.firstRange(of: Array("hello".utf8)))
        file[place.lowerBound] ^= 1
        let archive = try PackageArchive(MemoryZip(octets: file))
        #expect(throws: PackageError.self) { try store.add(archive, now: home.now) }
        #expect(try store.packages().map(\.current.version) == ["1.0.0"] && home.bundles().count == 1)
        #expect(try store.verify("shop").isEmpty)
        // What a killed process has left goes with the next change, even if that fails.
        try Data("rest".utf8).write(to: URL(filePath: "\(FileSystem.folder(of: home.bundles()[0]))/f00"))
        #expect(throws: PackageError.self) { try store.add(archive, now: home.now) }
        #expect(try home.bundles().count == 1)
        _ = try store.add(home.archive("1.1.0"), now: home.now)
        #expect(try home.bundles().count == 2)
    }

    @Test("After a rotation of the database's key, the packages are there, also for a process that began before")
    func rotation() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        let other = try SessionDatabase(
            path: "\(home.path)/crumb.sqlite", keys: .file(KeyFile("\(home.path)/key")), now: home.now)
        _ = try other.rotateKey(now: home.now) { () throws(SessionStoreError) in try PackageStore.reseal(other) }
        #expect(try store.packages().map(\.name) == ["shop"])
        _ = try store.add(home.archive("1.1.0"), now: home.now)
        let third = try SessionDatabase(
            path: "\(home.path)/crumb.sqlite", keys: .file(KeyFile("\(home.path)/key")), now: home.now)
        let jar = try #require(try third.existingJar(named: "work"))
        #expect(try PackageStore(of: jar)?.packages().map(\.current.version) == ["1.1.0"])
    }

    @Test("A list that cannot be read fails the rotation, and a changed one does not")
    func unreadable() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        try PackageStore.reseal(home.database)
        let files = FileManager.default
        let index = "\(home.path)/crumb.sqlite.packages/\(try home.jar().id)/index"
        try files.moveItem(atPath: index, toPath: "\(home.path)/index")
        // Reading a folder fails for every user.
        try files.createDirectory(atPath: index, withIntermediateDirectories: false)
        let error = #expect(throws: SessionStoreError.self) { try PackageStore.reseal(home.database) }
        #expect(error?.code == .keyRotationRefused)
        try files.removeItem(atPath: index)
        try Data("changed".utf8).write(to: URL(filePath: index))
        try PackageStore.reseal(home.database)
        try files.removeItem(atPath: index)
        try files.moveItem(atPath: "\(home.path)/index", toPath: index)
        try PackageStore.reseal(home.database)
        #expect(try store.packages().map(\.name) == ["shop"])
        try files.moveItem(atPath: "\(home.path)/crumb.sqlite.packages", toPath: "\(home.path)/moved")
        try Data().write(to: URL(filePath: "\(home.path)/crumb.sqlite.packages"))
        #expect(throws: SessionStoreError.self) { try PackageStore.reseal(home.database) }
    }

    @Test("A list of a newer format answers nothing, and stays as it is, also through a rotation")
    func newerFormat() throws {
        let store = try home.store()
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        let messages = Mutex<[String]>([])
        let shelf = try #require(PackageShelf(of: home.jar()) { text in messages.withLock { $0.append(text) } })
        let held = shelf.newest()
        let known = try FileSystem.contents(store.indexPath, limit: .max)
        let newer = Array(#"{"format": 2, "shelves": [{"name": "shop"}]}"#.utf8)
        try Data(home.database.sealer.seal(newer, at: store.place)).write(to: URL(filePath: store.indexPath))
        let changes: [() throws -> Void] = [
            { _ = try store.packages() }, { _ = try store.verify("shop") },
            { _ = try store.add(home.archive("1.1.0"), now: home.now) },
            { _ = try store.rollBack("shop", now: home.now) }, { _ = try store.remove("shop", now: home.now) },
        ]
        for change in changes {
            let error = #expect(throws: PackageError.self) { try change() }
            #expect(error?.code == .newer && error?.description.contains("remove the folder") == false)
        }
        #expect(shelf.newest().isEmpty && shelf.newest().isEmpty && messages.withLock { $0.count } == 1)
        #expect(try body(held) == "1.0.0" && body(held, "long") != nil && home.bundles().count == 1)
        _ = try home.store("other").add(home.archive("1.0.0"), now: home.now)
        _ = try home.database.rotateKey(now: home.now) { () throws(SessionStoreError) in
            try PackageStore.reseal(home.database)
        }
        #expect(try store.indexOctets()?.bytes == newer)
        #expect(try home.database.sealer.open(Octets(known), at: store.place) != nil && home.bundles().count == 1)
        try Data(known).write(to: URL(filePath: store.indexPath))
        #expect(try store.packages().map(\.name) == ["shop"] && store.verify("shop").isEmpty)
    }

    @Test("A jar that was created for a package that is refused is removed, unless another process uses it")
    func unusedJar() throws {
        let (jar, store) = (try home.jar(), try home.store())
        _ = try store.add(home.archive("1.0.0"), now: home.now)
        PackageStore.removeIfUnused(jar)
        #expect(try store.packages().map(\.name) == ["shop"] && home.database.existingJar(named: "work") != nil)
        let (unused, folder) = (try home.jar("unused"), try home.store("unused").folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        PackageStore.removeIfUnused(unused)
        #expect(try home.database.existingJar(named: "unused") == nil && FileSystem.isAbsent(folder))
    }

    @Test("A download goes on where it broke off, if the server has named what it sends")
    func download() throws {
        let database = home.database
        let url = try RequestURL("https://shop.example/shop.zip")
        do {
            let download = try #require(try PackageStore.download(url, beside: database))
            #expect(download.transfer().length == 0)
            try download.prepare(from: 0, validator: "\"v\"")
            try download.write(Array("hel".utf8), at: 0)
            // Another process has to wait until this one has added the package.
            let error = #expect(throws: PackageError.self) { try PackageStore.download(url, beside: database) }
            #expect(error?.code == .notFetched)
            #expect(try download.length == 3 && download.read(9, at: 1) == Array("el".utf8))
        }
        do {
            let download = try #require(try PackageStore.download(url, beside: database))
            let transfer = download.transfer()
            #expect(transfer == PackageTransfer(length: 3, validator: "\"v\"") && transfer.length == 3)
            try download.prepare(from: 0, validator: nil)
        }
        let again = try #require(try PackageStore.download(url, beside: database))
        #expect(again.transfer().length == 0)
        again.remove()
        #expect(FileSystem.isAbsent(again.path))
        // The file that was removed is no reason to wait.
        #expect(try PackageStore.download(url, beside: database)?.transfer().length == 0)
    }
}
