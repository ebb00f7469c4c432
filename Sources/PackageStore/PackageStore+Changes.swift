package import OfflinePackages
import Platform
package import SessionStore
import StoreEngine
package import WebPrimitives

extension PackageStore {
    /// Adds a package, or a new version of one: all of it, or nothing.
    ///
    /// - Returns: The package as it is now, and the origins that its version before did not answer for.
    package func add(
        _ archive: PackageArchive, on conditions: Conditions = Conditions(), now: Timestamp
    ) throws(PackageError) -> (package: Package, newOrigins: [String]) {
        let manifest = archive.manifest
        return try changing(now: now) { index throws(PackageError) in
            let old = index.position(of: manifest.name).flatMap { position in
                index.packages[position].removed == nil ? index.packages[position] : nil
            }
            let pinned = old?.signer.flatMap { Base64.decode($0.utf8) }.map { Octets($0) }
            if let pinned, let key = conditions.key, key != pinned {
                throw PackageError(
                    .refused,
                    "package '\(manifest.name)' is pinned to another key than that of --key; nothing was changed. To "
                        + "trust the new key, remove the package and add it again")
            }
            guard !conditions.needsKnownKey || pinned != nil || conditions.key != nil else {
                throw PackageError(
                    .refused,
                    "package '\(manifest.name)' came over http, where others can change it; nothing was changed. Use https, "
                        + "or give the publisher's key with --key FILE")
            }
            let key = try archive.verifiedKey(pinned: pinned ?? conditions.key)
            if conditions.key == nil { try index.check(manifest, signedBy: key, insteadOf: old) }
            let allowed = conditions.origins.isEmpty ? old?.allowedOrigins : conditions.origins
            if let allowed { try manifest.check(within: Set(allowed)) }
            if let old, !conditions.isForced, let stored = PackageVersion(old.current.version),
                !stored.precedes(manifest.version)
            {
                throw PackageError(
                    .outdated,
                    "package '\(manifest.name)' has version \(stored), and \(manifest.version) is not newer; nothing was "
                        + "changed. Use --force to replace it, or 'crumb gateway package rollback'")
            }
            var version = try write(archive, now: now)
            if key == nil { version.isUnsigned = true }
            let package = PackageIndex.Package(
                name: manifest.name, current: version, previous: old?.current,
                signer: key.map { Base64.text($0) }, allowedOrigins: allowed,
                removed: nil)
            index.packages.removeAll { $0.name == manifest.name }
            index.packages.append(package)
            return (
                Package(package), old.map { old in version.origins.filter { !old.current.origins.contains($0) } } ?? []
            )
        }
    }

    /// Brings back the version before, or a package that was removed. A second rollback undoes the first one.
    package func rollBack(_ name: String, now: Timestamp) throws(PackageError) -> Package {
        try changing(now: now) { index throws(PackageError) in
            guard let position = index.position(of: name) else { throw PackageStore.notFound(name) }
            if index.packages[position].removed != nil {
                index.packages[position].removed = nil
            } else {
                guard let previous = index.packages[position].previous else {
                    throw PackageError(
                        .notFound,
                        "package '\(name)' has no version before \(index.packages[position].current.version); nothing was "
                            + "changed. Add another version with --force")
                }
                index.packages[position].previous = index.packages[position].current
                index.packages[position].current = previous
            }
            return Package(index.packages[position])
        }
    }

    /// Removes a package. ``rollBack(_:now:)`` brings it back for a day.
    package func remove(_ name: String, now: Timestamp) throws(PackageError) -> Package {
        try changing(now: now) { index throws(PackageError) in
            guard let position = index.position(of: name), index.packages[position].removed == nil else {
                throw PackageStore.notFound(name)
            }
            index.packages[position].removed = now.microseconds
            return Package(index.packages[position])
        }
    }

    /// Removes a jar of a database file that was just created, unless something was stored in it meanwhile: a row or a
    /// package. A failure leaves it, and so does a server: another machine may have packages of the jar.
    package static func removeIfUnused(_ jar: CookieJar) {
        guard !jar.database.isOnServer else { return }
        guard let store = PackageStore(of: jar), !FileSystem.isAbsent(store.root) else {
            _ = try? jar.database.removeIfUnused(jar)
            return
        }
        try? locked(store.root) { () throws(PackageError) in
            guard try store.packages().isEmpty else { return }
            _ = try? jar.database.removeIfUnused(jar)
        }
        removeFolders(ofRemovedJars: jar.database)
    }

    /// Removes the folders of jars that neither exist nor can be restored. A failure leaves them for the next time.
    package static func removeFolders(ofRemovedJars database: SessionDatabase) {
        guard let root = root(of: database), !FileSystem.isAbsent(root) else { return }
        try? locked(root) { () throws(PackageError) in
            // The names first: the jar of a folder that is made afterwards is not asked for.
            let folders = FileSystem.names(in: root).compactMap { Int64($0) }
            guard let jars = try? database.jarIDs() else { return }
            for jarID in folders where !jars.contains(jarID) {
                let store = PackageStore(database: database, jarID: jarID, root: root)
                if database.isOnServer {
                    // A list that does not open may belong to another database.
                    do throws(PackageError) { _ = try store.indexOctets() } catch { continue }
                }
                for folder in [store.bundleFolder, store.folder] {
                    for name in FileSystem.names(in: folder) { unlink("\(folder)/\(name)") }
                    rmdir(folder)
                }
            }
        }
    }

    /// Seals the lists of packages of all jars under the newest key of the database.
    package static func reseal(_ database: SessionDatabase) throws(SessionStoreError) {
        guard let root = root(of: database), !FileSystem.isAbsent(root) else { return }
        do throws(PackageError) {
            try locked(root) { () throws(PackageError) in
                let names: [String]
                do throws(SystemError) { names = try FileSystem.allNames(in: root) } catch {
                    throw PackageError(.unreadable, "\(root): the folder cannot be read: \(error.message)")
                }
                for jarID in names.compactMap({ Int64($0) }) {
                    let store = PackageStore(database: database, jarID: jarID, root: root)
                    let octets: Octets?
                    do throws(PackageError) { octets = try store.indexOctets() } catch {
                        // Any other list may open later, if it is resealed.
                        guard error.code == .damaged else { throw error }
                        continue
                    }
                    // As it is, so that a newer version of the program loses nothing.
                    if let octets { try store.write(octets.bytes) }
                }
            }
        } catch {
            throw SessionStoreError(
                .keyRotationRefused, root,
                "the lists of packages cannot be resealed: \(error.description). "
                    + (database.isOnServer
                        ? "Correct it, and run the command again" : "The next 'crumb key rotate' finishes the rotation")
            )
        }
    }

    /// Changes the index while no other process does, and removes what is not needed any more before and afterwards.
    private func changing<Result>(
        now: Timestamp, _ change: (inout PackageIndex) throws(PackageError) -> Result
    ) throws(PackageError) -> Result {
        PrivateFile.createFolders(above: "\(bundleFolder)/.")
        PackageStore.removeFolders(ofRemovedJars: database)
        return try PackageStore.locked(root) { () throws(PackageError) in
            do throws(SessionStoreError) {
                // Seal under the newest key: a rotation may be about to forget the others.
                _ = try database.needed([])
            } catch {
                throw PackageError(.notWritten, error.commandDescription)
            }
            var index = try index()
            // What a killed process has left may have filled the disk.
            removeBundles(besides: index)
            let result = try change(&index)
            index.packages.removeAll { package in
                package.removed.map { now.microseconds - $0 > PackageStore.binTime * 1_000_000 } ?? false
            }
            guard let json = try? index.json() else {
                throw PackageError(.notWritten, "\(indexPath): the list of packages cannot be written")
            }
            try write(json)
            removeBundles(besides: index)
            return result
        }
    }

    private func removeBundles(besides index: PackageIndex) {
        let bundles = index.bundles
        for name in FileSystem.names(in: bundleFolder) where !bundles.contains(name) && !name.hasPrefix(".") {
            unlink(path(ofBundle: name))
        }
    }

    /// Writes the octets of an index.
    private func write(_ octets: [UInt8]) throws(PackageError) {
        guard let sealed = try? database.sealer.seal(octets, at: place) else {
            throw PackageError(.notWritten, "\(indexPath): the list of packages cannot be sealed")
        }
        PrivateFile.removeTemporaries(of: indexPath)
        let failure = PrivateFile.replace(sealed, at: indexPath)
        guard failure == 0 else { throw PackageError(SystemError(failure), writing: indexPath) }
    }

    /// Writes the bodies of a package into a new bundle.
    private func write(_ archive: PackageArchive, now: Timestamp) throws(PackageError) -> PackageIndex.Version {
        let manifest = archive.manifest
        let name = String(UInt64.random(in: 0 ... .max), radix: 16)
        let path = path(ofBundle: name)
        do {
            return try PackageError.writing(path) {
                var writer = try PackageBundle.Writer(path)
                var places: [PackageBundle.Place] = []
                for resource in manifest.resources {
                    try archive.read(resource) { octets throws(PackageError) in
                        do throws(SystemError) {
                            try writer.append(octets)
                        } catch {
                            throw PackageError(error, writing: path)
                        }
                    }
                    places.append(try writer.end())
                }
                try writer.append(try manifest.octets())
                let manifestPlace = try writer.end()
                try writer.append(try PackageBundle.Place.json(places))
                let listPlace = try writer.end()
                try writer.synchronize()
                try FileSystem.synchronizeFolder(of: path)
                return PackageIndex.Version(
                    version: manifest.version.description, added: now.microseconds, bundle: name,
                    key: writer.keyText,
                    manifest: manifestPlace, places: listPlace, resources: manifest.resources.count,
                    length: manifest.length, origins: manifest.origins)
            }
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Runs `body` while no other process changes packages of the database.
    private static func locked<Result>(
        _ root: String, _ body: () throws(PackageError) -> Result
    ) throws(PackageError) -> Result {
        let path = "\(root)/lock"
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(opening: path, O_RDWR | O_CREAT)
        } catch {
            throw PackageError(error, writing: path)
        }
        // Closing it ends the lock.
        defer { file.close() }
        guard retrying({ flock(file.number, LOCK_EX) }) == 0 else { throw PackageError(.last, writing: path) }
        return try body()
    }
}

extension PackageIndex {
    /// Refuses a package for an origin of another one that has another signer. The name of a package is its publisher's
    /// choice, so a new name must not get around a pinned key.
    ///
    /// - Parameter old: The version before. The origins that its pinned key has are no question any more.
    fileprivate func check(
        _ manifest: PackageManifest, signedBy key: Octets?, insteadOf old: Package?
    ) throws(PackageError) {
        let key = key.map { Base64.text($0) }
        let origins = Set(manifest.origins).subtracting(old?.signer == nil ? [] : old?.current.origins ?? [])
        for other in packages where other.removed == nil && other.name != manifest.name {
            guard let signer = other.signer, signer != key,
                let origin = other.current.origins.first(where: origins.contains)
            else { continue }
            throw PackageError(
                .refused,
                "package '\(manifest.name)' answers for \(origin) as package '\(other.name)' does, which another key has "
                    + "signed; nothing was changed. If you trust both, give the publisher's key with --key FILE, or remove "
                    + "package '\(other.name)'")
        }
    }
}

extension PackageError {
    init(_ error: SystemError, writing path: String) {
        self.init(
            error.number == ENOSPC || error.number == EDQUOT ? .diskFull : .notWritten,
            "\(path): the package cannot be written: \(error.message(creating: path)); nothing was changed")
    }

    fileprivate static func writing<Result>(
        _ path: String, _ body: () throws -> Result
    ) throws(PackageError) -> Result {
        do {
            return try body()
        } catch let error as PackageError {
            throw error
        } catch let error as SystemError {
            throw PackageError(error, writing: path)
        } catch {
            throw PackageError(.notWritten, "\(path): the package cannot be written; nothing was changed")
        }
    }
}
