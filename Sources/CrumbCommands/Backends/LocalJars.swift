import CookieModel
import SessionOperations
import SessionStore

/// The jars of a database file.
struct LocalJars: JarsBackend {
    private let options: DatabaseOptions
    private let now: Timestamp

    init(_ options: DatabaseOptions, now: Timestamp) {
        self.options = options
        self.now = now
    }

    private func database(with jar: String) throws -> SessionDatabase {
        let database = try options.openForJar(named: jar, now: now)
        guard try database.existingJar(named: jar, policy: CookiePolicy()) != nil else {
            throw Problem.noJar(named: jar, in: database, now: now)
        }
        return database
    }

    private func database(with jar: String, and other: String) throws -> SessionDatabase {
        _ = try database(with: jar)
        return try database(with: other)
    }

    func list() throws -> [JarReport] {
        try options.openExisting(now: now)?.jars(now: now).map(JarReport.init) ?? []
    }

    func create(named name: String, settings: JarSettings) throws -> JarSettingsReport {
        try options.open(now: now).createJar(named: name, settings: settings, now: now)
        return JarSettingsReport(name: name, settings)
    }

    func settings(ofJar name: String) throws -> JarSettingsReport {
        JarSettingsReport(name: name, try database(with: name).settings(ofJar: name))
    }

    func changeSettings(ofJar name: String, _ changes: JarSettingsOptions) throws -> JarSettingsReport {
        let change = try changes.change()
        return JarSettingsReport(name: name, try database(with: name).changeSettings(ofJar: name, change))
    }

    func rename(jarNamed name: String, to newName: String) throws {
        try database(with: name).renameJar(named: name, to: newName)
    }

    func copy(jarNamed name: String, to newName: String) throws -> JarCopyReport {
        JarCopyReport(
            from: name, to: newName, try database(with: name).copyJar(named: name, to: newName, now: now))
    }

    func merge(jarNamed name: String, into target: String) throws -> JarMergeReport {
        JarMergeReport(
            from: name, into: target,
            try database(with: name, and: target).mergeJar(named: name, into: target, now: now))
    }

    func clear(jarNamed name: String) throws -> JarClearReport {
        JarClearReport(jar: name, removed: try database(with: name).clearJar(named: name, now: now))
    }

    func remove(jarNamed name: String, isFinal: Bool) throws -> JarRemovalReport {
        let database = try database(with: name)
        return JarRemovalReport(
            jar: name,
            isFinal ? try database.removeJar(named: name) : try database.discardJar(named: name, now: now))
    }

    func removed() throws -> [RemovedJarReport] {
        try options.openExisting(now: now)?.removedJars().map(RemovedJarReport.init) ?? []
    }

    func restore(jarNamed name: String, to newName: String?) throws -> RemovedJarReport {
        RemovedJarReport(
            try options.openForJar(named: name, now: now).restoreJar(named: name, to: newName, now: now))
    }

    func prune(jarNamed name: String?, journalEntries: Int, emptiesBin: Bool, vacuum: Bool?) throws -> PruneReport {
        let opened = try options.openExisting(now: now)
        if opened == nil, let name, name != "default" {
            throw Problem.noDatabase(at: try options.path())
        }
        let pruning = try opened?.prune(
            jar: name, journalLimit: journalEntries, emptiesBin: emptiesBin,
            vacuum: vacuum.map { $0 ? .always : .never } ?? .whenWorthwhile, now: now)
        return PruneReport(pruning ?? Pruning())
    }
}
