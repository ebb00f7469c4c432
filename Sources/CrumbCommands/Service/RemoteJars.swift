import CookieModel
import SessionClient
import SessionOperations
import SessionStore

/// The jars of a running service.
struct RemoteJars: JarsBackend {
    private let service: ServiceConnection

    init(_ service: ServiceConnection) {
        self.service = service
    }

    func list() throws -> [JarReport] {
        var jars: [JarReport] = []
        var cursor: String?
        repeat {
            let page: JarList = try service.answer(to: .jars(cursor: cursor))
            jars += page.jars
            cursor = page.next
        } while cursor != nil
        return jars
    }

    func create(named name: String, settings: JarSettings) throws -> JarSettingsReport {
        let report = JarSettingsReport(name: name, settings)
        return try service.answer(
            to: .createJar(JarSettingsDocument(name: name, profile: report.profile, limits: report.limits)))
    }

    func settings(ofJar name: String) throws -> JarSettingsReport {
        let jar: JarReport = try service.answer(about: name, to: .jar(try checked(name)))
        return JarSettingsReport(name: jar.name, profile: jar.profile, limits: jar.limits)
    }

    func changeSettings(ofJar name: String, _ changes: JarSettingsOptions) throws -> JarSettingsReport {
        let document = JarSettingsDocument(profile: changes.profile, limits: try changes.changedLimits())
        return try service.answer(about: name, to: .changeSettings(of: try checked(name), document))
    }

    func rename(jarNamed name: String, to newName: String) throws {
        _ = try service.answer(about: name, to: .renameJar(try checked(name), to: newName))
    }

    func copy(jarNamed name: String, to newName: String) throws -> JarCopyReport {
        try service.answer(about: name, to: .copyJar(try checked(name), to: newName))
    }

    func merge(jarNamed name: String, into target: String) throws -> JarMergeReport {
        try service.answer(about: name, target, to: .mergeJar(try checked(name), into: target))
    }

    func clear(jarNamed name: String) throws -> JarClearReport {
        try service.answer(about: name, to: .clearJar(try checked(name)))
    }

    func remove(jarNamed name: String, isFinal: Bool) throws -> JarRemovalReport {
        try service.answer(about: name, to: .removeJar(try checked(name), isFinal: isFinal))
    }

    func removed() throws -> [RemovedJarReport] {
        let list: RemovedJarList = try service.answer(to: .removedJars())
        return list.removed
    }

    func restore(jarNamed name: String, to newName: String?) throws -> RemovedJarReport {
        do {
            return try service.answer(to: .restoreJar(try checked(name), JarRestorationDocument(to: newName)))
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            // Not as for other requests: a similar name of a jar that exists would be no advice.
            throw SessionStoreError(nothingToRestoreOf: name)
        }
    }

    func prune(jarNamed name: String?, journalEntries: Int, emptiesBin: Bool, vacuum: Bool?) throws -> PruneReport {
        let document = PruneDocument(
            journalEntries: journalEntries, vacuum: vacuum, emptyBin: emptiesBin ? true : nil)
        guard let name else { return try service.answer(to: .pruneAll(document)) }
        do {
            return try service.answer(to: .prune(document, jar: try checked(name)))
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            guard name == "default" else { throw SessionStoreError(noJarNamed: name) }
            return PruneReport(Pruning())
        }
    }

    /// Checks that a name can be a jar's, so that it can be part of a path.
    private func checked(_ name: String) throws(SessionStoreError) -> String {
        guard !name.isEmpty else { throw SessionStoreError(noJarNamed: name) }
        return name
    }
}

extension ServiceConnection {
    /// The answer to a request about jars.
    ///
    /// - Throws: if one of them is missing, an error that names those that may be meant.
    func answer<Answer: Decodable & Sendable>(
        about name: String, _ others: String..., to request: SessionRequest<Answer>
    ) throws -> Answer {
        do {
            return try answer(to: request)
        } catch let error as SessionClientError where error.has(.jarNotFound) {
            let missing = others.first { error.problem?.detail.hasPrefix("\($0): ") == true }
            throw noJar(named: missing ?? name)
        }
    }

    /// The problem of a jar that the service does not have, with the names that may be meant.
    func noJar(named name: String) -> Problem {
        .noJar(named: name, in: address.description, others: jarNames)
    }

    /// The jars of the service that may be meant by a name.
    func jarNames(similarTo name: String) -> [String] { Problem.jarNames(similarTo: name, among: jarNames) }

    /// The names of the jars. Without them, a message is still right.
    private var jarNames: [String] { (try? answer(to: .jars()).jars.map(\.name)) ?? [] }
}
