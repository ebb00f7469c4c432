import CookieModel
import SessionOperations
import SessionStore

/// The jars of a running service.
struct ServedJars: KeptJars {
    private let service: ServiceConnection

    init(_ service: ServiceConnection) {
        self.service = service
    }

    func list() throws -> [JarReport] {
        var jars: [JarReport] = []
        var cursor: String?
        repeat {
            let page: JarList = try service.answer(to: .get("jars", query: [("cursor", cursor)]))
            jars += page.jars
            cursor = page.next
        } while cursor != nil
        return jars
    }

    func create(named name: String, settings: JarSettings) throws -> JarSettingsReport {
        let report = JarSettingsReport(name: name, settings)
        return try service.answer(
            to: .post(
                "jars", document: JarChange(name: name, profile: report.profile, limits: report.limits)))
    }

    func settings(ofJar name: String) throws -> JarSettingsReport {
        do {
            let jar: JarReport = try service.answer(to: .get("jars", try checked(name)))
            return JarSettingsReport(name: jar.name, profile: jar.profile, limits: jar.limits)
        } catch let refusal as ServiceRefusal where refusal.code == ExitStatus.jarNotFound.code {
            throw SessionStoreError(noJarNamed: name)
        }
    }

    func changeSettings(ofJar name: String, _ changes: JarSettingsOptions) throws -> JarSettingsReport {
        let document = JarChange(name: nil, profile: changes.profile, limits: try changes.changedLimits())
        return try service.answer(to: .patch("jars", try checked(name), document: document))
    }

    func rename(jarNamed name: String, to newName: String) throws {
        _ = try service.answer(
            to: .post("jars", try checked(name), "rename", document: ["to": newName]), as: [String: String].self)
    }

    func copy(jarNamed name: String, to newName: String) throws -> JarCopyReport {
        try service.answer(to: .post("jars", try checked(name), "copy", document: ["to": newName]))
    }

    func merge(jarNamed name: String, into target: String) throws -> JarMergeReport {
        try service.answer(to: .post("jars", try checked(name), "merge", document: ["to": target]))
    }

    func clear(jarNamed name: String) throws -> JarClearReport {
        try service.answer(to: .post("jars", try checked(name), "clear"))
    }

    func remove(jarNamed name: String) throws -> JarRemovalReport {
        try service.answer(to: .delete("jars", try checked(name)))
    }

    func prune(jarNamed name: String?, journalEntries: Int, vacuum: Bool?) throws -> PruneReport {
        let document = PruneOrder(journalEntries: journalEntries, vacuum: vacuum)
        guard let name else { return try service.answer(to: .post("prune", document: document)) }
        do {
            return try service.answer(to: .post("jars", try checked(name), "prune", document: document))
        } catch let refusal as ServiceRefusal
            where refusal.code == ExitStatus.jarNotFound.code && name == "default"
        {
            return PruneReport(Pruning())
        }
    }

    /// A name that a jar can have, so that it can stand in a path.
    private func checked(_ name: String) throws(SessionStoreError) -> String {
        guard !name.isEmpty else { throw SessionStoreError(noJarNamed: name) }
        return name
    }
}

/// The settings of a jar, as far as they are given.
private struct JarChange: Encodable {
    let name: String?
    let profile: String?
    let limits: [String: Int?]?
}

/// What pruning leaves.
private struct PruneOrder: Encodable {
    let journalEntries: Int
    let vacuum: Bool?
}
