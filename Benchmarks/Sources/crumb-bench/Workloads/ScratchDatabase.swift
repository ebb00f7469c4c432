import DriverSupport
import Glibc
import SessionStore

/// An empty database on disk for one repetition; its files go with it.
final class ScratchDatabase {
    private let path: String
    let jar: CookieJar

    /// Makes it beside the workload's files, so that it lies on the same disk as those of other peers.
    init(_ workload: Workload, durability: Durability = .normal) throws {
        path = "\(workload.folder)/scratch.sqlite"
        ScratchDatabase.remove(path)
        jar = try SessionDatabase(
            path: path, keys: .file(workload.key), durability: durability, now: .present
        ).jar(now: .present)
    }

    deinit { ScratchDatabase.remove(path) }

    private static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
}
