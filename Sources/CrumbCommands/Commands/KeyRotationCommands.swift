import ArgumentParser
import CookieModel
import PackageStore
import Platform
import SessionOperations
import SessionStore

struct KeyRotateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Create a new key and seal every value under it.",
        discussion: """
            Other processes can use the database in the meantime. If the rotation is interrupted, everything stays \
            readable, and the next 'crumb key rotate' finishes it. The former key stays in the key file, with the time: \
            earlier backups need it, and other databases under the same key file until they are rotated too. 'crumb key \
            forget' removes it. With CRUMB_KEY, append the new key to the old one, with a comma between.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        try database.requireFile(onServer: "Rotate the key of a database on a server with 'crumb cluster rotate-key'.")
        guard let opened = try database.openExisting(now: console.now) else {
            throw CommandFailure(
                .databaseUnavailable, "\(try database.path()): there is no database, so there is nothing to rotate")
        }
        let rotation = try opened.rotateKey(now: console.now) { () throws(SessionStoreError) in
            try PackageStore.reseal(opened)
            StoredResponses.reseal(opened) { ProcessEnvironment.variables[$0] }
        }
        let former = FormerKeyUse(try opened.formerKeys())
        let report = KeyRotationReport(
            resealed: rotation.resealed, resumed: rotation.began != .newest, formerKeys: former.reports,
            notChecked: former.unchecked, logEmpty: rotation.isLogEmpty,
            unreadable: rotation.unreadable.map(SealedValueReport.init))
        try console.report(report) {
            let verb =
                switch rotation.began {
                case .newest: "rotated the key"
                case .former: "moved to the newest key"
                case .several: "finished a rotation"
                }
            try console.writeLine("\(verb): \(counted(rotation.resealed, "value")) resealed")
        }
        rotation.reportUnreadable(console)
        if rotation.began == .former {
            console.note("the database was sealed under a former key; for a new key, run the command again")
        }
        if !former.keys.isEmpty {
            console.note(
                "earlier backups need a former key, which stays in \(try KeyLocation().name()); "
                    + (former.nextStep ?? "'crumb key forget' removes it"))
        }
        if try KeyLocation().isLocked() {
            console.note(
                "the key is locked: a running service that was started without CRUMB_PASSPHRASE_FILE can no "
                    + "longer open the database; restart it with that variable")
        }
        if !rotation.isLogEmpty {
            console.note(
                "another process is reading: until it has finished, the write-ahead log contains values under "
                    + "the old key")
        }
        if !rotation.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }
}

extension KeyRotation {
    /// Names the values that could not be resealed.
    func reportUnreadable(_ console: Console) {
        for location in unreadable {
            console.error("\(location): the stored value was changed or moved; it stays as it is")
        }
    }
}

private struct KeyRotationReport: Encodable {
    let resealed: Int
    let resumed: Bool
    let formerKeys: [FormerKeyUse.Report]
    let notChecked: [String]
    let logEmpty: Bool
    let unreadable: [SealedValueReport]
}

struct KeyForgetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove former keys. What is still sealed under them can never be read again.",
        discussion: """
            Checks the databases and backups that Crumb knows: those in the default folder, those that it has opened or \
            written elsewhere, the database that CRUMB_DATABASE names, and the files that you name here. Crumb does not know \
            moved files, copies and the disks of other machines. The command keeps each key that a checked file still \
            needs. It keeps every key if a known file cannot be checked, such as a backup on a disk that is not mounted: \
            use --gone for a file that you have deleted, or --force. It asks before it removes the other keys; without a \
            terminal, give --yes. With CRUMB_KEY, it lists the keys and removes none. If CRUMB_DATABASE names a database on \
            a server, the command first seals the offline packages of this machine under the newest key, and names their \
            folder: run it as the user of the service, with the XDG_DATA_HOME of the service.
            """)

    @OptionGroup var output: OutputOptions

    @Option(help: "Only remove keys that were replaced longer ago than this, such as 90d; units are s, m, h and d.")
    var olderThan: String?

    @Flag(name: .shortAndLong, help: "Remove the keys without asking.")
    var yes = false

    @Option(
        help: .file("A known database or backup that no longer exists, or the folder it was in. Repeatable."),
        completion: .file())
    var gone: [String] = []

    @Flag(help: "Also remove keys that a database or a backup still needs or may need: it becomes unreadable for good.")
    var force = false

    @Argument(help: "Further databases and backups to check, or folders with them.", completion: .file())
    var files: [String] = []

    func execute(_ console: Console) throws {
        let named = Locations().namedDatabase
        let isServer = named.map(DatabasePlace.isServer) ?? false
        // Before a passphrase is asked for.
        let servers = isServer ? try Network.required().servers : nil
        let age = try olderThan.map(durationInSeconds)
        for file in files where FileSystem.isAbsent(file) {
            throw CommandFailure(.inputNotFound, "\(file): no such file; name a database, a backup, or a folder")
        }
        let location = KeyLocation()
        let file = location.isInEnvironment ? nil : try location.file()
        let source = try file.map(KeySource.file) ?? location.source()
        var use = FormerKeyUse(
            try source.formerKeys(), files: files + (isServer ? [] : [named].compactMap { $0 }), gone: gone)
        if let named, let servers {
            let store = try servers.open(named, source, console.now)
            // The rotation on one machine does not reach the packages of the others.
            try PackageStore.reseal(store)
            noteFolder(of: store, console)
            use.add(store.path, needs: try store.needed(use.keys))
        }
        let limit = age.map { console.now.advanced(bySeconds: -$0) }
        let chosen = use.keys.filter { key in
            let isOld = limit.map { limit in key.replaced.map { $0 < limit } ?? false } ?? true
            return isOld && (force || use.isUnneeded(key))
        }
        if !output.json {
            for (key, report) in zip(use.keys, use.reports) {
                let isChosen = chosen.contains { $0.position == key.position }
                try console.writeLine(
                    "\(isChosen ? "remove" : "keep  ")  former key \(report.text(isCertain: use.unchecked.isEmpty))")
            }
            for reason in use.unchecked { try console.writeLine("not checked: \(reason)") }
        }
        if file != nil, let list = KnownDatabases().missingList {
            console.note("databases under another HOME that use this key file are not known: \(list) does not exist")
        }
        guard let file else {
            throw CommandFailure(
                .keyRotationRefused,
                "CRUMB_KEY: crumb cannot change the environment; remove the keys there that nothing needs, but not the "
                    + "last one. Databases that were used with another HOME are not known")
        }
        guard !chosen.isEmpty else {
            if !gone.isEmpty { KnownDatabases().remove(gone: gone) }
            if output.json {
                try console.writeJSON(
                    ForgottenKeysReport(removed: 0, formerKeys: use.reports, notChecked: use.unchecked))
            }
            let step = use.nextStep.map { ": \($0)" } ?? ""
            return console.note(
                use.keys.isEmpty
                    ? "\(file.path): there is no former key to remove"
                    : "\(file.path): no former key was removed\(step)")
        }
        guard try yes || isConfirmed(chosen, use, file, console) else { return console.note("no key was removed") }
        try file.forget(chosen)
        if !gone.isEmpty { KnownDatabases().remove(gone: gone) }
        let left = try file.formerKeys()
        if output.json {
            let reports = use.keys.filter { key in !chosen.contains { $0.position == key.position } }
                .map { use.reports[$0.position] }
            return try console.writeJSON(
                ForgottenKeysReport(removed: chosen.count, formerKeys: reports, notChecked: use.unchecked))
        }
        let rest = left.isEmpty ? "" : "; \(counted(left.count, "former key")) left"
        try console.writeLine("\(file.path): removed \(counted(chosen.count, "former key"))\(rest)")
    }

    /// Names the folder whose packages were resealed: another user or environment has another one.
    private func noteFolder(of database: SessionDatabase, _ console: Console) {
        let advice =
            "if a service on this machine has packages, run the command as its user, with its XDG_DATA_HOME or HOME, and "
            + "with the hosts and the database of its URL: without its former key, they are lost"
        guard let folder = PackageStore.root(of: database) else {
            return console.note("note: the folder for packages is not known; \(advice)")
        }
        console.note(
            PackageStore.exists(beside: database)
                ? "resealed the offline packages in \(folder)" : "note: no packages in \(folder); \(advice)")
    }

    private func isConfirmed(
        _ chosen: [KeyFile.FormerKey], _ use: FormerKeyUse, _ file: KeyFile, _ console: Console
    ) throws -> Bool {
        let lost = Set(chosen.flatMap { use.needed[$0.position] })
        let missing = use.absent.isEmpty ? "" : " \(listed(use.absent)) could not be checked."
        let loss = (lost.isEmpty ? "" : " \(listed(lost.sorted())) can never be read again.") + missing
        let question =
            "Remove \(counted(chosen.count, "former key")) from \(file.path)?\(loss) Databases, backups and copies that "
            + "crumb does not know, and that need one, can never be read again."
        guard let answer = console.confirm(question) else {
            throw ValidationError("There is no terminal to ask on: add --yes to remove the keys.")
        }
        return answer
    }
}

private struct ForgottenKeysReport: Encodable {
    let removed: Int
    /// The former keys that stay.
    let formerKeys: [FormerKeyUse.Report]
    /// Databases and backups that could not be checked, with the reason.
    let notChecked: [String]
}

extension FormerKeyUse {
    /// The way to let `key forget` remove the keys that it keeps; `nil` if it keeps none.
    var nextStep: String? {
        if let first = dependents.first {
            return "\(listed(dependents)) still \(dependents.count == 1 ? "needs" : "need") a former key; "
                + "'crumb key rotate --database \(ShellWord(first))' moves this database to the newest key"
        }
        if let first = absent.first {
            return "\(listed(absent)) may need a former key; if a file is deleted, 'crumb key forget --gone "
                + "\(ShellWord(first))' removes that file from the known databases"
        }
        return unchecked.first.map { "not checked: \($0)" }
    }
}

/// Names in a message: the first ones, and how many more there are.
func listed(_ names: [String]) -> String {
    let limit = 5
    let shown = names.prefix(limit).joined(separator: ", ")
    return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
}
