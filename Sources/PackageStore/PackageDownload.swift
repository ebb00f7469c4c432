import Crypto
package import OfflinePackages
import Platform
package import SessionStore
import StoreEngine
package import WebPrimitives

/// The part of a package that was downloaded from a URL, in a file that the next attempt goes on with.
///
/// No other process downloads from the URL, or uses the file, for as long as this one lives.
package final class PackageDownload: ZipSource {
    /// The URL, as the user has named it.
    package let url: RequestURL
    /// The file with the octets.
    package let path: String
    private let file: Descriptor
    private var tagPath: String { "\(path).tag" }

    /// The download of a URL. Creates the folder for it, and locks its file.
    ///
    /// - Parameter folder: The folder of a database's packages.
    init(_ url: RequestURL, in folder: String) throws(PackageError) {
        self.url = url
        path = "\(folder)/downloads/\(Hexadecimal.text(SHA256.hash(data: Array(url.description.utf8)).prefix(16)))"
        PrivateFile.createFolders(above: path)
        do throws(SystemError) {
            file = try PackageDownload.locked(path)
        } catch {
            if error.number == EWOULDBLOCK {
                throw PackageError(.notFetched, "another process downloads \(url.origin); wait for it, and try again")
            }
            throw PackageError(error, writing: path)
        }
    }

    deinit {
        // Ends the lock, too.
        file.close()
    }

    /// Opens the file for this process alone.
    private static func locked(_ path: String) throws(SystemError) -> Descriptor {
        while true {
            let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW)
            guard retrying({ flock(file.number, LOCK_EX | LOCK_NB) }) == 0 else {
                let error = SystemError.last
                file.close()
                throw error
            }
            // The process before may have removed the file after it was opened here.
            if let own = FileIdentity(file), own == FileIdentity(path) { return file }
            file.close()
        }
    }

    /// What is here of the package.
    package func transfer() -> PackageTransfer {
        let tag = (try? FileSystem.contents(tagPath, limit: 1000)).map { String(decoding: $0, as: UTF8.self) }
        return PackageTransfer(length: length, validator: tag)
    }

    /// Prepares the file for octets from a position on, which belong to the response with that strong entity tag.
    package func prepare(from position: Int64, validator: String?) throws(PackageError) {
        // The tag goes first: with octets of another response, it would be believed.
        if position == 0 { unlink(tagPath) }
        guard ftruncate(file.number, off_t(position)) == 0 else { throw PackageError(.last, writing: path) }
        guard position == 0, let validator else { return }
        let failure = PrivateFile.replace(Array(validator.utf8), at: tagPath)
        guard failure == 0 else { throw PackageError(SystemError(failure), writing: tagPath) }
    }

    /// Writes octets of the package.
    package func write(_ octets: [UInt8], at position: Int64) throws(PackageError) {
        do throws(SystemError) { try file.write(octets, at: position) } catch {
            throw PackageError(error, writing: path)
        }
    }

    package var length: Int64 { FileSystem.size(path) ?? 0 }

    package func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        do throws(SystemError) { return try file.read(count, at: position) } catch {
            throw PackageError(.unreadable, "\(path): the file cannot be read: \(error.message)")
        }
    }

    /// Removes what was downloaded, unless the next attempt goes on with it.
    package func removeUnusable() {
        // Another process may have a file of that name by now.
        if FileIdentity(file) == FileIdentity(path), transfer().length == 0 { remove() }
    }

    /// Removes what was downloaded.
    package func remove() {
        unlink(tagPath)
        unlink(path)
    }
}

extension PackageStore {
    /// The download of a package for a jar of a database, which no other process can begin meanwhile.
    ///
    /// - Returns: `nil` if the database has no folder for packages.
    package static func download(
        _ url: RequestURL, beside database: SessionDatabase
    ) throws(PackageError) -> PackageDownload? {
        guard let root = root(of: database) else { return nil }
        return try PackageDownload(url, in: root)
    }
}

/// A package file on a disk.
package final class PackageFile: ZipSource {
    package let length: Int64
    private let path: String
    private let file: Descriptor

    /// Opens a file.
    package init(_ path: String) throws(PackageError) {
        self.path = path
        do throws(SystemError) { file = try Descriptor(opening: path, O_RDONLY) } catch {
            throw PackageError(.unreadable, "\(path): the file cannot be read: \(error.message)")
        }
        length = FileSystem.isRegular(path) ? FileSystem.size(path) ?? 0 : 0
    }

    deinit {
        file.close()
    }

    package func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        do throws(SystemError) { return try file.read(count, at: position) } catch {
            throw PackageError(.unreadable, "\(path): the file cannot be read: \(error.message)")
        }
    }
}
