import OAuth2
import Platform
import SessionOperations
import SessionStore

/// The default places of files: the XDG folders on Linux, Application Support on macOS.
struct Locations {
    /// The database file.
    func database() throws -> String {
        try namedDatabase ?? defaultDatabase()
    }

    /// The database that the environment names.
    var namedDatabase: String? { value("CRUMB_DATABASE") }

    /// The default database file.
    func defaultDatabase() throws -> String {
        try folder(.data) + "/crumb.sqlite"
    }

    /// Whether the key file is the default one.
    var usesDefaultKeyFile: Bool { value("CRUMB_KEY_FILE") == nil }

    /// The key file.
    func keyFile() throws -> String {
        try value("CRUMB_KEY_FILE") ?? defaultKeyFile()
    }

    /// The key file unless `CRUMB_KEY_FILE` names another.
    func defaultKeyFile() throws -> String {
        try folder(.configuration) + "/key"
    }

    /// The public suffix list that replaces the built-in one.
    var publicSuffixList: String? { value("CRUMB_PUBLIC_SUFFIX_LIST") }

    /// The jar that a command uses.
    ///
    /// - Parameter given: the one that it names; `nil` for none.
    func jar(_ given: String?) -> String { given ?? value("CRUMB_JAR") ?? "default" }

    /// The login that commands use unless they name one.
    var login: String? { value("CRUMB_LOGIN") }

    /// The file with the name of the login that was chosen.
    func loginFile() throws -> String {
        try folder(.configuration) + "/login"
    }

    /// The user's folder.
    func home() throws -> String {
        guard let home = value("HOME") else {
            throw CommandFailure(.fileNotWritten, "HOME is not set; name the folder")
        }
        return home
    }

    /// The running service that is asked instead of a file.
    var service: String? { value("CRUMB_SERVICE") }

    /// The file with the service's access token.
    var serviceTokenFile: String? { value("CRUMB_SERVICE_TOKEN_FILE") }

    /// The file with certificates that are trusted for the service.
    var serviceCA: String? { value("CRUMB_SERVICE_CA") }

    /// How many seconds a server has to answer a refresh.
    ///
    /// - Throws: An error if the variable is no such number.
    var refreshTimeout: Int? {
        get throws {
            let name = "CRUMB_REFRESH_TIMEOUT_SECONDS"
            guard let text = value(name) else { return nil }
            guard let seconds = Int(text), RefreshOptions.timeouts.contains(seconds) else {
                throw CommandFailure(.tokenSettingsInvalid, "\(name): '\(text)' is not a number from 1 to 3600")
            }
            return seconds
        }
    }

    /// The file with the passphrase of the key file.
    func passphraseFile() -> String? {
        value("CRUMB_PASSPHRASE_FILE")
    }

    private func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private func folder(_ folder: UserFolder) throws -> String {
        guard let path = folder.path(value) else {
            throw CommandFailure(
                .databaseUnavailable,
                "HOME is not set to an absolute path; name the files with --database and CRUMB_KEY_FILE")
        }
        return "\(path)/crumb"
    }
}

/// Where the command's key comes from: `CRUMB_KEY`, else the key file, with the passphrase that locks it.
struct KeyLocation {
    let locations = Locations()

    /// The keys in `CRUMB_KEY`.
    static let environmentKeys = Result {
        let variable = SecretVariable.databaseKey
        return try variable.secret.map { try KeySource.base64($0, name: variable.rawValue) }
    }

    /// Whether the key comes from the environment.
    var isInEnvironment: Bool {
        if case .success(nil) = KeyLocation.environmentKeys { false } else { true }
    }

    /// The key file, even if ``isInEnvironment`` says that it is not used.
    ///
    /// - Parameter path: Another file.
    func file(_ path: String? = nil) throws -> KeyFile {
        KeyFile(try path ?? locations.keyFile(), passphrase: passphrase())
    }

    /// Whether a passphrase locks the key.
    func isLocked() throws -> Bool {
        isInEnvironment ? false : try file().state()?.isLocked ?? false
    }

    /// Whether the key, or the passphrase that locks it, can be read only once: it is typed, or comes out of a pipe.
    var isReadOnce: Bool {
        guard !isInEnvironment, let path = try? locations.keyFile() else { return false }
        if FileSystem.isSpecial(path) { return true }
        guard (try? isLocked()) == true else { return false }
        return locations.passphraseFile().map(FileSystem.isSpecial) ?? true
    }

    /// The source to open a database with.
    func source() throws -> KeySource {
        if let source = try KeyLocation.environmentKeys.get() { return source }
        return .file(try file())
    }

    /// The name to show to people: never a key.
    func name() throws -> String {
        isInEnvironment ? "CRUMB_KEY" : try locations.keyFile()
    }

    private func passphrase() -> PassphraseSource {
        locations.passphraseFile().map { .file($0) } ?? Terminal.passphraseSource
    }
}

/// A variable of the environment with a secret for crumb only.
///
/// The first access removes it from the environment, so that no child inherits it, and overwrites it in memory, where
/// other processes of the same user could read it for as long as crumb runs.
enum SecretVariable: String, CaseIterable {
    /// The key of the database.
    case databaseKey = "CRUMB_KEY"
    /// A client's secret at an authorization server.
    case clientSecret = "CRUMB_CLIENT_SECRET"
    /// The password that a browser encrypts its cookies with.
    case browserPassword = "CRUMB_BROWSER_PASSWORD"
    /// The value of a header field that is kept with a jar.
    case fieldValue = "CRUMB_FIELD_VALUE"

    private static let secrets: [SecretVariable: Secret] = allCases.reduce(into: ProgramReplacement.secrets) {
        if let secret = Secret(takingEnvironment: $1.rawValue) { $0[$1] = secret }
    }

    /// Its value; `nil` if it is not set, or empty.
    var secret: Secret? { SecretVariable.secrets[self] }

    /// Takes all of them out of the environment: no other program has use for them.
    static func clearEnvironment() {
        _ = secrets
    }
}

/// The terminal that the command runs on, whatever its streams are.
enum Terminal {
    /// Asks on the terminal, if there is one. A key file created on first use is not locked with a passphrase just
    /// because a terminal is available.
    static let passphraseSource = PassphraseSource(name: "the terminal", locksNewFiles: false) {
        () throws(SessionStoreError) in
        readSecret("Passphrase: ")
    }

    /// The passphrase in a file, or one that is typed on the terminal.
    ///
    /// - Parameters:
    ///   - file: The file; `nil` to ask.
    ///   - option: The option that names the file.
    ///   - isNew: Whether a person has to type it twice.
    /// - Throws: `CommandFailure` if there is no passphrase.
    static func passphrase(in file: String?, by option: String, isNew: Bool) throws -> Secret {
        if let file {
            guard let passphrase = try PassphraseSource.file(file).load() else {
                throw CommandFailure(.keyLocked, "\(file): there is no passphrase")
            }
            return passphrase
        }
        guard let passphrase = readSecret(isNew ? "New passphrase: " : "Passphrase: ") else {
            throw CommandFailure(.keyLocked, "there is no \(isNew ? "new " : "")passphrase; name a file with \(option)")
        }
        guard !isNew || readSecret("Again: ") == passphrase else {
            throw CommandFailure(.keyLocked, "the two passphrases differ; nothing was changed")
        }
        return passphrase
    }

    /// Reads a line that is not shown; `nil` if there is no terminal, or if nothing or Control-C was typed.
    static func readSecret(_ prompt: String) -> Secret? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var saved = termios()
        guard tcgetattr(descriptor, &saved) == 0 else { return nil }
        var silent = saved
        // Without ISIG, Control-C is read as a byte and cannot leave the terminal without echo.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &saved)
            try? Console.write(Array("\n".utf8), to: descriptor)
        }
        try? Console.write(Array(prompt.utf8), to: descriptor)
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 4096, read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            if byte == 3 { return nil }
            line.append(byte)
        }
        return line.isEmpty ? nil : Secret(line)
    }
}
