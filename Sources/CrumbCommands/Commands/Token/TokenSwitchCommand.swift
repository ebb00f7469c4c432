import ArgumentParser
import CookieModel
import Platform
import SessionOperations
import SessionStore

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
            try console.report([String: String](), note: "no login chosen")
            return
        }
        guard let name else {
            guard let name = try LoginArgument.found(nil, in: database, clock: console.clock) else {
                return try console.report(
                    [String: String](), note: "no login chosen; 'crumb token list' lists the logins")
            }
            return try console.report(["name": name], line: name)
        }
        // A name that was mistyped would fail much later, elsewhere.
        let status = try database.place(now: console.now).tokenStatus(of: name)
        try ChosenLogin.choose(name)
        try console.report(["name": name], note: "switched to \(status.token.text)")
    }
}

/// The login that a command works on: the one that is named, else the one that was chosen.
struct LoginArgument: ParsableArguments {
    @Argument(
        help: "The name of the login. Default: CRUMB_LOGIN, else the one of 'crumb token switch', else the only one.",
        completion: NameCompletion.logins)
    var name: String?

    /// The name of the login.
    ///
    /// - Parameter usage: The command with a name, after `crumb token`, for the error.
    /// - Throws: `ValidationError` if none is named and several or none are stored.
    func resolved(for usage: String, in database: DatabaseOptions, clock: @escaping CommandClock) throws -> String {
        try LoginArgument.resolve(name, for: usage, in: database, clock: clock)
    }

    static func resolve(
        _ name: String?, for usage: String, in database: DatabaseOptions, clock: @escaping CommandClock
    ) throws -> String {
        guard let name = try found(name, in: database, clock: clock) else {
            throw ValidationError(
                "Name the login: `crumb token \(usage)`. `crumb token list` lists them. "
                    + "`crumb token switch NAME` chooses one.")
        }
        return name
    }

    /// The name of the login; `nil` if none is named or chosen and several or none are stored.
    fileprivate static func found(
        _ name: String?, in database: DatabaseOptions, clock: @escaping CommandClock
    ) throws -> String? {
        if let name = try name ?? Locations().login ?? ChosenLogin.name() { return name }
        let logins = try database.place(now: clock()).tokens().tokens
        return logins.count == 1 ? logins.first?.name : nil
    }
}

/// The login that `crumb token switch` chose. Its name is in a file of its own, since it is for services too.
enum ChosenLogin {
    /// The longest file that is read: a name has a hundred characters at most.
    private static let limit = 1000

    /// The name; `nil` if none was chosen.
    static func name() throws -> String? {
        let path = try Locations().loginFile()
        guard access(path, F_OK) == 0 else { return nil }
        let text = String(decoding: try InputFile(path).contents(limit: limit), as: UTF8.self)
        let name = String(text.trimmingWhitespace)
        return name.isEmpty ? nil : name
    }

    /// Chooses a login, or none.
    static func choose(_ name: String?) throws {
        let path = try Locations().loginFile()
        guard let name else {
            guard unlink(path) == 0 || errno == ENOENT else { throw notWritten(path, errno) }
            return
        }
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.replace(Array("\(name)\n".utf8), at: path)
        guard failure == 0 else { throw notWritten(path, failure) }
    }

    private static func notWritten(_ path: String, _ failure: Int32) -> CommandFailure {
        CommandFailure(
            .fileNotWritten, "\(path): the file cannot be written: \(SystemError(failure).message(creating: path))")
    }
}
