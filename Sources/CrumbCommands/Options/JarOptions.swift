import ArgumentParser
import CookieModel
import HTTPTypes
import PackageStore
import Platform
import SessionClient
import SessionOperations
import SessionStore
import Synchronization

/// Which database and which jar a command works on, and by which public suffix list.
struct JarOptions: ParsableArguments {
    @OptionGroup var databaseOptions: DatabaseOptions
    @OptionGroup var suffixListOptions: SuffixListOptions

    @Option(
        name: [.customShort("j"), .customLong("jar")], help: JarOptions.nameHelp, completion: NameCompletion.jars)
    var givenJar: String?

    static let nameHelp = ArgumentHelp.value("name", "The jar to use. Default: CRUMB_JAR, else 'default'.")

    /// The name of the jar.
    var jar: String { Locations().jar(givenJar) }

    /// Returns the place of the operations on the jar: the file or the service.
    ///
    /// - Parameter notesAccess: whether reading a cookie counts as using it.
    func place(now: Timestamp, notesAccess: Bool = true) throws -> OperationPlace {
        let service = try service()
        return OperationPlace(
            databaseOptions, service, policy: try service == nil ? policy() : CookiePolicy(), now: now,
            notesAccess: notesAccess)
    }

    /// The service; `nil` for a database file.
    private func service() throws -> ServiceConnection? {
        guard let service = try databaseOptions.service() else { return nil }
        guard suffixListOptions.publicSuffixList == nil else {
            throw ValidationError("A service uses its own public suffix list: remove --public-suffix-list.")
        }
        return service
    }

    /// Returns the jar, in the file or of the service.
    ///
    /// - Parameters:
    ///   - browserOptions: the options of an import for a browser's database.
    ///   - console: the console that reports a jar which the command creates.
    func backend(
        now: Timestamp, browserOptions: BrowserDatabaseOptions? = nil, console: Console? = nil
    ) throws -> any JarBackend {
        guard let service = try service() else {
            return LocalJar(self, browserOptions: browserOptions, now: now, console: console)
        }
        return try RemoteJar(named: jar, of: service, now: now, console: console)
    }

    /// The rules that apply. Reads the public suffix list if one was given, so call it once a command.
    func policy() throws -> CookiePolicy {
        var policy = CookiePolicy()
        policy.publicSuffixes = try suffixListOptions.list()
        return policy
    }

    /// The jar for cookies, created with the first one that is stored. A jar that is created is named, so that a
    /// misspelled one does not go unnoticed.
    ///
    /// - Parameters:
    ///   - isDryRun: whether nothing is stored.
    ///   - served: the database on a server, for commands that work there too.
    func target(
        now: Timestamp, isDryRun: Bool = false, in served: SessionDatabase? = nil, _ console: Console?
    ) throws -> LazyJar {
        try SessionStoreError.check(jar, of: "jar")
        let (name, policy) = (jar, try policy())
        let database = try served ?? databaseOptions.openIfPresent(now: now)
        let existing = try database?.existingJar(named: name, policy: policy)
        guard !isDryRun else {
            return LazyJar(named: name, existing: existing, policy: policy, creation: nil)
        }
        let open: () throws(SessionStoreError) -> SessionDatabase
        if let database { open = { database } } else { open = try databaseOptions.opener(now: now) }
        let isNew = existing == nil
        let similar = isNew ? database.map { CommandFailure.jarNames(similarTo: name, in: $0, now: now) } ?? [] : []
        return LazyJar(named: name, existing: existing, policy: policy, similarJars: similar) {
            () throws(SessionStoreError) in
            let jar = try open().jar(named: name, policy: policy, now: now)
            console?.noteCreation(ofJar: name, similarTo: similar)
            return jar
        }
    }

    /// Runs `run` with the jar, which is created if it does not exist. If `run` fails before it has begun, the jar of a file
    /// is removed again, so that a misspelled name leaves nothing. The jar of a server stays, and a note names it.
    ///
    /// - Parameters:
    ///   - served: The database on a server, for commands that work there too.
    ///   - run: Calls its second parameter once the jar is of use.
    func withJar(
        in served: SessionDatabase? = nil, _ console: Console,
        run: (_ jar: CookieJar, _ hasStarted: @escaping @Sendable () -> Void) throws -> Void
    ) throws {
        let target = try target(now: console.now, in: served, nil)
        let (isNew, similar) = (target.jar == nil, target.similarJars)
        let kept = try target.writable()
        let started = Atomic(false)
        do {
            try run(kept) {
                started.store(true, ordering: .relaxed)
                if isNew { console.noteCreation(ofJar: kept.name, similarTo: similar) }
            }
        } catch {
            if isNew, !started.load(ordering: .relaxed) {
                // Another process may have begun to use it.
                PackageStore.removeIfUnused(kept)
                if served != nil { console.noteCreation(ofJar: kept.name, similarTo: similar) }
            }
            throw error
        }
    }

    /// The jar to read from; `nil` if nothing was ever stored in the default one.
    ///
    /// - Parameters:
    ///   - notesAccess: whether reading a cookie counts as using it.
    ///   - served: the database on a server, for commands that work there too.
    func openExistingJar(
        now: Timestamp, notesAccess: Bool = true, in served: SessionDatabase? = nil
    ) throws -> CookieJar? {
        let policy = try policy()
        guard let database = try served ?? databaseOptions.openExisting(now: now, notesAccess: notesAccess) else {
            if jar != "default" { throw CommandFailure.noDatabase(at: try databaseOptions.path()) }
            return nil
        }
        if let found = try database.existingJar(named: jar, policy: policy) { return found }
        if jar == "default" { return nil }
        throw CommandFailure.noJar(named: jar, in: database, now: now)
    }
}

/// The page or user that requests the URL, which same-site rules and partitions depend on.
struct ContextOptions: ParsableArguments {
    @Option(help: "The method of the request.")
    var method = "GET"

    @Option(help: "The page in the address bar. Default: the URL itself.")
    var topLevel: String?

    @Option(help: "The origin that starts the request, or 'user' for a person. Default: the page in the address bar.")
    var initiator: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the request navigates the tab. Default: yes, unless --top-level is given.")
    var navigation: Bool?

    /// Refuses a value of `--method` that is none.
    static func check(method: String?) throws {
        guard method.map({ HTTPRequest.Method(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--method: this is not an HTTP method. Write one such as POST.")
        }
    }

    func context(for url: RequestURL, interface: RequestContext.Interface = .http) throws -> RequestContext {
        try ContextOptions.check(method: method)
        var context = RequestContext(url: url)
        context.method = method.uppercased()
        context.topLevel = try topLevel.map(requestURL)
        if let initiator {
            context.initiator = initiator == "user" ? .user : .origin(try requestURL(initiator))
        }
        context.isTopLevelNavigation = navigation ?? (topLevel == nil)
        return interface == .script ? context.scriptAccess : context
    }
}

/// Which running service is asked in the place of a database file.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: .value(
            "url",
            "Use a running service instead of a database file: unix:/PATH, https://HOST[/PREFIX] or http://127.0.0.1:PORT. "
                + "Default: CRUMB_SERVICE."))
    var service: String?

    @Option(
        help: .file(
            "The file with the access token for the service, readable only by you. Default: CRUMB_SERVICE_TOKEN_FILE."))
    var serviceTokenFile: String?

    @Option(
        help: .file(
            "A file with certificates in PEM that are trusted for the service, besides the system's. Default: "
                + "CRUMB_SERVICE_CA."))
    var serviceCA: String?

    /// The address of the service; `nil` if none is given.
    var address: String? { service ?? Locations().service }

    /// The service; `nil` if none is given.
    func connection() throws -> ServiceConnection? {
        guard let text = address else { return nil }
        let address = try address(text)
        // Before the files are read: one of them may be a pipe.
        let network = try Network.required()
        let locations = Locations()
        let file = serviceTokenFile ?? locations.serviceTokenFile
        let authorities = address.isEncrypted ? serviceCA ?? locations.serviceCA : nil
        let token = try file.map { try ServiceTokenFile($0) }
        let transport = try network.service(address, try authorities.map { try ServiceConnection.certificates(in: $0) })
        return ServiceConnection(address: address, token: token, over: transport)
    }

    /// The service, for commands that need one.
    func required() throws -> ServiceConnection {
        guard let connection = try connection() else {
            throw ValidationError("Name the running service with --service or CRUMB_SERVICE: `--service unix:/PATH`.")
        }
        return connection
    }

    private func address(_ text: String) throws -> SessionAddress {
        do {
            return try SessionAddress(text)
        } catch {
            // Reports a malformed URL as every other option does.
            if !["unix:", "http+unix:", "/", "./", "../"].contains(where: text.hasPrefix) { _ = try requestURL(text) }
            throw error
        }
    }
}

/// How authorization servers are reached, for commands that ask one.
///
/// The options are handed on to the program that speaks HTTP in its environment, which other users cannot read: a URL may
/// have a password in it.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: .value(
            "url",
            "The proxy for requests to servers: http://HOST:PORT or socks5://HOST:PORT; empty for none. Default: "
                + "CRUMB_PROXY, else HTTPS_PROXY, http_proxy or ALL_PROXY, but for the hosts in NO_PROXY."))
    var proxy: String?

    @Option(
        help: .file(
            "The file with USER:PASSWORD for the proxy, readable only by you. Default: CRUMB_PROXY_CREDENTIALS_FILE."))
    var proxyCredentialsFile: String?

    @Option(
        name: .customLong("ca-file"),
        help: .file(
            "A file with certificates in PEM that are trusted besides the system's, or besides those of SSL_CERT_FILE and "
                + "SSL_CERT_DIR. Default: CRUMB_CA_FILE."))
    var authorityFile: String?

    func validate() throws {
        for (name, value) in [
            ("CRUMB_PROXY", proxy), ("CRUMB_PROXY_CREDENTIALS_FILE", proxyCredentialsFile),
            ("CRUMB_CA_FILE", authorityFile),
        ] {
            if let value { setenv(name, value, 1) }
        }
    }
}
