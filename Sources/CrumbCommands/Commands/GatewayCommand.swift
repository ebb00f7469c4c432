public import ArgumentParser
import CookieModel
public import GatewayModel
import Platform
import RequestDecoration
import SessionOperations
import SessionStore
import Synchronization

struct GatewayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a proxy that gives every request of a program the cookies of a jar.",
        subcommands: [
            GatewayRunCommand.self, GatewayAuthorityCommand.self, GatewayStartCommand.self, GatewayListCommand.self,
            GatewayRequestsCommand.self, GatewayStopCommand.self, GatewayUserCommand.self, PackageCommand.self,
        ],
        defaultSubcommand: GatewayRunCommand.self)
}

extension GatewaySettings.CookieMode: ExpressibleByArgument {}
extension GatewaySettings.Client: ExpressibleByArgument {}

struct GatewayRunCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the gateway until it is stopped.",
        discussion: """
            Prints the address once it listens. Set that as the HTTP or SOCKS 5 proxy of a program: \
            'curl --proxy ADDRESS URL'. Requests over http get the cookies and header fields of the jar, and the cookies of \
            their responses are in the jar before the program gets the response. Requests over https pass unread but \
            for those to the hosts of --intercept, which need an authority that the clients trust. Control-C stops it.

            By default, the requests are those of one browser profile or web view, which decides which cookies a request \
            may carry. With --client tool they are those of programs such as curl: the jar alone decides, and requests \
            that a browser has sent pass unchanged.
            """)

    @OptionGroup var jar: GatewayJarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: .value(
            "address",
            "The address to listen on: 127.0.0.1:PORT, [::1]:PORT, or :PORT for 127.0.0.1. Default: a free port. With "
                + "--upstream, one for each, in their order."))
    var listen: [String] = []

    @Option(
        help: .value(
            "url",
            "Serve this site at the address, instead of a proxy, for clients that cannot use one. Repeatable, for further "
                + "origins of the same site."))
    var upstream: [String] = []

    @Option(help: GatewayUsersFile.help)
    var users: String?

    @Option(help: "What sends the requests: 'browser' for one profile or web view, 'tool' for programs.")
    var client = GatewaySettings.Client.browser

    @OptionGroup var interception: InterceptionOptions
    @OptionGroup var traffic: TrafficOptions

    @Option(
        help: .file(
            "Create an authority for this run only, and write its certificate to this file, in PEM. Default: the "
                + "authority of 'crumb gateway ca create'."))
    var temporaryAuthority: String?

    @Option(name: .customLong("authority-file"), help: .hidden)
    var formerTemporaryAuthority: String?

    @Flag(help: "Print a line for each request: its URL, the status, and which cookies went with it.")
    var log = false

    func execute(_ console: Console) throws {
        let network = try Network.required()
        let addresses = try listen.map { try ListeningAddress($0, option: "--listen") }
        let origins = try origins(at: addresses)
        let hosts = try interception.hosts()
        let certificate = try AuthorityFile(
            temporaryAuthority, "--temporary-authority", former: formerTemporaryAuthority)
        guard certificate == nil || !hosts.isEmpty else {
            throw ValidationError("--temporary-authority: name the hosts that the authority is for with --intercept.")
        }
        guard users == nil || origins.isEmpty else {
            throw ValidationError("--users: clients of --upstream cannot sign in. Leave one of both out.")
        }
        let members = try users.map { try jar.users(in: $0, console) }
        try jar.withJar(of: members, console) { kept, hasStarted in
            var job = try job(
                for: kept, members ?? [], origins, at: addresses.first, decrypting: hosts,
                isTemporary: certificate != nil, console)
            let (hasLog, note) = (log, try noteOnUnread(job))
            job.serving = { access in
                if let authority = access.authority { try certificate?.replace(by: authority) }
                hasStarted()
                if let note { console.note("note: \(note)") }
                for listening in access.listening { try console.report(listening, line: listening.line) }
                if !console.isJSON, hasLog, let path = access.listening.first?.eventsPath {
                    console.note("pages send events to \(path)")
                }
                // Until a signal cancels it.
                await GatewayJob.cancellation()
            }
            try job.run(network)
        }
    }

    /// The job of the options.
    private func job(
        for kept: CookieJar, _ users: [GatewayUser], _ origins: [GatewaySettings.Origin],
        at address: ListeningAddress?, decrypting hosts: [HostPattern], isTemporary: Bool, _ console: Console
    ) throws -> GatewayJob {
        var job = try GatewayJob(jar: kept, console)
        job.users = users
        if !isTemporary, !hosts.isEmpty {
            job.authority = try StoredAuthority.forInterception(
                of: hosts, in: kept.database, member: "--intercept",
                alternative: ", or use --temporary-authority FILE for an authority of this run", now: console.now)
        }
        if let address { job.settings = GatewaySettings(host: address.host, port: Int(address.port)) }
        job.settings.origins = origins
        if !origins.isEmpty { job.settings.cookies = .strip }
        job.settings.client = client
        job.settings.intercepted = hosts
        try interception.apply(to: &job)
        try traffic.apply(to: &job)
        job.stopsOnSignals = true
        let hasTold = Atomic(false)
        job.passed = { passage in
            guard case .isOfProgram(let name) = passage.outcome,
                !hasTold.exchange(true, ordering: .relaxed)
            else { return }
            console.note(
                "note: \(name) is no browser, so its requests get no cookies and theirs are not stored: use --client tool"
            )
        }
        if log {
            job.log = { report in try? console.report(report, line: report.line) }
            job.pageEvents = { event in try? console.report(["pageEvent": event], line: event.line) }
        }
        return job
    }

    /// Why https requests of the jar's sites pass unread, and what changes that; `nil` if none do.
    ///
    /// They are not decrypted of themselves, as with `crumb run`: clients must trust an authority for them first.
    private func noteOnUnread(_ job: GatewayJob) throws -> String? {
        guard job.settings.origins.isEmpty else { return nil }
        let decrypted = Set(job.settings.intercepted.map { $0.host.registrableDomain(job.jar.policy.publicSuffixes) })
        let sites = try job.sites().subtracting(decrypted).sorted()
        guard !sites.isEmpty || job.settings.intercepted.isEmpty else { return nil }
        let names = listed(sites.map(\.description))
        let owners = job.users.isEmpty ? "jar '\(job.jar.name)'" : "the users' jars"
        let what = sites.isEmpty ? "https requests" : "https requests to \(names), of \(owners),"
        return
            "\(what) pass unread, since clients must trust an authority for them: see 'crumb gateway ca create', then "
            + "name the hosts with --intercept"
    }

    /// The sites of --upstream with the ports that they are offered at.
    private func origins(at addresses: [ListeningAddress]) throws -> [GatewaySettings.Origin] {
        guard addresses.count <= max(upstream.count, 1) else {
            throw ValidationError("--listen: name one address, or as many as there are of --upstream.")
        }
        guard Set(addresses.map(\.host)).count < 2 else {
            throw ValidationError("--listen: use the same host for all addresses; only the ports may differ.")
        }
        guard upstream.isEmpty || interception.passage.intercept.isEmpty else {
            throw ValidationError(
                "--intercept: this is for a proxy; --upstream reads the requests anyway. Leave it out.")
        }
        return try upstream.enumerated().map { index, text in
            guard let url = try? RequestURL(text), url.path == "/", url.query.isEmpty else {
                throw ValidationError("--upstream '\(text)': write an origin such as https://shop.example.")
            }
            return GatewaySettings.Origin(url, port: index < addresses.count ? Int(addresses[index].port) : 0)
        }
    }
}

/// An address of this machine that a gateway listens on.
struct ListeningAddress {
    let host: String
    let port: UInt16

    /// - Parameter option: The option that `text` is the value of.
    init(_ text: String, option: String) throws {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ValidationError("\(option): write 127.0.0.1:PORT, [::1]:PORT or :PORT, with a port up to 65535.")
        }
        let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        self.host = host.isEmpty ? "127.0.0.1" : host
        self.port = port
    }
}

extension GatewayJob {
    /// Creates the job for a gateway of a jar. It needs the network, so `crumb` is replaced first.
    init(jar: CookieJar, _ console: Console) throws {
        let access = try TokenAccess(jar.tokens, refreshTimeout: RefreshOptions.usual(), clock: console.clock)
        self.init(jar: jar, clock: console.clock) {
            access.fallback($0)
        } failed: {
            console.error($0)
        }
    }

    /// Runs the gateway for as long as a command does.
    ///
    /// - Parameter command: Runs the command and returns its exit status. It may block.
    /// - Returns: The exit status. Every request has been reported by then.
    func run(_ network: Network, _ command: @escaping @Sendable (Access) throws -> Int32) throws -> Int32 {
        let outcome = Mutex<Result<Int32, any Error>?>(nil)
        var job = self
        job.serving = { access in
            await withCheckedContinuation { continuation in
                beginThread {
                    let result = Result { try command(access) }
                    outcome.withLock { $0 = result }
                    continuation.resume()
                }
            }
        }
        try job.run(network)
        return try outcome.withLock { $0 }?.get() ?? 0
    }

    /// Runs the gateway to its end.
    func run(_ network: Network) throws {
        try Blocking.run { try await network.runGateway(self) }
    }
}
