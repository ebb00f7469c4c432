import ArgumentParser
import SessionOperations
import SessionStore

struct ClusterRotateKeyCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Seal every value under a new key, while services go on using the database.",
        discussion: """
            First, 'crumb cluster rotate-key --new-key' adds a key to the key file. Nothing uses it yet: copy the file to \
            every machine. Then 'crumb cluster rotate-key' seals every value under it; a service that does not have it \
            answers key-changed from then on. The former key stays in the key file: backups from before need it. \
            'crumb key forget' on each machine removes it. If the command is interrupted, everything stays readable, \
            and the next one completes the rotation. With CRUMB_KEY, append the new key to the old one everywhere, with \
            a comma between.
            """)

    @OptionGroup var server: ServerOption
    @OptionGroup var output: OutputOptions

    @Flag(help: "Only add a new key to the key file, for all machines to have before it is used.")
    var newKey = false

    func execute(_ console: Console) throws {
        let store = try server.open(now: console.now)
        if newKey { return try addKey(for: store, console) }
        var reported = 0
        let rotation = try store.rotateKey(batchSize: 200, now: console.now) { count in
            guard !output.quiet, count - reported >= 10_000 else { return }
            reported = count
            console.note("\(counted(count, "value")) resealed")
        }
        try console.report(
            ClusterRotationReport(
                resealed: rotation.resealed, unreadable: rotation.unreadable.map(SealedValueReport.init)),
            line: "rotated the key: \(counted(rotation.resealed, "value")) resealed")
        rotation.reportUnreadable(console)
        if !output.quiet, rotation.unreadable.isEmpty {
            console.note(
                "only backups need the former key now; 'crumb key forget' removes it from the key file of a machine")
        }
        if !rotation.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }

    private func addKey(for store: SessionDatabase, _ console: Console) throws {
        let location = KeyLocation()
        guard !location.isInEnvironment else {
            throw CommandFailure(
                .keyRotationRefused,
                "CRUMB_KEY: append the new key to the old one, with a comma between, for every service")
        }
        let file = try location.file()
        let isThere = try store.keyUse() != .newest
        if !isThere { try file.addKey(now: console.now) }
        try console.report(
            NewKeyReport(keyFile: file.path, added: !isThere),
            line: "\(file.path) \(isThere ? "has a new key already" : "has a new key"); "
                + "copy it to every machine, then run 'crumb cluster rotate-key'")
    }
}

private struct ClusterRotationReport: Encodable {
    let resealed: Int
    let unreadable: [SealedValueReport]
}

private struct NewKeyReport: Encodable {
    let keyFile: String
    let added: Bool
}
