import Crypto
package import OfflinePackages
import Platform
package import SessionStore
import Synchronization
package import WebPrimitives

/// The packages of a jar as a gateway reads them: the newest ones at each moment, and older ones for as long as someone
/// holds them.
///
/// Its calls read files, so they belong on a thread that may block, but for those that say otherwise.
package final class PackageShelf: Sendable {
    private let store: PackageStore
    private let failed: @Sendable (String) -> Void
    private let state = Mutex(State())

    private struct State {
        var identity: FileStamp?
        var packages = OpenedPackages.none
        /// The list that could not be read, and when.
        var failure: (identity: FileStamp?, time: Timestamp)?
        /// What was reported, so that it is reported once.
        var reported: Set<String> = []
    }

    /// The packages of a jar.
    ///
    /// - Parameter failed: Gets, once each, the reasons why a package or a resource is not used.
    /// - Returns: `nil` if the database has no folder for packages.
    package init?(of jar: CookieJar, failed: @escaping @Sendable (String) -> Void) {
        guard let store = PackageStore(of: jar) else { return nil }
        self.store = store
        self.failed = failed
    }

    /// The packages of another jar.
    ///
    /// - Returns: `nil` if its database has no folder for packages.
    package func shelf(of jar: CookieJar) -> PackageShelf? { PackageShelf(of: jar, failed: failed) }

    /// Whether the jar has packages. Looks at the disk once, and reads nothing.
    package var isEmpty: Bool { FileStamp(store.indexPath) == nil }

    /// The newest packages if they are known without reading; `nil` if they have changed. May be called on any thread.
    ///
    /// A list that could not be read is read again when it was replaced, or after five seconds: each attempt may ask the
    /// server of the database.
    package var known: OpenedPackages? {
        let stamp = FileStamp(store.indexPath)
        return state.withLock { state in
            if let failure = state.failure, failure.identity == stamp {
                let age = store.database.clock.now.microseconds - failure.time.microseconds
                return (0..<5_000_000).contains(age) ? OpenedPackages.none : nil
            }
            return state.identity == stamp ? state.packages : nil
        }
    }

    /// The newest packages.
    package func newest() -> OpenedPackages {
        // Another process may replace the index and remove a bundle in between.
        for _ in 0..<3 {
            let stamp = FileStamp(store.indexPath)
            let index: PackageIndex
            do throws(PackageError) {
                index = try store.index()
            } catch {
                report(error.description)
                let now = store.database.clock.now
                state.withLock { $0.failure = (stamp, now) }
                return .none
            }
            let old = state.withLock { $0.packages }
            var opened: [OpenedPackage] = []
            var missing: [String] = []
            for package in index.packages.sorted(by: { $0.name < $1.name }) where package.removed == nil {
                let same = old.packages.first { $0.bundle == package.current.bundle }
                if let found = same ?? OpenedPackage(package, in: store) {
                    opened.append(found)
                } else {
                    missing.append(package.name)
                }
            }
            // All of an index is a whole state of the packages, even if it was replaced meanwhile.
            guard missing.isEmpty || FileStamp(store.indexPath) == stamp else { continue }
            for name in missing {
                report("the files of package '\(name)' were changed or removed, so the network answers; add it again")
            }
            let packages = OpenedPackages(opened)
            state.withLock { ($0.identity, $0.packages, $0.failure) = (stamp, packages, nil) }
            return packages
        }
        return state.withLock { $0.packages }
    }

    /// Reports a resource that does not have its digest.
    package func reportDamage(_ resource: PackagedResource) {
        report(
            "\(resource.url.origin)\(resource.url.path): its copy in package '\(resource.package)' was changed, so the "
                + "network answers; run 'crumb gateway package verify \(resource.package)'")
    }

    private func report(_ text: String) {
        let isNew = state.withLock { $0.reported.count < 1000 && $0.reported.insert(text).inserted }
        if isNew { failed(text) }
    }
}

/// A file and its state, which differ after every replacement.
private struct FileStamp: Equatable {
    private let numbers: [Int64]

    /// - Returns: `nil` if the file does not exist.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        numbers = [
            Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size), Int64(time.tv_sec), Int64(time.tv_nsec),
        ]
    }
}

/// Some packages, each in one version.
package struct OpenedPackages: Sendable {
    static let none = OpenedPackages([])

    let packages: [OpenedPackage]

    init(_ packages: [OpenedPackage]) {
        self.packages = packages
    }

    package var isEmpty: Bool { packages.isEmpty }

    /// The resource that answers a URL: that of the first package by name.
    package func find(_ url: RequestURL) -> PackagedResource? {
        for package in packages {
            if let resource = package.find(url) { return resource }
        }
        return nil
    }
}

/// One version of a package, whose file is open.
final class OpenedPackage: Sendable {
    let name: String
    let version: String
    let added: Timestamp
    let bundle: String
    let manifest: PackageManifest
    private let reader: PackageBundle.Reader
    private let places: [PackageBundle.Place]
    private let positions: [RequestURL: Int]

    /// - Returns: `nil` if its file is missing or was changed.
    init?(_ package: PackageIndex.Package, in store: PackageStore) {
        let version = package.current
        guard let key = Base64.decode(version.key.utf8),
            let reader = PackageBundle.Reader(store.path(ofBundle: version.bundle), key: key),
            let octets = reader.readAll(version.manifest), let manifest = try? PackageManifest(parsing: octets),
            let places = reader.readAll(version.places).flatMap({ PackageBundle.Place.list(json: $0) }),
            places.count == manifest.resources.count
        else { return nil }
        name = package.name
        self.version = version.version
        added = Timestamp(microseconds: version.added)
        bundle = version.bundle
        (self.manifest, self.reader, self.places) = (manifest, reader, places)
        positions = Dictionary(manifest.resources.enumerated().map { ($1.url, $0) }) { first, _ in first }
    }

    func find(_ url: RequestURL) -> PackagedResource? {
        positions[url].map { index in
            PackagedResource(manifest.resources[index], of: self, reader, places[index], number: index)
        }
    }

    /// The resources that had their digest when they were read.
    private let verified = Mutex<Set<Int>>([])

    func isVerified(_ number: Int) -> Bool { verified.withLock { $0.contains(number) } }
    func noteVerified(_ number: Int) { verified.withLock { _ = $0.insert(number) } }
}

/// A response in a package.
package struct PackagedResource: Sendable {
    /// Up to this length, a body is read at once.
    package static let wholeLength: Int64 = 1 << 20

    private let resource: PackageManifest.Resource
    private let owner: OpenedPackage
    private let reader: PackageBundle.Reader
    private let place: PackageBundle.Place
    private let number: Int

    fileprivate init(
        _ resource: PackageManifest.Resource, of owner: OpenedPackage, _ reader: PackageBundle.Reader,
        _ place: PackageBundle.Place, number: Int
    ) {
        (self.resource, self.owner, self.reader, self.place, self.number) = (resource, owner, reader, place, number)
    }

    package var url: RequestURL { resource.url }
    package var status: Int { resource.status }
    package var fields: [PackageManifest.Field] { resource.fields }
    package var digest: String { resource.digest }
    package var length: Int64 { resource.length }
    /// The name and version of its package, and when that was added.
    package var package: String { owner.name }
    package var version: String { owner.version }
    package var added: Timestamp { owner.added }

    /// The whole body if it has its digest; `nil` if it was changed.
    package func verifiedBody() -> [UInt8]? {
        guard let body = reader.readAll(place), Hexadecimal.text(SHA256.hash(data: body)) == digest else { return nil }
        owner.noteVerified(number)
        return body
    }

    /// Whether the body has its digest. It is read once for each process.
    package func isIntact() -> Bool {
        if owner.isVerified(number) { return true }
        var (hash, position) = (SHA256(), Int64(0))
        while position < place.length {
            guard let piece = reader.read(place, from: position) else { return false }
            hash.update(data: piece)
            position += Int64(piece.count)
        }
        guard Hexadecimal.text(hash.finalize()) == digest else { return false }
        owner.noteVerified(number)
        return true
    }

    /// Octets of the body from a position on, at most 64 KiB; `nil` if they were changed, or at its end.
    package func read(from position: Int64) -> [UInt8]? { reader.read(place, from: position) }
}
