import ArgumentParser
import Foundation
import SessionOperations

struct TokenExecCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command with a valid token in its environment, on its standard input, or in a file.",
        usage: "crumb token exec [<options>] [<name>] -- <command> [<arguments> ...]",
        discussion: """
            crumb token exec work -- sh -c 'curl -H "Authorization: Bearer $ACCESS_TOKEN" https://api.example/me'
            crumb token exec work --variable NPM_TOKEN -- npm install
            crumb token exec work --file TOKEN_FILE -- ./runs-for-hours

            The token is in the variable ACCESS_TOKEN, or in those of --variable. --stdin writes it to the command's \
            standard input. Neither changes while the command runs. --file NAME puts it into a private file, whose path is \
            in the variable NAME, and replaces that file whenever the token is renewed. The file is removed when the \
            command ends. If a renewal is in progress then, Crumb waits for the response for up to --refresh-timeout, to \
            store the new tokens.

            The exit status is the command's own: 126 if it cannot be run, 127 if it is not found, and 128 and the signal \
            that ended it. Signals reach the command.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var freshness: FreshnessOptions
    @OptionGroup var login: LoginArgument

    @Option(
        name: [.customShort("e"), .customLong("variable")],
        help: "A variable of the command's environment that gets the token. Repeatable. Default: ACCESS_TOKEN.")
    var variables: [String] = []

    @Flag(help: "Write the token to the command's standard input.")
    var stdin = false

    @Option(help: "Keep a valid token in a file, whose path this variable gets.")
    var file: String?

    @Flag(name: .customLong("id-token"), help: "Give the ID token instead of the access token.")
    var wantsIDToken = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("Name the command to run: `crumb token exec NAME -- COMMAND`.")
        }
        for name in variables + [file].compactMap(\.self) where !TokenExecCommand.isVariable(name) {
            throw ValidationError("'\(name)': use letters, digits and underscores for the name of a variable.")
        }
    }

    private static func isVariable(_ name: String) -> Bool {
        name.first.map { !$0.isNumber } ?? false
            && name.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// With a file, tokens are renewed while the command runs.
    var needsNetwork: Bool { file != nil || database.mayNotBeginAnew }

    func execute(_ console: Console) throws {
        let external = ExternalCommand(words: command)
        let program = try external.path(console)
        let source = TokenSource(
            database: database, login: try login.resolved(in: database, clock: console.clock), skew: freshness.skew,
            refresh: freshness.refresh, wantsIDToken: wantsIDToken, clock: console.clock)
        let first = try source.token(console)
        for name in variables.isEmpty && !stdin && file == nil ? ["ACCESS_TOKEN"] : variables {
            setenv(name, first.text, 1)
        }
        if stdin { try giveInput(first.text) }
        guard let file else {
            // The command takes crumb's place: exit status, signals and terminal are its own.
            signal(SIGPIPE, SIG_DFL)
            InheritedDescriptors.closeOthersOnExecution()
            let words = command.map { strdup($0) } + [nil]
            execv(program, words)
            throw external.notRun(program, errno, console)
        }
        let fresh = try FreshTokenFile(first, from: source, console: console)
        setenv(file, fresh.path, 1)
        let status: Int32
        do {
            status = try external.run(program, console)
        } catch {
            try fresh.close()
            throw error
        }
        try fresh.close()
        guard status == 0 else { throw ExitCode(status) }
    }

    /// Makes standard input a pipe that holds the token and ends there.
    private func giveInput(_ token: String) throws {
        let pipe = Pipe()
        // A pipe holds more than any header field, so this does not wait for a reader.
        guard token.utf8.count < 1 << 16 - 1 else {
            throw CommandFailure(.valueDamaged, "the token is too long for --stdin; use --file")
        }
        try Console.write(Array("\(token)\n".utf8), to: pipe.fileHandleForWriting.fileDescriptor)
        dup2(pipe.fileHandleForReading.fileDescriptor, STDIN_FILENO)
        try pipe.fileHandleForWriting.close()
        try pipe.fileHandleForReading.close()
    }
}
