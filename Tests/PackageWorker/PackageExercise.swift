import OfflinePackages
import PackageStore
import SessionStore
import TestSupport
import WebPrimitives

/// Random changes of the packages of a jar that other processes change, too, and checks of what is read.
///
/// Some packages are shared by all workers: whatever version is read must be whole. One is the worker's own: a twin knows
/// which version must be read, and which one a rollback brings back.
struct PackageExercise {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private let (store, shelf): (PackageStore, PackageShelf)
    private let own: String
    private var generator: SeededGenerator
    private var twin = PackageTwin()
    /// What pages hold that are open, with the versions that they began with.
    private var held: [(packages: OpenedPackages, versions: [String: String])] = []

    struct Mistake: Error {
        let message: String
    }

    init(database path: String, key: String, worker: Int, seed: UInt64) throws {
        let database = try SessionDatabase(
            path: path, keys: .file(KeyFile(key)), busyTimeout: 3600, now: PackageExercise.now)
        let jar = try database.jar(named: "work", now: PackageExercise.now)
        guard let store = PackageStore(of: jar), let shelf = PackageShelf(of: jar, failed: { leave($0) }) else {
            throw Mistake(message: "the database is no file")
        }
        (self.store, self.shelf, own) = (store, shelf, "own-\(worker)")
        generator = SeededGenerator(seed: seed)
    }

    mutating func step(_ step: Int) throws {
        let name = generator.once(in: 2) ? own : "shared-\(generator.below(2))"
        do {
            switch generator.below(10) {
            case 0..<3: try add(name)
            case 3: try addDamaged(name)
            case 4:
                var next = twin
                try change(name, next.rollBack(name, now: 0), next) { [store] () throws(PackageError) in
                    _ = try store.rollBack(name, now: PackageExercise.now)
                }
            case 5:
                var next = twin
                try change(name, next.remove(name, now: 0), next) { [store] () throws(PackageError) in
                    _ = try store.remove(name, now: PackageExercise.now)
                }
            default: try look()
            }
        } catch {
            throw Mistake(message: "step \(step), \(name): \(error)")
        }
    }

    // MARK: - Changes

    private mutating func add(_ name: String) throws {
        let version = max(1, (twin.packages[own]?.current ?? 1) + generator.below(4) - 1)
        var conditions = PackageStore.Conditions()
        conditions.isForced = generator.once(in: 3)
        let archive = try PackageArchive(PackageExercise.file(name, version))
        var next = twin
        try change(name, next.add(version, to: name, isForced: conditions.isForced, now: 0), next) {
            [store] () throws(PackageError) in _ = try store.add(archive, on: conditions, now: PackageExercise.now)
        }
    }

    /// Adds a package whose last body breaks off, so that nothing may change.
    private mutating func addDamaged(_ name: String) throws {
        var (file, conditions) = (try PackageExercise.file(name, 1000), PackageStore.Conditions())
        conditions.isForced = true
        guard let place = file.octets.firstRange(of: Array("1.1000.0 ".utf8)) else { throw Mistake(message: "no body") }
        file.octets[place.upperBound + 100_000] ^= 1
        let archive = try PackageArchive(file)
        do throws(PackageError) {
            _ = try store.add(archive, on: conditions, now: PackageExercise.now)
        } catch {
            guard error.code == .invalid else { throw error }
            return
        }
        throw Mistake(message: "a damaged package was added")
    }

    /// Makes a change, and checks its outcome if the package is the worker's own.
    private mutating func change(
        _ name: String, _ expected: PackageTwin.Refusal?, _ next: PackageTwin, _ change: () throws(PackageError) -> Void
    ) throws {
        var refusal: PackageTwin.Refusal?
        do throws(PackageError) {
            try change()
        } catch {
            switch error.code {
            case .outdated: refusal = .outdated
            case .notFound: refusal = .notFound
            default: throw error
            }
        }
        guard name == own else { return }
        guard refusal == expected else {
            throw Mistake(message: "the outcome is \(String(describing: refusal)), not \(String(describing: expected))")
        }
        if refusal == nil { twin = next }
    }

    // MARK: - Reading

    private mutating func look() throws {
        let newest = shelf.newest()
        let versions = try versions(in: newest)
        let wanted = twin.packages[own].flatMap { $0.removed == nil ? PackageExercise.text($0.current) : nil }
        guard versions[own] == wanted else {
            throw Mistake(message: "version \(versions[own] ?? "none") answers, not \(wanted ?? "none")")
        }
        let listed = try store.packages().first { $0.name == own }
        guard listed?.current.version == twin.packages[own].map({ PackageExercise.text($0.current) }),
            listed?.previous?.version == twin.packages[own]?.previous.map(PackageExercise.text),
            (listed?.removed == nil) == (twin.packages[own]?.removed == nil)
        else { throw Mistake(message: "the list has \(String(describing: listed))") }
        // Pages that are open keep their versions, whatever happens to the files.
        if generator.once(in: 3) { held.append((newest, versions)) }
        guard !held.isEmpty else { return }
        let place = generator.below(held.count)
        guard try self.versions(in: held[place].packages) == held[place].versions else {
            throw Mistake(message: "an open page has another version")
        }
        if held.count > 4 { held.remove(at: place) }
    }

    /// The version of each package, which all of its bodies have to name.
    private func versions(in packages: OpenedPackages) throws -> [String: String] {
        var versions: [String: String] = [:]
        for name in [own, "shared-0", "shared-1"] {
            let found = try PackageExercise.paths.map { path in
                try packages.find(RequestURL("https://\(name).example/\(path)"))
            }
            guard let first = found[0] else {
                guard found.allSatisfy({ $0 == nil }) else { throw Mistake(message: "a part of \(name) is there") }
                continue
            }
            for (path, resource) in zip(PackageExercise.paths, found) {
                guard let resource, resource.version == first.version,
                    resource.verifiedBody() == PackageExercise.body(path, first.version)
                else { throw Mistake(message: "\(path) of \(name) \(first.version) is not whole") }
            }
            versions[name] = first.version
        }
        return versions
    }

    // MARK: - Packages

    private static let paths = ["app.js", "empty", "long"]

    private static func text(_ version: Int) -> String { "1.\(version).0" }

    /// A body that names its version. The long one has several chunks.
    private static func body(_ path: String, _ version: String) -> [UInt8] {
        switch path {
        case "empty": []
        case "long": Array(String(repeating: "\(version) ", count: 20_000).utf8)
        default: Array(version.utf8)
        }
    }

    private static func file(_ name: String, _ version: Int) throws -> MemoryZip {
        guard let number = PackageVersion(text(version)) else { throw Mistake(message: "no version") }
        var builder = PackageBuilder()
        for path in paths {
            try builder.add(
                .init(
                    url: try RequestURL("https://\(name).example/\(path)"),
                    fields: [.init("Content-Type", "text/plain")], body: body(path, number.description)))
        }
        var octets: [UInt8] = []
        _ = try builder.write(name: name, version: number, signedBy: nil) { octets += $0 }
        return MemoryZip(octets: octets)
    }
}

/// A file in memory.
private struct MemoryZip: ZipSource {
    var octets: [UInt8]
    var length: Int64 { Int64(octets.count) }

    func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        Array(octets[Int(position)..<min(octets.count, Int(position) + count)])
    }
}
