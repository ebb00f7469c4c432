import ArgumentParser
import CookieModel
import Dispatch
import Platform
import SessionOperations
import SessionStore
import Synchronization

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
            database: database,
            login: try login.resolved(for: "exec NAME -- COMMAND", in: database, clock: console.clock),
            skew: freshness.skew,
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
        var ends: [Int32] = [-1, -1]
        // A pipe holds more than any header field, so this does not wait for a reader.
        guard token.utf8.count < 1 << 16 - 1 else {
            throw CommandFailure(.valueDamaged, "the token is too long for --stdin; use --file")
        }
        guard pipe(&ends) == 0 else {
            throw CommandFailure(.outputFailed, "making a pipe failed: \(SystemError.last.message)")
        }
        defer { ends.forEach { close($0) } }
        try Console.write(Array("\(token)\n".utf8), to: ends[1])
        dup2(ends[0], STDIN_FILENO)
    }
}

/// Where a command gets one kind of token of one login.
struct TokenSource {
    let database: DatabaseOptions
    let login: String
    let skew: Int
    let refresh: RefreshOptions
    let wantsIDToken: Bool
    let clock: CommandClock

    /// A valid token, renewed if it is due, and when it ends.
    ///
    /// - Parameter console: Where a note goes if the token is the last one of its login.
    func token(_ console: Console? = nil) throws -> (text: String, end: Timestamp?) {
        let tokens = try TokenPlace(database, refresh: refresh, clock: clock)
        func end(_ expires: String?) -> Timestamp? { expires.flatMap { Timestamp(rfc3339: $0.utf8) } }
        if wantsIDToken {
            let report = try tokens.idToken(of: login, skew: skew)
            return (report.idToken, end(report.expires))
        }
        let report = try tokens.accessToken(of: login, AccessTokenDocument(skew: skew))
        if let console { report.noteIfLast(of: login, console) }
        return (report.accessToken, end(report.expires))
    }
}

/// A file with a valid token for as long as a command runs. Only its owner can read it, and it is in memory if the
/// system has a folder for that.
final class FreshTokenFile: Sendable {
    /// How long a token is believed without another look, in seconds: others renew it too, and clocks jump.
    private static let longestPause: Int64 = 60

    let path: String
    private let folder: PrivateFolder
    private let source: TokenSource
    private let console: Console
    /// Also guards the file. Not held while a token is renewed: a slow server must not keep the file from being
    /// removed.
    private let isClosed = Mutex(false)
    /// Wakes the thread that renews the token.
    private let closing = DispatchSemaphore(value: 0)

    /// Writes the file and keeps it fresh from now on.
    init(_ first: (text: String, end: Timestamp?), from source: TokenSource, console: Console) throws {
        folder = try PrivateFolder(.token)
        path = "\(folder.path)/token"
        (self.source, self.console) = (source, console)
        try write(first.text)
        beginThread { [self] in keepFresh(first) }
    }

    /// Removes the file and ends the renewals. One whose request was sent is waited for, no longer than its server has time:
    /// only its answer has the new refresh token.
    func close() throws {
        isClosed.withLock { isClosed in
            isClosed = true
            folder.remove()
        }
        closing.signal()
        let limit = try source.refresh.seconds()
        SignalDeferral.awaitExchanges(upTo: Double(limit)) {
            console.note(
                "the command has ended; crumb waits up to \(limit) seconds for the response to the refresh "
                    + "of '\(source.login)', to store the new tokens")
        }
    }

    private func keepFresh(_ first: (text: String, end: Timestamp?)) {
        var (text, end) = first
        var lastComplaint: String?
        while sleep(until: end) {
            do {
                let next = try source.token()
                if next.text != text { try write(next.text) }
                (text, end, lastComplaint) = (next.text, next.end, nil)
            } catch {
                let sentence = CommandFailure(of: error)?.message ?? "\(error)"
                // Once, and only while there is a file.
                if sentence != lastComplaint, isClosed.withLock({ !$0 }) {
                    console.error("\(sentence). The file still has the last token")
                }
                lastComplaint = sentence
            }
        }
    }

    /// Waits until the token is due for another look.
    ///
    /// - Returns: `false` if the file was closed.
    private func sleep(until end: Timestamp?) -> Bool {
        closing.wait(wallTimeout: .now() + .seconds(Int(pause(end)))) == .timedOut
    }

    /// How many seconds to wait before the next look.
    private func pause(_ end: Timestamp?) -> Int64 {
        guard let end else { return FreshTokenFile.longestPause }
        let now = source.clock()
        let left = ExecCredential.renewal(end: end, skew: source.skew, now: now).seconds - now.seconds
        return min(max(1, left), FreshTokenFile.longestPause)
    }

    private func write(_ token: String) throws {
        let failure = isClosed.withLock { $0 ? 0 : PrivateFile.replace(Array(token.utf8), at: path) }
        guard failure == 0 else { throw CommandFailure.notWritten(path, failure) }
    }
}
