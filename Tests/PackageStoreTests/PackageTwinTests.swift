import Foundation
import SessionStore
import TestSupport
import Testing
import WebPrimitives

@testable import OfflinePackages
@testable import PackageStore

@Suite("Packages and their twin", .serialized)
struct PackageTwinTests {
    /// How many steps each run and each process does.
    static let steps = ProcessInfo.processInfo.environment["CRUMB_PACKAGE_STEPS"].flatMap { Int($0) } ?? 40

    @Test("Random changes by two programs have the effects that the twin has", arguments: [1, 2])
    func random(seed: UInt64) throws {
        var run = try TwinRun(seed: seed)
        for step in 0..<PackageTwinTests.steps { try run.step(step) }
    }

    @Test("Eight processes read only whole versions, and each its own last change")
    func together() throws {
        let home = try PackageHome()
        _ = try home.store().packages()
        let seed = UInt64.random(in: 0...0xFFFF)
        let processes = try (0..<8).map { worker in
            try RunningProcess(
                RunningProcess.built("package-worker"),
                [
                    "\(home.path)/crumb.sqlite", "\(home.path)/key", "\(worker)", "\(PackageTwinTests.steps)",
                    "\(seed &* 8 &+ UInt64(worker))",
                ], scratch: home.path)
        }
        for process in processes {
            let result = process.wait()
            #expect(result.status == 0, "\(result.messages) seed \(seed)")
        }
        let store = try home.store()
        for package in try store.packages() where package.removed == nil {
            #expect(try store.verify(package.name).isEmpty, "\(package.name) seed \(seed)")
        }
        // Every file belongs to a version.
        let versions = try store.index().bundles.count
        #expect(try home.bundles().count == versions)
    }
}

/// One run of random changes.
private struct TwinRun {
    private let home: PackageHome
    /// The packages of two jars, as two processes have opened them.
    private let stores: [[PackageStore]]
    private let shelves: [[PackageShelf]]
    private let databases: [SessionDatabase]
    private var twins = [PackageTwin(), PackageTwin()]
    private var generator: SeededGenerator
    private var now: Timestamp
    private var held: [(packages: OpenedPackages, versions: [String: String])] = []

    private static let names = ["a", "b", "c"]

    init(seed: UInt64) throws {
        home = try PackageHome()
        now = home.now
        generator = SeededGenerator(seed: seed)
        let other = try SessionDatabase(
            path: "\(home.path)/crumb.sqlite", keys: .file(KeyFile("\(home.path)/key")), now: home.now)
        databases = [home.database, other]
        let jars = try [home.database, other].map { database in
            try ["work", "home"].map { try database.jar(named: $0, now: Timestamp(seconds: 1_800_000_000)) }
        }
        stores = jars.map { $0.compactMap { PackageStore(of: $0) } }
        shelves = jars.map { $0.compactMap { PackageShelf(of: $0) { Issue.record("\($0)") } } }
    }

    mutating func step(_ step: Int) throws {
        now = now.advanced(bySeconds: Int64(generator.below(10_000)))
        let (process, jar) = (generator.below(2), generator.below(2))
        let (store, name) = (stores[process][jar], generator.pick(TwinRun.names))
        let seconds = now.microseconds / 1_000_000
        switch generator.below(20) {
        case 0..<7:
            var conditions = PackageStore.Conditions()
            conditions.isForced = generator.once(in: 3)
            let version = max(1, (twins[jar].packages[name]?.current ?? 1) + generator.below(4) - 1)
            let archive = try home.archive("1.\(version).0", name: name, origin: "https://\(name).example")
            let wanted = twins[jar].add(version, to: name, isForced: conditions.isForced, now: seconds)
            try expect(wanted, step) { () throws(PackageError) in _ = try store.add(archive, on: conditions, now: now) }
        case 7..<10:
            let wanted = twins[jar].rollBack(name, now: seconds)
            try expect(wanted, step) { () throws(PackageError) in _ = try store.rollBack(name, now: now) }
        case 10..<12:
            let wanted = twins[jar].remove(name, now: seconds)
            try expect(wanted, step) { () throws(PackageError) in _ = try store.remove(name, now: now) }
        case 12:
            let database = databases[process]
            _ = try database.rotateKey(now: now) { () throws(SessionStoreError) in try PackageStore.reseal(database) }
        default: break
        }
        try look(jar, shelves[generator.below(2)][jar], stores[generator.below(2)][jar], step)
    }

    private func expect(
        _ wanted: PackageTwin.Refusal?, _ step: Int, _ change: () throws(PackageError) -> Void
    ) throws {
        do throws(PackageError) {
            try change()
            #expect(wanted == nil, "step \(step)")
        } catch {
            let found: PackageTwin.Refusal? = [.outdated: .outdated, .notFound: .notFound][error.code]
            #expect(found != nil && found == wanted, "step \(step): \(error)")
        }
    }

    private mutating func look(_ jar: Int, _ shelf: PackageShelf, _ store: PackageStore, _ step: Int) throws {
        let wanted = twins[jar].packages
        let listed = try store.packages()
        #expect(listed.map(\.name) == wanted.keys.sorted(), "step \(step)")
        for package in listed {
            let twin = try #require(wanted[package.name])
            #expect(package.current.version == "1.\(twin.current).0", "step \(step)")
            #expect(package.previous?.version == twin.previous.map { "1.\($0).0" }, "step \(step)")
            #expect((package.removed?.microseconds).map { $0 / 1_000_000 } == twin.removed, "step \(step)")
        }
        let packages = shelf.newest()
        let versions = try versions(in: packages)
        #expect(versions == wanted.filter { $0.value.removed == nil }.mapValues { "1.\($0.current).0" }, "step \(step)")
        if generator.once(in: 8) { held.append((packages, versions)) }
        guard !held.isEmpty else { return }
        let place = generator.below(held.count)
        #expect(try self.versions(in: held[place].packages) == held[place].versions, "step \(step)")
        if held.count > 4 { held.remove(at: place) }
    }

    /// The version that all bodies of a package name.
    private func versions(in packages: OpenedPackages) throws -> [String: String] {
        var versions: [String: String] = [:]
        for name in TwinRun.names {
            guard let script = try packages.find(RequestURL("https://\(name).example/app.js")) else { continue }
            let long = try packages.find(RequestURL("https://\(name).example/long"))
            let body = String(decoding: script.verifiedBody() ?? [], as: UTF8.self)
            #expect(long?.verifiedBody().map { $0.starts(with: body.utf8) } == true && body == script.version)
            versions[name] = body
        }
        return versions
    }
}
