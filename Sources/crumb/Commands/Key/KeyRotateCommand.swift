import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct KeyRotateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Make a new key and seal every value under it.",
        discussion: """
            Other processes can use the database meanwhile. If the rotation is interrupted, everything stays readable, and \
            the next 'crumb key rotate' finishes it. It then removes the old key from the key file: older backups, and \
            other databases under the same key file, need --keep-old-keys. With CRUMB_KEY, append the new key to the old \
            one, with a comma between.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Keep the old keys in the key file for backups and other databases. The next rotation removes them.")
    var keepOldKeys = false

    func execute(_ console: Console) throws {
        guard let opened = try database.openExisting(now: .now) else {
            throw Problem(
                .databaseUnavailable, "\(try database.path()): there is no database, so there is nothing to do")
        }
        let other = keepOldKeys ? nil : try otherDatabase()
        let rotation = try opened.rotateKey(keepingOldKeys: keepOldKeys || other != nil, now: .now)
        if output.json {
            try console.writeJSON(KeyRotationReport(rotation))
        } else {
            let verb = rotation.wasResumed ? "brought a rotation to its end" : "rotated the key"
            try console.writeLine("\(verb): \(rotation.resealed) values sealed anew")
        }
        for location in rotation.unreadable {
            console.complain("\(location): the stored value was changed or moved, and stays as it is")
        }
        if let other { console.note("the old key stays in the key file: \(other) may need it; rotate there too") }
        if try KeyLocation().isLocked() {
            console.note(
                "the key is locked: a running service that was started without CRUMB_PASSPHRASE_FILE answers nothing more; "
                    + "restart it with that")
        }
        if rotation.oldKeysDropped {
            console.note("the old key is gone: backups from before cannot be opened without it")
        }
        if !rotation.isLogEmpty {
            console.note("another process is reading: until it is done, the log holds values under the old key")
        }
        if !rotation.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }

    /// A database of the user's own that lies under the same key file and is not the one at hand: its key must not go.
    private func otherDatabase() throws -> String? {
        let locations = Locations()
        guard locations.usesDefaultKeyFile, let own = try? locations.defaultDatabase(),
            !SessionDatabase.isSameFile(own, try database.path()), SessionDatabase.exists(at: own)
        else { return nil }
        return own
    }
}

private struct KeyRotationReport: Encodable {
    let resealed: Int
    let resumed: Bool
    let oldKeysDropped: Bool
    let logEmpty: Bool
    let unreadable: [SealedValueReport]

    init(_ rotation: KeyRotation) {
        resealed = rotation.resealed
        resumed = rotation.wasResumed
        oldKeysDropped = rotation.oldKeysDropped
        logEmpty = rotation.isLogEmpty
        unreadable = rotation.unreadable.map(SealedValueReport.init)
    }
}
