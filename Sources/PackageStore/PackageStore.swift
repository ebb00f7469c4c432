import Crypto
package import OfflinePackages
import Platform
package import SessionStore
import StoreEngine
package import WebPrimitives

/// The offline packages of one jar, in the folder `DATABASE.packages` beside the database file. Those of a database on a
/// server are in a folder of this machine, which other machines do not see.
///
///     DATABASE.packages/lock                one process changes packages at a time
///     DATABASE.packages/downloads/          the parts of files that are being downloaded
///     DATABASE.packages/JAR/index           the packages, sealed with the key of the database
///     DATABASE.packages/JAR/bundles/NAME    the bodies of one version, sealed under a key in the index
///
/// A change writes the bundle first and then replaces the index, whose renaming is the only moment that counts. A process
/// that is killed before leaves the old version, and a bundle without a row, which the next change removes. No name out of
/// a package is ever the name of a file.
package struct PackageStore: Sendable {
    /// A version of a package.
    package struct Version: Sendable {
        package let version: String
        package let added: Timestamp
        /// How many responses it has, and how many octets their bodies have.
        package let resources: Int
        package let length: Int64
        package let origins: [String]
        package let isSigned: Bool
    }

    /// A package of the jar.
    package struct Package: Sendable {
        package let name: String
        package let current: Version
        /// The version that a rollback brings back.
        package let previous: Version?
        /// The key that every new version has to be signed with; `nil` if none has to.
        package let signer: Octets?
        /// The only origins that a version may answer for; `nil` for all that it names.
        package let allowedOrigins: [String]?
        /// When it was removed; `nil` if it is in use.
        package let removed: Timestamp?
    }

    /// The conditions on a package that is added.
    package struct Conditions: Sendable {
        /// The key that it has to be signed with.
        package var key: Octets?
        /// The only origins that it may answer for; empty for all that it names.
        package var origins: [String] = []
        /// Whether the key has to be known before: others could have changed the file on its way.
        package var needsKnownKey = false
        /// Whether an older or equal version replaces the stored one.
        package var isForced = false

        package init() {}
    }

    /// For how many seconds a removed package can be brought back at least.
    package static let binTime: Int64 = 86_400

    let database: SessionDatabase
    let jarID: Int64
    let root: String

    /// The packages of a jar.
    ///
    /// - Returns: `nil` if the database has no folder for packages: it is in memory, or it is on a server, and the URL names
    ///   no database or the environment does not tell the folder for data.
    package init?(of jar: CookieJar) {
        guard let root = PackageStore.root(of: jar.database) else { return nil }
        (database, jarID, self.root) = (jar.database, jar.id, root)
    }

    init(database: SessionDatabase, jarID: Int64, root: String) {
        (self.database, self.jarID, self.root) = (database, jarID, root)
    }

    /// Whether a database file has packages, of any jar.
    package static func exists(beside database: SessionDatabase) -> Bool {
        guard let root = root(of: database) else { return false }
        return FileSystem.names(in: root).compactMap { Int64($0) }.contains { jarID in
            FileSystem.isRegular(PackageStore(database: database, jarID: jarID, root: root).indexPath)
        }
    }

    /// The folder of a database's packages; `nil` if it has none.
    package static func root(of database: SessionDatabase) -> String? {
        guard !database.isOnServer else {
            let variables = ProcessEnvironment.variables
            return root(ofServed: database.path) { variables[$0] }
        }
        guard SessionDatabase.exists(at: database.path) else { return nil }
        return "\(FileSystem.resolved(database.path)).packages"
    }

    /// The folder of the packages of a database on a server, in the user's folder for data.
    ///
    /// - Parameters:
    ///   - name: The database's name in errors.
    ///   - environment: The value of a variable of the environment.
    /// - Returns: `nil` if the environment does not tell the folder for data, or if the URL names no database.
    static func root(ofServed name: String, environment: (String) -> String?) -> String? {
        guard namesDatabase(name), let data = UserFolder.data.path(environment) else { return nil }
        return "\(data)/crumb/packages/\(Hexadecimal.text(SHA256.hash(data: Array(name.utf8)).prefix(16)))"
    }

    /// Whether the URL of a server names a database, or a service that does. Otherwise the name would depend on the user or
    /// the environment, and two databases would share a folder.
    package static func namesDatabase(_ name: String) -> Bool {
        name.hasPrefix("postgresql://service ") || !name.hasSuffix("/")
    }

    var folder: String { "\(root)/\(jarID)" }
    var indexPath: String { "\(folder)/index" }
    var bundleFolder: String { "\(folder)/bundles" }
    func path(ofBundle name: String) -> String { "\(bundleFolder)/\(name)" }

    // MARK: - Reading

    /// All packages by name, those that were removed and can be brought back included.
    package func packages() throws(PackageError) -> [Package] {
        try index().packages.sorted { $0.name < $1.name }.map(Package.init)
    }

    /// The manifest of a package's current version.
    package func manifest(of name: String) throws(PackageError) -> PackageManifest {
        try opened(name).manifest
    }

    /// Reads every body of a package's current version.
    ///
    /// - Returns: The URLs of those that were changed or cannot be read.
    package func verify(_ name: String) throws(PackageError) -> [RequestURL] {
        let opened = try opened(name)
        return opened.manifest.resources.map(\.url).filter { opened.find($0)?.verifiedBody() == nil }
    }

    private func opened(_ name: String) throws(PackageError) -> OpenedPackage {
        let index = try index()
        guard let position = index.position(of: name), index.packages[position].removed == nil else {
            throw PackageStore.notFound(name)
        }
        guard let opened = OpenedPackage(index.packages[position], in: self) else {
            throw PackageError(
                .damaged, "the files of package '\(name)' were changed or removed; add the package again with --force")
        }
        return opened
    }

    /// Reads the index, an empty one if no package was ever added.
    func index() throws(PackageError) -> PackageIndex {
        guard let octets = try indexOctets() else { return PackageIndex() }
        guard let index = PackageIndex(json: octets) else {
            guard PackageIndex.format(ofJSON: octets).map({ $0 <= PackageIndex.currentFormat }) ?? true else {
                throw PackageError(
                    .newer,
                    "\(indexPath): a newer version of crumb has written the list of packages; nothing was changed. Update "
                        + "crumb")
            }
            throw damaged
        }
        return index
    }

    /// Reads the octets of the index, of whichever format; `nil` if no package was ever added.
    func indexOctets() throws(PackageError) -> Octets? {
        let sealed: [UInt8]
        do throws(SystemError) {
            sealed = try FileSystem.contents(indexPath, limit: .max)
        } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else {
                throw PackageError(.unreadable, "\(indexPath): the list of packages cannot be read: \(error.message)")
            }
            return nil
        }
        // A rotation in another process may have replaced the key since the database was opened.
        var octets = database.sealer.open(Octets(sealed), at: place)
        if octets == nil {
            do throws(SessionStoreError) {
                _ = try database.needed([])
            } catch {
                throw PackageError(.unreadable, error.description)
            }
            octets = database.sealer.open(Octets(sealed), at: place)
        }
        if octets == nil {
            do throws(SessionStoreError) {
                // A restore brings the database back to a former key, and neither it nor a rotation on another machine of
                // a server reaches the list.
                octets = try database.openUnderAnyKey(Octets(sealed), at: place)
            } catch {
                throw PackageError(
                    .unreadable, "\(indexPath): the list of packages cannot be opened: \(error.commandDescription)")
            }
        }
        guard let octets else { throw damaged }
        return octets
    }

    private var damaged: PackageError {
        PackageError(
            .damaged,
            "\(indexPath): the list of packages was changed, or belongs to another database or key; remove the folder "
                + "\(folder), and add the packages again")
    }

    /// The context that the index is sealed to.
    var place: [UInt8] {
        var place = SealedPlace("offline packages")
        place.append(jarID)
        return place.bytes
    }

    static func notFound(_ name: String) -> PackageError {
        PackageError(.notFound, "the jar has no package '\(name)'")
    }
}

extension PackageStore.Package {
    init(_ package: PackageIndex.Package) {
        name = package.name
        let isPinned = package.signer != nil
        current = PackageStore.Version(package.current, isPinned)
        previous = package.previous.map { PackageStore.Version($0, isPinned) }
        signer = package.signer.flatMap { Base64.decode($0.utf8) }.map { Octets($0) }
        allowedOrigins = package.allowedOrigins
        removed = package.removed.map { Timestamp(microseconds: $0) }
    }
}

extension PackageStore.Version {
    fileprivate init(_ version: PackageIndex.Version, _ isPinned: Bool) {
        self.version = version.version
        added = Timestamp(microseconds: version.added)
        resources = version.resources
        length = version.length
        origins = version.origins
        isSigned = isPinned && version.isUnsigned != true
    }
}
