import CookieModel
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
                "jars", document: JarSettingsDocument(name: name, profile: report.profile, limits: report.limits)))
    }

    func settings(ofJar name: String) throws -> JarSettingsReport {
        let jar: JarReport = try answer(about: name, to: .get("jars", try checked(name)))
        return JarSettingsReport(name: jar.name, profile: jar.profile, limits: jar.limits)
    }

    func changeSettings(ofJar name: String, _ changes: JarSettingsOptions) throws -> JarSettingsReport {
        let document = JarSettingsDocument(profile: changes.profile, limits: try changes.changedLimits())
        return try answer(about: name, to: .patch("jars", try checked(name), document: document))
    }

    func rename(jarNamed name: String, to newName: String) throws {
        _ = try answer(
            about: name, to: .post("jars", try checked(name), "rename", document: JarTargetDocument(to: newName)),
            as: JarRenameReport.self)
    }

    func copy(jarNamed name: String, to newName: String) throws -> JarCopyReport {
        try answer(about: name, to: .post("jars", try checked(name), "copy", document: JarTargetDocument(to: newName)))
    }

    func merge(jarNamed name: String, into target: String) throws -> JarMergeReport {
        try answer(
            about: name, target, to: .post("jars", try checked(name), "merge", document: JarTargetDocument(to: target)))
    }

    func clear(jarNamed name: String) throws -> JarClearReport {
        try answer(about: name, to: .post("jars", try checked(name), "clear"))
    }

    func remove(jarNamed name: String) throws -> JarRemovalReport {
        try answer(about: name, to: .delete("jars", try checked(name)))
    }

    func prune(jarNamed name: String?, journalEntries: Int, vacuum: Bool?) throws -> PruneReport {
        let document = PruneDocument(journalEntries: journalEntries, vacuum: vacuum)
        guard let name else { return try service.answer(to: .post("prune", document: document)) }
        do {
            return try service.answer(to: .post("jars", try checked(name), "prune", document: document))
        } catch let refusal as ServiceRefusal
            where refusal.code == FailureKind.jarNotFound.code && name == "default"
        {
            return PruneReport(Pruning())
        }
    }

    /// The answer to a request about jars; names those that may be meant if one of them is missing.
    private func answer<Answer: Decodable>(
        about names: String..., to request: ServiceRequest, as type: Answer.Type = Answer.self
    ) throws -> Answer {
        do {
            return try service.answer(to: request)
        } catch let refusal as ServiceRefusal where refusal.code == FailureKind.jarNotFound.code {
            let missing = names.first { refusal.report.detail.hasPrefix("\($0): ") }
            throw service.noJar(named: missing ?? names.joined(separator: ", "))
        }
    }

    /// A name that a jar can have, so that it can stand in a path.
    private func checked(_ name: String) throws(SessionStoreError) -> String {
        guard !name.isEmpty else { throw SessionStoreError(noJarNamed: name) }
        return name
    }
}

extension ServiceConnection {
    /// The problem of a jar that the service does not have, with the names that may be meant.
    func noJar(named name: String) -> Problem {
        // Without the names the error is still the one to report.
        let names = (try? answer(to: .get("jars"), as: JarList.self).jars.map(\.name)) ?? []
        return .noJar(named: name, in: address.description, others: names)
    }
}
