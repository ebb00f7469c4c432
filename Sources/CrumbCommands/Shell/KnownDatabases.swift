import CookieModel
import Foundation
import SessionStore

/// The databases and backups of this user: those in the default folder, and those elsewhere that Crumb has opened or
/// written. The file `known-databases` in that folder has the paths of the latter.
///
/// They tell for which databases and backups a former key is kept. Best effort: no command fails for it.
package struct KnownDatabases {
    /// The most paths that the file has.
    static let limit = 1000

    /// The default database; `nil` if no folder for it is known.
    private let database: String?

    package init() {
        database = try? Locations().defaultDatabase()
    }

    private var folder: String? { database.map { PrivateFile.resolved(PrivateFile.folder(of: $0)) } }
    private var file: String? { folder.map { $0 + "/known-databases" } }

    /// Adds a database or a backup that exists.
    package func remember(_ path: String) {
        let path = PrivateFile.resolved(path)
        guard let database, let file, path.hasPrefix("/"), !path.contains("\n"), PrivateFile.folder(of: path) != folder
        else { return }
        let known = elsewhere
        guard !known.contains(path) else { return }
        PrivateFile.createFolders(above: database)
        guard known.count < KnownDatabases.limit else {
            let kept = known.filter { !PrivateFile.isAbsent($0) }.suffix(KnownDatabases.limit / 2)
            _ = PrivateFile.replace(Array((kept + [path]).map { $0 + "\n" }.joined().utf8), at: file)
            return
        }
        let descriptor = PrivateFile.openForAppending(file)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = PrivateFile.append(Array("\(path)\n".utf8), to: descriptor)
    }

    /// The paths that exist or have existed.
    func paths() -> [String] {
        guard let folder else { return [] }
        return KnownDatabases.files(in: folder) + elsewhere
    }

    /// The files in a folder that may be databases; `path` itself if it is no folder.
    static func files(in path: String) -> [String] {
        guard PrivateFile.isFolder(path) else { return [path] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().map { "\(path)/\($0)" }.filter { path in
            PrivateFile.isRegular(path) && !["-wal", "-shm", ".new"].contains { path.hasSuffix($0) }
        }
    }

    private var elsewhere: [String] {
        guard let file, let bytes = PrivateFile.contents(file, limit: 8 << 20) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The note that a new database will share the default key file with another one; `nil` if it will not, or if the
    /// database exists.
    static func othersWithDefaultKey(ifNew path: String) -> String? {
        let (locations, location) = (Locations(), KeyLocation())
        guard !SessionDatabase.exists(at: path), !location.isInEnvironment, locations.usesDefaultKeyFile,
            let key = try? locations.keyFile(), !PrivateFile.isAbsent(key),
            let other = KnownDatabases().paths().first(where: SessionDatabase.isDatabase(at:))
        else { return nil }
        return "\(path) is sealed with the key in \(key), as \(other) is; to give a new database a key of its own, set "
            + "CRUMB_KEY_FILE"
    }
}

/// The former keys of a source, and the databases and backups that still need each of them.
struct FormerKeyUse {
    let keys: [KeyFile.FormerKey]
    /// The paths that need each key.
    private(set) var needed: [[String]]
    /// Databases and backups that could not be checked, with the reason.
    private(set) var unchecked: [String] = []

    /// - Parameters:
    ///   - keys: the former keys.
    ///   - files: databases and backups besides the known ones, or folders with them.
    init(_ keys: [KeyFile.FormerKey], files: [String] = []) {
        self.keys = keys
        needed = Array(repeating: [], count: keys.count)
        guard !keys.isEmpty else { return }
        var seen: Set<String> = []
        for path in files.flatMap(KnownDatabases.files) + KnownDatabases().paths() {
            guard seen.insert(PrivateFile.resolved(path)).inserted else { continue }
            if PrivateFile.isAbsent(path) {
                unchecked.append("\(path): no such file")
                continue
            }
            do {
                add(path, needs: try SessionDatabase.needed(keys, byFile: path))
            } catch {
                unchecked.append(error.description)
            }
        }
    }

    /// Adds a database.
    mutating func add(_ name: String, needs: [KeyFile.FormerKey]) {
        for key in needs { needed[key.position].append(name) }
    }

    /// Everything that needs a former key.
    var dependents: [String] {
        var seen: Set<String> = []
        return needed.joined().filter { seen.insert($0).inserted }
    }

    /// A key in JSON.
    struct Report: Encodable {
        let replaced: String?
        let neededBy: [String]
    }

    var reports: [Report] {
        zip(keys, needed).map { Report(replaced: $0.replaced?.rfc3339, neededBy: $1) }
    }
}

extension FormerKeyUse.Report {
    /// When it was replaced, and what needs it.
    var text: String {
        let time = replaced.map { "replaced \($0)" } ?? "replaced at an unknown time"
        return neededBy.isEmpty ? "\(time); no known database needs it" : "\(time); needed by \(listed(neededBy))"
    }
}
