import ArgumentParser
import CookieModel
import GatewayModel
import OAuth2
import PackageStore
import SessionOperations
import SessionStore

/// The jar of a gateway that a command runs itself: one in a database file, never one of a service.
struct GatewayJarOptions: ParsableArguments {
    @Option(help: DatabaseOptions.help)
    var database: String?

    @OptionGroup var suffixListOptions: SuffixListOptions

    @Option(
        name: [.customShort("j"), .customLong("jar")], help: JarOptions.nameHelp, completion: NameCompletion.jars)
    var jar: String?

    /// Runs a gateway with the jar: see ``JarOptions/withJar(_:run:)``.
    func withJar(
        _ console: Console, run: (_ jar: CookieJar, _ hasStarted: @escaping @Sendable () -> Void) throws -> Void
    ) throws {
        try options().withJar(console, run: run)
    }

    /// The same for the jar of the first of some users; `nil` for the jar of the options.
    func withJar(
        of users: [GatewayUser]?, _ console: Console,
        run: (_ jar: CookieJar, _ hasStarted: @escaping @Sendable () -> Void) throws -> Void
    ) throws {
        guard let users else { return try withJar(console, run: run) }
        guard let first = users.first else {
            throw CommandFailure(
                .gatewayNotStarted, "there is no user; 'crumb gateway user add --users FILE NAME' adds one")
        }
        try run(first.jar) {}
    }

    /// The users in a file. Their jars must exist.
    func users(in file: String, _ console: Console) throws -> [GatewayUser] {
        guard jar == nil else {
            throw ValidationError("--jar: each user of --users has a jar. Leave one of both out.")
        }
        let options = try options()
        let policy = try options.policy()
        guard let database = try options.databaseOptions.openExisting(now: console.now) else {
            throw CommandFailure.noDatabase(at: try options.databaseOptions.path())
        }
        return try GatewayUsersFile.users(in: file).map { user in
            guard let jar = try database.existingJar(named: user.jar, policy: policy) else {
                throw CommandFailure.noJar(named: user.jar, in: database, now: console.now)
            }
            guard let hash = GatewaySecretHash(user.secretHash) else {
                throw CommandFailure(
                    .inputUnrecognized,
                    "\(file): the secret's hash of user '\(user.name)' is damaged; remove the user and add it again")
            }
            return try GatewayUser(name: user.name, jar: jar, secret: hash)
        }
    }

    /// The same options for a database file or a service.
    private func options() throws -> JarOptions {
        let given = [
            ("database", database), ("public-suffix-list", suffixListOptions.publicSuffixList), ("jar", jar),
        ]
        return try JarOptions.parse(given.compactMap { name, value in value.map { "--\(name)=\($0)" } })
    }
}

/// The gateway that runs beside a command. Standard output belongs to the command.
struct CommandGatewayOptions: ParsableArguments {
    @OptionGroup var interception: InterceptionOptions
    @OptionGroup var traffic: TrafficOptions

    @Flag(
        help: """
            Print a line on standard error for each request: its URL, the status, and which cookies went with it. With \
            --json, an object.
            """)
    var log = false

    /// Returns the job of the gateway.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that are decrypted besides those of --intercept and the sites of the jar.
    ///   - passed: Is called after each request.
    func job(
        _ jar: CookieJar, decrypting hosts: [HostPattern], _ console: Console,
        passed: @escaping @Sendable (GatewayPassage) -> Void
    ) throws -> GatewayJob {
        var job = try GatewayJob(jar: jar, console)
        try interception.apply(to: &job)
        try traffic.apply(to: &job)
        job.settings.intercepted = try interception.hosts() + hosts
        job.settings.interceptedSites = try job.sites()
        job.passed = passed
        guard log else { return job }
        job.log = { report in
            if console.isJSON {
                try? console.writeJSON(report, toStandardError: true)
            } else {
                console.note(report.line)
            }
        }
        return job
    }
}

/// Which hosts a gateway decrypts, and which cookies it passes on.
struct InterceptionOptions: ParsableArguments {
    @OptionGroup var passage: PassageOptions

    @Option(
        help: .value(
            "host=file",
            "A certificate for a server that asks for one: a PEM file with the certificate and its private key. "
                + "Repeatable."))
    var clientCertificateFile: [String] = []

    /// Applies all options except --intercept.
    func apply(to job: inout GatewayJob) throws {
        if let cookies = passage.cookies { job.settings.cookies = cookies }
        job.settings.bypassed = try passage.bypass.map { try HostPattern($0, of: "--bypass") }
        job.settings.legacyTLS = try passage.legacyTLS.map { try HostPattern($0, of: "--legacy-tls") }
        for text in clientCertificateFile {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let host = WebHost(parts[0]) else {
                throw ValidationError("--client-certificate-file '\(text)': write HOST=FILE.")
            }
            try SecretFile.check(parts[1])
            do {
                job.clientCertificates[host] = try ClientCertificate(
                    pem: Secret(try InputFile(parts[1]).contents(limit: 1 << 16)))
            } catch let error as OAuth2Error {
                throw CommandFailure(.gatewayNotStarted, "\(parts[1]): \(error.description)")
            }
        }
    }

    /// The hosts of --intercept.
    func hosts() throws -> [HostPattern] {
        try passage.intercept.map { try HostPattern($0, of: "--intercept") }
    }
}

/// Which hosts a gateway decrypts the requests to, and which cookies its clients get.
struct PassageOptions: ParsableArguments {
    @Option(help: .value("host", "A host whose https requests are decrypted; *.HOST for its subdomains. Repeatable."))
    var intercept: [String] = []

    @Option(
        help: """
            Which cookies of a response the program gets: 'mirror' all but HttpOnly ones, 'strip' none, 'pass' all. The jar \
            stores all of them. Default: 'mirror'; 'strip' for 'crumb gateway run --upstream'.
            """)
    var cookies: GatewaySettings.CookieMode?

    @Option(
        help: .value(
            "host", "A host whose https requests pass unread all the same; *.HOST for its subdomains. Repeatable."))
    var bypass: [String] = []

    @Option(
        name: .customLong("legacy-tls"),
        help: .value(
            "host",
            "A host with which TLS 1.0 and 1.1 are spoken, too, which are not secure any more; *.HOST for its "
                + "subdomains. Repeatable."))
    var legacyTLS: [String] = []
}

extension HostPattern {
    /// Reads `HOST` or `*.HOST`.
    ///
    /// - Parameter option: The option that names it, for the error.
    /// - Throws: `ValidationError` for a public suffix such as `com`, and for text that is not a host.
    init(_ text: String, of option: String) throws {
        do {
            self = try HostPattern(text)
        } catch {
            throw ValidationError("\(option) '\(text)': \(error)")
        }
    }

    /// Reads a host whose requests may be decrypted.
    static func interceptedHost(_ text: String, of option: String) throws -> WebHost {
        do {
            return try interceptedHost(text)
        } catch {
            throw ValidationError("\(option) '\(text)': \(error)")
        }
    }
}

/// Whether a gateway records its traffic, and what answers requests besides servers.
struct TrafficOptions: ParsableArguments {
    @Option(
        help: .file(
            "Record requests and responses in this new file, as HAR 1.2, without the values of cookies and credentials."
        ))
    var record: String?

    @Flag(
        help: """
            Record the values of cookies and credentials, too. Anyone who can read the file has the session.
            """)
    var recordSecrets = false

    @Option(
        help: .file(
            "Answer requests from this HAR, where it has a response. Others go to the server. Requests over https need "
                + "--intercept."))
    var replay: String?

    @OptionGroup var caching: CacheOptions

    @Flag(help: "Do not answer from the jar's offline packages.")
    var noPackages = false

    @Flag(
        help: "Connect to no server. A request that neither --replay, --cache nor a package answers gets status 504.")
    var offline = false

    func validate() throws {
        guard !recordSecrets || record != nil else {
            throw ValidationError("--record-secrets: name the file with --record.")
        }
        // Otherwise the jar may have packages.
        guard !offline || replay != nil || caching.cache != nil || !noPackages else {
            throw TrafficOptions.nothingAnswers
        }
    }

    private static let nothingAnswers = ValidationError(
        "--offline: name the recording that answers requests with --replay, use a cache with --cache SIZE, or add a "
            + "package with 'crumb gateway package add'.")

    /// Applies the options.
    func apply(to job: inout GatewayJob) throws {
        job.recordPath = record
        job.recordsSecrets = recordSecrets
        job.replayPath = replay
        job.settings.isOffline = offline
        job.usesPackages = !noPackages
        guard try !offline || replay != nil || caching.cache != nil || job.hasPackages() else {
            throw TrafficOptions.nothingAnswers
        }
        job.cacheSize = caching.cache?.octets
        if let rules = try caching.table()?.rules { job.settings.cachingRules = rules }
    }
}

extension GatewayJob {
    /// Whether packages of the jar may answer requests.
    fileprivate func hasPackages() throws -> Bool {
        guard usesPackages else { return false }
        return try jars.contains { try PackageStore(of: $0)?.packages().contains { $0.removed == nil } ?? false }
    }
}
