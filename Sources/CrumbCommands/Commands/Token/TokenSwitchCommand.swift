import ArgumentParser
import SessionOperations

struct TokenSwitchCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch",
        abstract: "Choose the login that commands use unless they name one.",
        discussion: """
            Without a name, prints the login that is in use. CRUMB_LOGIN takes precedence, for one shell or one command.

                crumb token switch work
                crumb token get
            """,
        aliases: ["use"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Choose none.")
    var none = false

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String?

    func validate() throws {
        guard !none || name == nil else { throw ValidationError("Use either --none or a name.") }
    }

    func execute(_ console: Console) throws {
        if none {
            try ChosenLogin.choose(nil)
            try console.report(Report(name: nil), note: "no login chosen")
            return
        }
        guard let name else {
            let name = try LoginArgument.resolve(nil, in: database, clock: console.clock)
            try console.report(Report(name: name), line: name)
            return
        }
        // A name that was mistyped would fail much later, elsewhere.
        let status = try database.place(now: console.now).tokenStatus(of: name)
        try ChosenLogin.choose(name)
        try console.report(Report(name: name), note: "switched to \(status.token.text)")
    }

    private struct Report: Encodable {
        /// The login in use; missing if none is chosen.
        let name: String?
    }
}
