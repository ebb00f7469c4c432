import Crypto
import Platform
package import StoreEngine
import WebPrimitives

/// The folder of the cache of one database.
///
/// It is in the platform's folder for caches, which backups leave out and the system may empty. Its name has the version
/// of the format, so that two versions of the program do not disturb each other, and a digest of the database's path. A
/// copy of a database has another path, and must not find the responses of the original. If another database takes the
/// same path, its key has other marks, so that the old rows do not open.
public struct CacheFolder: Sendable, Hashable {
    /// The version of the index and of the files with bodies.
    static let version = 2

    /// The path of the folder.
    public let path: String

    /// A folder at a path, which need not exist.
    public init(_ path: String) {
        self.path = path
    }

    /// The folder of a database in the platform's folder for caches; `nil` if the environment does not tell that folder,
    /// or if the database is in memory.
    ///
    /// - Parameters:
    ///   - database: The path of the database, or the name of one on a server.
    ///   - environment: The value of a variable of the environment.
    package init?(database: String, environment: (String) -> String?) {
        guard !database.isEmpty, let caches = UserFolder.caches.path(environment) else { return nil }
        // The URL of a server is no path, which would depend on the current folder.
        let name = DatabasePlace.isServer(database) ? database : FileSystem.resolved(database)
        let digest = SHA256.hash(data: Array(name.utf8)).prefix(16)
        path = "\(caches)/crumb/responses-\(CacheFolder.version)/\(Hexadecimal.text(digest))"
    }

    /// Whether a cache has been created in the folder.
    package var hasCache: Bool { FileSystem.isRegular(index) }

    /// What keeps responses from being stored in the folder now; `nil` if nothing is known.
    package var obstacle: SessionStoreError? { obstacle(to: 0) }

    /// What keeps a response of some octets from being stored now; `nil` if nothing is known.
    func obstacle(to octets: Int64) -> SessionStoreError? {
        // The folder is created on first use.
        let place = CacheFolder.nearest(path)
        let failure = FileSystem.isFolder(place) ? FileSystem.changingFailure(place) : SystemError(ENOTDIR)
        if let failure {
            return SessionStoreError(
                .fileNotWritten, place,
                "nothing can be stored here: \(failure.message). Correct it, or set XDG_CACHE_HOME to another folder")
        }
        guard let room = FileSystem.room(besides: "\(place)/index"), room - octets < CacheFolder.neededRoom
        else { return nil }
        return SessionStoreError(
            .diskFull, place, "the disk is full, so nothing is stored. Free some space, or remove responses")
    }

    /// The nearest folder or file on the way to a path that exists.
    static func nearest(_ path: String) -> String {
        var place = path
        while place != "/", FileSystem.permissions(place) == nil { place = FileSystem.folder(of: place) }
        return place
    }

    /// How much space a small response takes, with its part of the write-ahead log.
    private static let neededRoom: Int64 = 64 << 10

    /// The file of the index.
    var index: String { "\(path)/index.sqlite" }
}
