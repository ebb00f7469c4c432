import CookieModel
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

extension JarSettingsDocument {
    /// Returns a function that applies the document to settings. Members that are `nil` change nothing.
    func change() throws(ServiceProblem) -> @Sendable (inout JarSettings) -> Void {
        let profile = try knownProfile()
        var changes: [JarLimit: Int?] = [:]
        for (name, limit) in (limits ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let known = JarLimit(rawValue: name) else {
                throw .bodyInvalid("limits: \(JarLimit.hint)")
            }
            changes[known] = .some(limit.number)
        }
        return { [changes] settings in
            if let profile { settings.profile = profile }
            for (limit, number) in changes { settings.limits[keyPath: limit.keyPath] = number }
        }
    }

    /// The settings of a new jar: the profile brings its limits.
    func newSettings() throws(ServiceProblem) -> JarSettings {
        var settings = JarSettings(profile: try knownProfile() ?? .rfc6265bis)
        try change()(&settings)
        return settings
    }

    private func knownProfile() throws(ServiceProblem) -> CookieProfile? {
        guard let profile else { return nil }
        guard let known = CookieProfile(name: profile) else {
            throw .bodyInvalid("profile: use 'rfc6265bis' or 'browser'")
        }
        return known
    }
}

extension SessionAPI {
    var jarRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/jars", .someJars(.read), query: ["limit", "cursor"], use: listJars),
            ServiceRoute(.post, "/v1/jars", .allJars(.write), body: .document) { request, context in
                let asked = try await request.document(JarSettingsDocument.self, in: context)
                guard let name = asked.name else { throw ServiceProblem.bodyInvalid("name: this member is missing") }
                let settings = try asked.newSettings()
                let now = now()
                try await blocking { _ = try database.createJar(named: name, settings: settings, now: now) }
                return .json(JarSettingsReport(name: name, settings), status: .created)
            },
            ServiceRoute(.get, "/v1/jars/{jar}", .jar(.read)) { _, context in
                let name = try context.jarName
                let now = now()
                guard let jar = try await blocking({ try database.jars(limit: 1, named: [name], now: now) }).first
                else { throw ServiceProblem.jarNotFound(name) }
                return .json(JarReport(jar))
            },
            ServiceRoute(.put, "/v1/jars/{jar}", .jar(.write), body: .document, use: putJar),
            ServiceRoute(.patch, "/v1/jars/{jar}", .jar(.write), body: .document) { request, context in
                let asked = try await request.document(JarSettingsDocument.self, in: context)
                guard asked.name == nil else {
                    throw ServiceProblem.bodyInvalid("name: rename a jar by POST to its 'rename'")
                }
                let name = try context.jarName
                let change = try asked.change()
                let settings = try await blocking { try database.changeSettings(ofJar: name, change) }
                return .json(JarSettingsReport(name: name, settings))
            },
            ServiceRoute(.delete, "/v1/jars/{jar}", .jar(.write), query: ["final"]) { _, context in
                let name = try context.jarName
                let isFinal = try context.query.flag("final") ?? false
                let now = now()
                let removal = try await blocking {
                    isFinal
                        ? try database.removeJar(named: name) : try database.discardJar(named: name, now: now)
                }
                return .json(JarRemovalReport(jar: name, removal))
            },
            ServiceRoute(.get, "/v1/removed-jars", .someJars(.read)) { _, context in
                let names = context.caller.grant.jarNames
                let removed = try await blocking {
                    try database.removedJars(named: names, limit: Int(SessionAPI.pageLimit))
                }
                return .json(RemovedJarList(removed: removed.map(RemovedJarReport.init)))
            },
            ServiceRoute(.post, "/v1/jars/{jar}/restore", .jar(.write), body: .document) { request, context in
                let asked = try await request.optionalDocument(JarRestorationDocument.self, in: context)
                let name = try context.jarName
                // As for a renamed jar.
                if asked.to != nil { try context.require(.write) }
                let now = now()
                let restored = try await blocking { try database.restoreJar(named: name, to: asked.to, now: now) }
                return .json(RemovedJarReport(restored))
            },
            ServiceRoute(.post, "/v1/jars/{jar}/clear", .jar(.write)) { _, context in
                let name = try context.jarName
                let now = now()
                let removed = try await blocking { try database.clearJar(named: name, now: now) }
                return .json(JarClearReport(jar: name, removed: removed))
            },
            ServiceRoute(.post, "/v1/jars/{jar}/prune", .jar(.write), body: .document) { request, context in
                try await prune(try context.jarName, request, context)
            },
            ServiceRoute(.post, "/v1/prune", .allJars(.write), body: .document) { request, context in
                try await prune(nil, request, context)
            },
        ] + jarPairRoutes
    }

    /// Operations on two jars require access to all jars.
    private var jarPairRoutes: [ServiceRoute] {
        [
            ServiceRoute(.post, "/v1/jars/{jar}/rename", .allJars(.write), body: .document) { request, context in
                let (name, target) = try await names(request, context)
                try await blocking { _ = try database.renameJar(named: name, to: target) }
                return .json(JarRenameReport(from: name, to: target))
            },
            ServiceRoute(.post, "/v1/jars/{jar}/copy", .allJars(.write), body: .document) { request, context in
                let (name, target) = try await names(request, context)
                let now = now()
                let copy = try await blocking { try database.copyJar(named: name, to: target, now: now) }
                return .json(JarCopyReport(from: name, to: target, copy), status: .created)
            },
            ServiceRoute(.post, "/v1/jars/{jar}/merge", .allJars(.write), body: .document) { request, context in
                let (name, target) = try await names(request, context)
                let now = now()
                let merge = try await blocking { try database.mergeJar(named: name, into: target, now: now) }
                return .json(JarMergeReport(from: name, into: target, merge))
            },
        ]
    }

    /// The maximum number of jars of a page, and the default.
    private static let pageLimit: Int64 = 1000

    /// A page of the jars that the caller may see, by name.
    private func listJars(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let query = context.query
        let limit = Int(try query.number("limit", 1...SessionAPI.pageLimit) ?? SessionAPI.pageLimit)
        let start = try query.one("cursor").map { cursor throws(ServiceProblem) in
            guard let name = Hexadecimal.bytes(cursor).flatMap({ String(validating: $0, as: UTF8.self) }),
                (try? SessionStoreError.check(name, of: "jar")) != nil
            else { throw .cursorInvalid }
            return name
        }
        let names = context.caller.grant.jarNames
        let now = now()
        // One more than the page has tells whether there is a next one.
        let found = try await blocking { try database.jars(after: start, limit: limit + 1, named: names, now: now) }
        let page = found.prefix(limit)
        return .json(
            JarList(
                jars: page.map(JarReport.init),
                next: found.count > page.count ? page.last.map { Hexadecimal.text($0.name.utf8) } : nil))
    }

    /// Makes a jar unless there is one of the name, and gives it the settings that are named.
    private func putJar(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let asked = try await request.optionalDocument(JarSettingsDocument.self, in: context)
        let name = try context.jarName
        guard asked.name.map({ $0.isSameName(as: name) }) ?? true else {
            throw ServiceProblem.bodyInvalid("name: the path names another jar")
        }
        let settings = try asked.newSettings()
        let change = try asked.change()
        let now = now()
        let (isNew, result) = try await blocking {
            try database.putJar(named: name, new: settings, now: now, change)
        }
        return .json(JarSettingsReport(name: name, result), status: isNew ? .created : .ok)
    }

    private func names(
        _ request: Request, _ context: ServiceRequestContext
    ) async throws -> (name: String, target: String) {
        (try context.jarName, try await request.document(JarTargetDocument.self, in: context).to)
    }

    /// Prunes a jar, or all of them.
    private func prune(
        _ name: String?, _ request: Request, _ context: ServiceRequestContext
    ) async throws -> Response {
        let asked = try await request.optionalDocument(PruneDocument.self, in: context)
        let journalLimit = asked.journalEntries?.value
        // The journal and the file belong to all jars.
        if asked.journalEntries != nil || asked.vacuum != nil { try context.require(.write) }
        let vacuum = asked.vacuum.map { $0 ? Pruning.Vacuum.always : .never }
        let isOwner = context.caller.grant.coversAll
        let now = now()
        let pruning = try await blocking {
            try database.prune(
                jar: name, journalLimit: journalLimit, emptiesBin: asked.emptyBin ?? false,
                vacuum: vacuum ?? (isOwner ? .whenWorthwhile : .never), now: now)
        }
        return .json(PruneReport(pruning))
    }
}
