import CookieModel
import Platform
import SessionStore

/// The databases and backups that use a key file, as far as Crumb knows: those in the default folder, and those that Crumb
/// has opened or written with the key, under any `HOME`.
///
/// The file `KEYFILE.databases` beside the key file lists the latter. With `CRUMB_KEY`, or if that file cannot be written,
/// `known-databases` in the folder of the default database lists them. They tell for which databases and backups a former
/// key is kept. No command fails because a list cannot be written.
package struct KnownDatabases {
    /// The most paths that a list holds.
    static let limit = 1000

    /// The default database; `nil` if no folder for it is known.
    private let database: String?
    /// The key file; `nil` if the key comes from elsewhere.
    private let keyFile: String?

    package init() {
        let location = KeyLocation()
        self.init(keyFile: location.isInEnvironment ? nil : try? location.locations.keyFile())
    }

    init(keyFile: String?) {
        database = try? Locations().defaultDatabase()
        self.keyFile = keyFile.flatMap { FileSystem.isSpecial($0) ? nil : FileSystem.resolved($0) }
    }

    private var folder: String? { database.map { FileSystem.resolved(FileSystem.folder(of: $0)) } }
    private var keyList: String? { keyFile.map { $0 + ".databases" } }
    private var folderList: String? { folder.map { $0 + "/known-databases" } }
    private var lists: [String] { [keyList, folderList].compactMap { $0 } }

    /// Adds a database or a backup that exists, with its key.
    package func remember(_ path: String) {
        let path = FileSystem.resolved(path)
        guard path.hasPrefix("/"), !path.contains("\n") else { return }
        if let keyFile, let keyList, !FileSystem.isAbsent(keyFile), KnownDatabases.add(path, to: keyList) { return }
        guard let database, let folderList, FileSystem.folder(of: path) != folder else { return }
        PrivateFile.createFolders(above: database)
        _ = KnownDatabases.add(path, to: folderList)
    }

    /// Returns whether the list holds the path, or is full.
    private static func add(_ path: String, to list: String) -> Bool {
        let known = paths(in: list)
        guard !known.contains(path), known.count < limit else { return true }
        guard let file = try? PrivateFile.openForAppending(list) else { return false }
        defer { file.close() }
        return (try? file.append(Array("\(path)\n".utf8))) != nil
    }

    /// Removes files that no longer exist, such as a deleted backup.
    ///
    /// - Parameter gone: the files, or folders that they were in.
    func remove(gone: [String]) {
        let gone = gone.map(FileSystem.resolved)
        for list in lists {
            let known = KnownDatabases.paths(in: list)
            let kept = known.filter { !KnownDatabases.isGone($0, gone) }
            guard kept.count < known.count else { continue }
            _ = PrivateFile.replace(Array(kept.map { $0 + "\n" }.joined().utf8), at: list)
        }
    }

    /// Whether a file is absent and is one of `gone`, or was in a folder that is.
    static func isGone(_ path: String, _ gone: [String]) -> Bool {
        FileSystem.isAbsent(path) && gone.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    /// The paths that exist or have existed.
    func paths() -> [String] {
        filesInFolder + lists.flatMap(KnownDatabases.paths)
    }

    /// The files in the default folder. If the folder does not exist, the list beside the key file names the databases that
    /// were there.
    private var filesInFolder: [String] {
        guard let folder else { return [] }
        if FileSystem.isAbsent(folder), let keyList, !FileSystem.isAbsent(keyList) { return [] }
        return KnownDatabases.files(in: folder)
    }

    /// The lists that are full, so that databases may be missing in them.
    var fullLists: [String] {
        lists.filter { KnownDatabases.paths(in: $0).count >= KnownDatabases.limit }
    }

    /// The list beside the key file if it does not exist, so that databases under another `HOME` are not known.
    var missingList: String? {
        keyList.flatMap { FileSystem.isAbsent($0) ? $0 : nil }
    }

    /// A database that may be sealed with the key of this key file, if the file is missing. `nil` if the file exists, or if
    /// no such database is known.
    var sealedWithMissingKey: String? {
        guard let keyFile, FileSystem.isAbsent(keyFile) else { return nil }
        let locations = Locations()
        func isThis(_ path: String?) -> Bool { path.map(FileSystem.resolved) == keyFile }
        let named = isThis(try? locations.keyFile()) ? locations.namedDatabase : nil
        let own = isThis(try? locations.defaultKeyFile()) ? paths() : keyList.map(KnownDatabases.paths) ?? []
        return ([named].compactMap { $0 } + own).first {
            !DatabasePlace.isServer($0) && SessionDatabase.isDatabase(at: $0)
        }
    }

    /// The files in a folder that may be databases; `path` itself if it is no folder.
    static func files(in path: String) -> [String] {
        guard FileSystem.isFolder(path) else { return [path] }
        return FileSystem.names(in: path).sorted().map { "\(path)/\($0)" }.filter { path in
            FileSystem.isRegular(path)
                && !["-wal", "-shm", ".new", ".databases", "/known-databases"].contains { path.hasSuffix($0) }
        }
    }

    private static func paths(in list: String) -> [String] {
        guard let bytes = try? FileSystem.contents(list, limit: 8 << 20) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The note that a new database will share the default key file with another one; `nil` if it will not, or if the
    /// database exists.
    static func othersWithDefaultKey(ifNew path: String) -> String? {
        let (locations, location) = (Locations(), KeyLocation())
        guard !SessionDatabase.exists(at: path), !location.isInEnvironment, locations.usesDefaultKeyFile,
            let key = try? locations.keyFile(), !FileSystem.isAbsent(key),
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
    /// Those that do not exist, or not at the moment, such as a backup on a disk that is not mounted.
    private(set) var absent: [String] = []

    /// - Parameters:
    ///   - keys: the former keys.
    ///   - files: databases and backups besides the known ones, or folders with them.
    ///   - gone: known databases and backups that no longer exist, or folders that they were in.
    init(_ keys: [KeyFile.FormerKey], files: [String] = [], gone: [String] = []) {
        self.keys = keys
        needed = Array(repeating: [], count: keys.count)
        guard !keys.isEmpty else { return }
        let (known, gone) = (KnownDatabases(), gone.map(FileSystem.resolved))
        unchecked = known.fullLists.map { "\($0): the list is full" }
        var seen: Set<String> = []
        for path in files.flatMap(KnownDatabases.files) + known.paths() where !KnownDatabases.isGone(path, gone) {
            guard seen.insert(FileSystem.resolved(path)).inserted else { continue }
            if FileSystem.isAbsent(path) {
                unchecked.append("\(path): no such file")
                absent.append(path)
                continue
            }
            do {
                add(path, needs: try SessionDatabase.needed(keys, byFile: path))
            } catch {
                unchecked.append(error.commandDescription)
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

        /// When it was replaced, and what needs it.
        ///
        /// - Parameter isCertain: Whether every known database was checked.
        func text(isCertain: Bool) -> String {
            let time = replaced.map { "replaced \($0)" } ?? "replaced at an unknown time"
            if !neededBy.isEmpty { return "\(time); needed by \(listed(neededBy))" }
            return "\(time); \(isCertain ? "no known database needs it" : "not every known database could be checked")"
        }
    }

    /// Whether nothing that was checked needs the key, and everything was checked.
    func isUnneeded(_ key: KeyFile.FormerKey) -> Bool {
        unchecked.isEmpty && needed[key.position].isEmpty
    }

    var reports: [Report] {
        zip(keys, needed).map { Report(replaced: $0.replaced?.rfc3339, neededBy: $1) }
    }
}
