import ArgumentParser
import CookieModel
import SessionClient
import SessionOperations

struct StorageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "List and remove the localStorage items of a jar.",
        discussion: """
            'crumb import' reads it from Playwright's storageState, 'crumb export --format storage-state' writes it, and \
            'crumb script' sets it in a page.
            """,
        subcommands: [StorageListCommand.self, StorageRemoveCommand.self], defaultSubcommand: StorageListCommand.self)
}

struct StorageListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the origins with localStorage; the items of one with --origin.",
        aliases: ["show", "ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("url", "List the items of the origin of this URL."))
    var origin: String?

    @Flag(help: "Show the values of the items.")
    var values = false

    func validate() throws {
        if values, origin == nil { throw ValidationError("--values: name the origin with --origin.") }
    }

    func execute(_ console: Console) throws {
        let origin = try origin.map { try requestURL($0).origin }
        let list =
            try jar.place(now: console.now).performIfThere(
                .webStorage(of: jar.jar, origin: origin, showingValues: values), by: .listWebStorage)
            ?? WebStorageList(origins: [])
        let none = "no localStorage in jar '\(jar.jar)'\(origin.map { " for \($0)" } ?? "")"
        guard let items = list.items, output.json || !list.origins.isEmpty else {
            return try console.writeTable(["ORIGIN", "ITEMS", "OCTETS"], of: list.origins, none: none) {
                [$0.origin, String($0.items), String($0.octets)]
            }
        }
        try console.writeTable(values ? ["KEY", "VALUE"] : ["KEY"], of: items, none: none) { item in
            [item.keyOctets.description] + (values ? [item.valueOctets.description] : [])
        }
        try console.reportDamage(items.filter { $0.isDamaged == true }.map(\.unreadableLine))
    }
}

struct StorageRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an item of localStorage, an origin's items, or all of the jar.",
        aliases: ["rm", "delete"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("url", "Remove the items of the origin of this URL."))
    var origin: String?

    @Flag(help: "Remove the items of every origin.")
    var all = false

    @Argument(help: "The key of the one item to remove.")
    var key: String?

    func validate() throws {
        guard all == (origin == nil), !all || key == nil else {
            throw ValidationError("Give --origin, with or without a key, or --all.")
        }
    }

    func execute(_ console: Console) throws {
        let origin = try origin.map { try requestURL($0).origin }
        let removal =
            try jar.place(now: console.now).performIfThere(
                .removeWebStorage(of: jar.jar, origin: origin, key: key), by: .removeWebStorage)
            ?? WebStorageRemoval(jar: jar.jar, removed: 0)
        try console.report(
            removal, note: "removed \(counted(removal.removed, "localStorage item")) from jar '\(jar.jar)'")
    }
}
