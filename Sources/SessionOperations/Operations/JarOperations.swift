import CookieModel
import SessionStore
import SessionWire

extension JarSettingsDocument {
    /// Returns a function that applies the document to settings. Members that are `nil` change nothing.
    fileprivate func change() throws(OperationError) -> (inout JarSettings) -> Void {
        let profile = try knownProfile()
        var changes: [JarLimit: Int?] = [:]
        for (name, limit) in (limits ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let known = JarLimit(rawValue: name) else {
                throw .bodyInvalid("limits: \(JarLimit.hint)")
            }
            changes[known] = .some(limit.number)
        }
        return { settings in
            if let profile { settings.profile = profile }
            for (limit, number) in changes { settings.limits[keyPath: limit.keyPath] = number }
        }
    }

    /// The settings of a new jar: the profile brings its limits.
    fileprivate func newSettings() throws(OperationError) -> JarSettings {
        var settings = JarSettings(profile: try knownProfile() ?? .rfc6265bis)
        try change()(&settings)
        return settings
    }

    private func knownProfile() throws(OperationError) -> CookieProfile? {
        guard let profile else { return nil }
        guard let known = CookieProfile(name: profile) else {
            throw .bodyInvalid("profile: use 'rfc6265bis' or 'browser'")
        }
        return known
    }
}

extension DatabaseOperation where Document == NoDocument, Output == JarList {
    /// A page of the jars that the caller may see, by name.
    package static var listJars: Self {
        Self(.listJars) { input, context in
            let limit = try context.limit(input.query)
            let start = try input.query.one("cursor").map { cursor throws(OperationError) in
                guard let name = Hexadecimal.bytes(cursor).flatMap({ String(validating: $0, as: UTF8.self) }),
                    (try? SessionStoreError.check(name, of: "jar")) != nil
                else { throw .cursorInvalid }
                return name
            }
            // One more than the page has tells whether there is a next one.
            let found = try context.database.jars(
                after: start, limit: limit + 1, named: context.grant.jarNames, now: context.now)
            let page = found.prefix(limit)
            return JarList(
                jars: page.map(JarReport.init),
                next: found.count > page.count ? page.last.map { Hexadecimal.text($0.name.utf8) } : nil)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == SiteList {
    /// A page of the sites of the jars that the caller may see, by site.
    package static var listSites: Self {
        Self(.listSites) { input, context in
            let limit = try context.limit(input.query)
            let start = try CookieCursor(input.query)
            var names = context.grant.jarNames
            if let name = try input.query.one("jar") {
                // A jar outside the grant is answered like a jar that does not exist.
                guard context.grant.covers(jar: name) else { throw SessionStoreError(noJarNamed: name) }
                names = [try context.jar(named: name).name]
            }
            let found = try context.database.sites(
                after: start.site, start.sequence, limit: limit + 1, named: names, now: context.now)
            let page = found.prefix(limit)
            return SiteList(
                sites: page.map(SiteReport.init),
                next: found.count > page.count
                    ? page.last.map { CookieCursor(site: $0.site, sequence: $0.jarID).text } : nil)
        }
    }
}

extension DatabaseOperation where Document == JarSettingsDocument, Output == JarSettingsReport {
    package static var createJar: Self {
        Self(.createJar) { input, context in
            guard let name = input.document.name else {
                throw OperationError.bodyInvalid("name: this member is missing")
            }
            let settings = try input.document.newSettings()
            _ = try context.database.createJar(named: name, settings: settings, now: context.now)
            context.isCreation = true
            return JarSettingsReport(name: name, settings)
        }
    }

    /// Creates a jar unless one has the name, and changes the settings that are named.
    package static var putJar: Self {
        Self(.putJar) { input, context in
            guard input.document.name.map({ $0.isSameName(as: input.jar) }) ?? true else {
                throw OperationError.bodyInvalid("name: the path names another jar")
            }
            let (isNew, settings) = try context.database.putJar(
                named: input.jar, new: try input.document.newSettings(), now: context.now,
                try input.document.change())
            context.isCreation = isNew
            return JarSettingsReport(name: input.jar, settings)
        }
    }

    package static var changeJar: Self {
        Self(.changeJar) { input, context in
            guard input.document.name == nil else {
                throw OperationError.bodyInvalid("name: rename a jar by POST to its 'rename'")
            }
            let settings = try context.database.changeSettings(ofJar: input.jar, try input.document.change())
            return JarSettingsReport(name: input.jar, settings)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == JarReport {
    package static var getJar: Self {
        Self(.getJar) { input, context in
            guard let jar = try context.database.jars(limit: 1, named: [input.jar], now: context.now).first else {
                throw SessionStoreError(noJarNamed: input.jar)
            }
            return JarReport(jar)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == JarRemovalReport {
    package static var removeJar: Self {
        Self(.removeJar) { input, context in
            let isFinal = try input.query.flag("final") ?? false
            // A jar that is restored gets its responses again from the servers. Nobody may find them until then. A cache
            // that cannot be written keeps no jar: no other jar finds what it has.
            let jar = try context.jar(named: input.jar)
            var warning: String?
            do throws(SessionStoreError) {
                try context.removeResponses(of: jar)
            } catch {
                warning = "the stored responses of the jar are still there: \(error.commandDescription)"
            }
            return JarRemovalReport(
                jar: input.jar,
                isFinal
                    ? try context.database.removeJar(named: input.jar)
                    : try context.database.discardJar(named: input.jar, now: context.now), warning: warning)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == RemovedJarList {
    package static var listRemovedJars: Self {
        Self(.listRemovedJars) { _, context in
            let removed = try context.database.removedJars(
                named: context.grant.jarNames, limit: context.pageLimit.map { Int($0) } ?? .max)
            return RemovedJarList(removed: removed.map(RemovedJarReport.init))
        }
    }
}

extension DatabaseOperation where Document == JarRestorationDocument, Output == RemovedJarReport {
    package static var restoreJar: Self {
        Self(.restoreJar) { input, context in
            // As for a renamed jar.
            if input.document.to != nil { try context.require(.write) }
            return RemovedJarReport(
                try context.database.restoreJar(named: input.jar, to: input.document.to, now: context.now))
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == JarClearReport {
    package static var clearJar: Self {
        Self(.clearJar) { input, context in
            JarClearReport(
                jar: input.jar, removed: try context.database.clearJar(named: input.jar, now: context.now))
        }
    }
}

extension DatabaseOperation where Document == PruneDocument, Output == PruneReport {
    package static var pruneJar: Self {
        Self(.pruneJar) { input, context in try prune(input.jar, input.document, context) }
    }

    /// Removes expired data of all jars.
    package static var prune: Self {
        Self(.prune) { input, context in try prune(nil, input.document, context) }
    }

    private static func prune(
        _ jar: String?, _ document: PruneDocument, _ context: OperationContext
    ) throws -> PruneReport {
        // The journal and the file belong to all jars.
        if document.journalEntries != nil || document.vacuum != nil { try context.require(.write) }
        let vacuum = document.vacuum.map { $0 ? Pruning.Vacuum.always : .never }
        return PruneReport(
            try context.database.prune(
                jar: jar, journalLimit: document.journalEntries?.value, emptiesBin: document.emptyBin ?? false,
                vacuum: vacuum ?? (context.grant.coversAll ? .whenWorthwhile : .never), now: context.now))
    }
}

extension DatabaseOperation where Document == JarTargetDocument, Output == JarRenameReport {
    package static var renameJar: Self {
        Self(.renameJar) { input, context in
            try context.database.renameJar(named: input.jar, to: input.document.to)
            return JarRenameReport(from: input.jar, to: input.document.to)
        }
    }
}

extension DatabaseOperation where Document == JarTargetDocument, Output == JarCopyReport {
    package static var copyJar: Self {
        Self(.copyJar) { input, context in
            let copy = try context.database.copyJar(named: input.jar, to: input.document.to, now: context.now)
            context.isCreation = true
            return JarCopyReport(from: input.jar, to: input.document.to, copy)
        }
    }
}

extension DatabaseOperation where Document == JarTargetDocument, Output == JarMergeReport {
    package static var mergeJar: Self {
        Self(.mergeJar) { input, context in
            JarMergeReport(
                from: input.jar, into: input.document.to,
                try context.database.mergeJar(named: input.jar, into: input.document.to, now: context.now))
        }
    }
}
