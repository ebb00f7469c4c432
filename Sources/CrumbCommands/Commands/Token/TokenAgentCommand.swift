import ArgumentParser
import OAuth2
import SessionClient
import SessionOperations

struct TokenAgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Lock and unlock a running service.",
        discussion: """
            A locked service gives out no tokens, cookies for requests or other secrets and changes nothing until it is \
            unlocked with the same passphrase. It still lists the names of cookies and logins, and renews tokens ahead of \
            time. Name the service with --service or CRUMB_SERVICE. The lock ends with the service.
            """,
        subcommands: [TokenAgentLockCommand.self, TokenAgentUnlockCommand.self, TokenAgentStatusCommand.self])
}

struct TokenAgentLockCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock a running service with a passphrase.",
        discussion: """
            Asks for the passphrase on the terminal, twice, unless you name a file. Exit status 63 if the service is \
            already locked.
            """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var passphrase: AgentPassphraseOptions

    func execute(_ console: Console) throws {
        let report = try passphrase.report(of: service, isNew: true) { .lockAgent($0) }
        try console.report(report, note: "the service is locked")
    }
}

struct TokenAgentUnlockCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock a running service.",
        discussion: """
            Asks for the passphrase on the terminal unless you name a file. Exit status 56 if the passphrase is wrong.
            """)

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions
    @OptionGroup var passphrase: AgentPassphraseOptions

    func execute(_ console: Console) throws {
        let report = try passphrase.report(of: service, isNew: false) { .unlockAgent($0) }
        try console.report(report, note: "the service is unlocked")
    }
}

struct TokenAgentStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether a running service is locked.", aliases: ["show"])

    @OptionGroup var output: OutputOptions
    @OptionGroup var service: ServiceOptions

    func execute(_ console: Console) throws {
        let report: AgentReport = try service.required().answer(to: .agent())
        try console.report(report, line: report.isLocked ? "locked" : "unlocked")
    }
}

/// Where the passphrase of a lock comes from; never an argument.
struct AgentPassphraseOptions: ParsableArguments {
    @Option(help: "The file with the passphrase in its first line; /dev/fd/N reads a descriptor.")
    var passphraseFile: String?

    /// The answer of the service to a request that has the passphrase.
    ///
    /// - Parameter isNew: Whether a person types it twice.
    func report(
        of service: ServiceOptions, isNew: Bool, _ request: (AgentPassphraseDocument) -> SessionRequest<AgentReport>
    ) throws -> AgentReport {
        let connection = try service.required()
        let passphrase = try Terminal.passphrase(in: passphraseFile, by: "--passphrase-file", isNew: isNew)
        guard let text = passphrase.exposedText else {
            throw CommandFailure(.inputUnrecognized, "the passphrase is not UTF-8 text")
        }
        return try connection.answer(to: request(AgentPassphraseDocument(passphrase: text)))
    }
}
