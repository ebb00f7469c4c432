import ArgumentParser
package import CookieModel
import Foundation
package import OAuth2
package import RequestDecoration
import SessionOperations
package import SessionStore
import Synchronization

struct GatewayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a proxy that gives every request of a program the cookies of a jar.",
        subcommands: [GatewayRunCommand.self, GatewayAuthorityCommand.self],
        defaultSubcommand: GatewayRunCommand.self)
}

/// Which cookies pass on to the client of a gateway.
enum GatewayCookieMode: String, CaseIterable, ExpressibleByArgument {
    case mirror, strip, pass
}

/// What sends its requests through a gateway.
enum GatewayClient: String, CaseIterable, ExpressibleByArgument {
    case browser, tool
}

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

    @OptionGroup var jar: JarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "The address to listen on: 127.0.0.1:PORT, [::1]:PORT, or :PORT for 127.0.0.1. Default: a free port. With "
                + "--upstream, one for each, in their order.",
            valueName: "address"))
    var listen: [String] = []

    @Option(
        help: ArgumentHelp(
            "Offer this site at the address, instead of a proxy, for clients that can have none. Repeatable, for further "
                + "origins of the same site.",
            valueName: "url"))
    var upstream: [String] = []

    @Option(help: "What sends the requests: 'browser' for one profile or web view, 'tool' for programs.")
    var client = GatewayClient.browser

    @OptionGroup var interception: InterceptionOptions
    @OptionGroup var traffic: TrafficOptions

    @Option(
        help: ArgumentHelp(
            "Use an authority for this run only, and write its certificate to this file, in PEM. Default: the authority "
                + "of 'crumb gateway ca create'.",
            valueName: "file"))
    var authorityFile: String?

    @Flag(help: "Print a line for each request: its URL, the status, and which cookies went with it.")
    var log = false

    func execute(_ console: Console) throws {
        let network = try Network.required()
        let addresses = try listen.map { try ListeningAddress($0, option: "--listen") }
        let origins = try origins(at: addresses)
        let hosts = try interception.hosts()
        guard authorityFile == nil || !hosts.isEmpty else {
            throw ValidationError("--authority-file: name the hosts that the authority is for with --intercept.")
        }
        let kept = try jar.openJar(now: console.now, console)
        let isJSON = output.json
        var order = try GatewayOrder(jar: kept, console)
        if authorityFile == nil, !hosts.isEmpty {
            order.authority = try StoredAuthority.forInterception(of: hosts, in: kept.database, now: console.now)
        }
        if let address = addresses.first { (order.host, order.port) = (address.host, Int(address.port)) }
        order.origins = origins
        if !origins.isEmpty { order.cookies = GatewayCookieMode.strip.rawValue }
        order.client = client.rawValue
        order.hosts = hosts
        try interception.apply(to: &order)
        traffic.apply(to: &order)
        order.stopsOnSignals = true
        if log {
            order.log = { report in
                if isJSON { try? console.writeJSON(report) } else { try? console.writeLine(report.line) }
            }
        }
        let authorityFile = authorityFile
        order.serving = { access in
            if let authorityFile, let authority = access.authority {
                try PrivateFile.write(Array(authority.utf8), at: authorityFile)
            }
            for listening in access.listening {
                if isJSON { try console.writeJSON(listening) } else { try console.writeLine(listening.line) }
            }
            // Until a signal cancels it.
            await GatewayOrder.cancellation()
        }
        let finished = order
        try Blocking.run { try await network.runGateway(finished) }
    }

    /// The sites of --upstream with the ports that they are offered at.
    private func origins(at addresses: [ListeningAddress]) throws -> [GatewayOrder.Origin] {
        guard addresses.count <= max(upstream.count, 1) else {
            throw ValidationError("--listen: name one address, or as many as there are of --upstream.")
        }
        guard Set(addresses.map(\.host)).count < 2 else {
            throw ValidationError("--listen: use the same host for all addresses; only the ports may differ.")
        }
        guard upstream.isEmpty || interception.intercept.isEmpty else {
            throw ValidationError(
                "--intercept: this is for a proxy; --upstream reads the requests anyway. Leave it out.")
        }
        return try upstream.enumerated().map { index, text in
            guard let url = try? RequestURL(text), url.path == "/", url.query.isEmpty else {
                throw ValidationError("--upstream '\(text)': write an origin such as https://shop.example.")
            }
            return GatewayOrder.Origin(url: url, port: index < addresses.count ? Int(addresses[index].port) : 0)
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

/// What a gateway is run with.
package struct GatewayOrder: Sendable {
    /// What a client needs to use it.
    package struct Access: Sendable {
        /// Where it listens.
        package let listening: [GatewayListening]
        /// The certificate of its authority, in PEM; `nil` if it decrypts nothing.
        package let authority: String?

        package init(listening: [GatewayListening], authority: String?) {
            self.listening = listening
            self.authority = authority
        }

        /// The address of the proxy.
        var address: String { listening.first?.address ?? "" }
    }

    /// A site that is offered at an address.
    package struct Origin: Sendable {
        package let url: RequestURL
        package let port: Int
    }

    package let jar: CookieJar
    package let clock: @Sendable () -> Timestamp
    package var host = "127.0.0.1"
    package var port = 0
    /// The sites that are offered at addresses of their own; empty for a proxy.
    package var origins: [Origin] = []
    /// What sends the requests: `browser` or `tool`.
    package var client = "tool"
    /// Which cookies pass on to the client: `mirror`, `strip` or `pass`.
    package var cookies = "mirror"
    /// The hosts whose https requests are decrypted.
    package var hosts: [HostPattern] = []
    /// The authority that clients trust for them; `nil` for one that exists for this run only.
    package var authority: StoredAuthority?
    /// The hosts whose requests pass unread all the same.
    package var bypassed: [HostPattern] = []
    /// The certificates that servers get which ask for one.
    package var clientCertificates: [WebHost: ClientCertificate] = [:]
    /// Whether those to the sites of the jar are, too.
    package var interceptsSites = false
    /// The file that requests and responses are recorded in; `nil` for none.
    package var recordPath: String?
    /// Whether values of cookies and credentials are recorded.
    package var recordsSecrets = false
    /// The HAR that answers requests; `nil` for none.
    package var replayPath: String?
    /// Whether no server is connected to.
    package var isOffline = false
    /// Whether Control-C and SIGTERM cancel ``serving``. A second one ends the process. A command that runs beside the
    /// gateway gets signals itself.
    package var stopsOnSignals = false
    /// Runs while the gateway does, which stops when it returns.
    package var serving: @Sendable (Access) async throws -> Void = { _ in }
    /// Gets a report of each request; `nil` if none is wanted.
    package var log: (@Sendable (GatewayRequestReport) -> Void)?

    /// Makes what signs the user in again by the login rules of the jar.
    package let fallback: @Sendable ([LoginRule]) -> LoginFallback
    /// Gets the reason, once, why a user could not be signed in again.
    package let loginFailed: @Sendable (String) -> Void
    /// Gets the reason, once, why no more can be recorded.
    package let recordingFailed: @Sendable (String) -> Void

    /// Creates an order for a gateway of a jar. It needs the network, so `crumb` is replaced first.
    init(jar: CookieJar, _ console: Console) throws {
        self.jar = jar
        clock = console.clock
        loginFailed = { console.error($0) }
        recordingFailed = { console.error($0) }
        let network = try Network.required()
        let refresher = try TokenAccess(jar.tokens, clock: console.clock).refresher()
        fallback = { rules in
            LoginFallback(rules: rules, store: jar.tokens, refresher: refresher, transport: network.endpoints)
        }
    }

    /// Runs the gateway for as long as a command does.
    ///
    /// - Parameter command: Runs the command and returns its exit status. It may block.
    /// - Throws: `ExitCode` for a status other than 0.
    func run(_ network: Network, _ command: @escaping @Sendable (Access) throws -> Int32) throws {
        let outcome = Mutex<Result<Int32, any Error>?>(nil)
        var order = self
        order.serving = { access in
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let result = Result { try command(access) }
                    outcome.withLock { $0 = result }
                    continuation.resume()
                }
            }
        }
        let finished = order
        try Blocking.run { try await network.runGateway(finished) }
        let status = try outcome.withLock { $0 }?.get() ?? 0
        guard status == 0 else { throw ExitCode(status) }
    }

    /// Waits until the task is cancelled.
    static func cancellation() async {
        let (stream, _) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
    }
}

/// A request that has passed through a gateway, without values.
package struct GatewayRequestReport: Encodable, Sendable {
    private let time: String
    private let method: String
    private let url: String
    private let status: Int?
    private let decorated: Bool
    private let verdict: GatewayVerdictReport?
    private let cookiesSent: [String]
    private let cookiesStored: Int
    private let replayed: Bool
    private let signedInAgain: Bool
    private let loginFailure: String?
    private let failure: String?

    /// A report from its parts.
    package init(
        time: Timestamp, method: String, url: String, status: Int?, isDecorated: Bool,
        verdict: EngineVerdict?, cookiesSent: [Octets], cookiesStored: Int, isReplayed: Bool,
        isSignedInAgain: Bool,
        loginFailure: String?, failure: String?
    ) {
        self.time = time.rfc3339
        self.method = method
        self.url = url
        self.status = status
        decorated = isDecorated
        self.verdict = verdict.map(GatewayVerdictReport.init)
        self.cookiesSent = cookiesSent.map(\.description)
        self.cookiesStored = cookiesStored
        replayed = isReplayed
        signedInAgain = isSignedInAgain
        self.loginFailure = loginFailure
        self.failure = failure
    }

    /// The report as a line for a person.
    var line: String {
        var line = "\(method) \(url) \(status.map(String.init) ?? "-")"
        if let failure { line += " \(failure)" } else if !decorated { line += " passed unchanged" }
        if let verdict { line += " \(verdict.source): \(verdict.text)" }
        if replayed { line += " replayed" }
        if !cookiesSent.isEmpty { line += " sent: \(cookiesSent.joined(separator: ", "))" }
        if cookiesStored > 0 { line += " stored: \(cookiesStored)" }
        if signedInAgain { line += " signed in again" }
        if let loginFailure { line += " not signed in: \(loginFailure)" }
        return line
    }
}

/// What a browser has decided on the cookies of a request.
private struct GatewayVerdictReport: Encodable {
    let source: String
    let classes: [String]
    let partition: String?

    init(_ verdict: EngineVerdict) {
        let names: [(EngineVerdict.Classes, String)] = [
            (.strict, "strict"), (.lax, "lax"), (.none, "none"), (.default, "default"), (.recentDefault, "recent"),
        ]
        source = verdict.source.rawValue
        classes = names.filter { verdict.classes.contains($0.0) }.map(\.1)
        partition = verdict.partition?.serialized
    }

    var text: String {
        if classes.contains("strict") { return "same-site" }
        if classes.contains("lax") { return "cross-site navigation" }
        return classes.contains("none") ? "cross-site" : partition == nil ? "no cookies" : "partitioned cookies only"
    }
}

/// An address that a gateway listens on.
package struct GatewayListening: Encodable, Sendable {
    let address: String
    /// The origin of the site that is offered there; `nil` for a proxy.
    let upstream: String?

    package init(address: String, upstream: String?) {
        self.address = address
        self.upstream = upstream
    }

    /// The address as a line for a person: a URL to open, or a proxy to set.
    var line: String { upstream.map { "http://\(address) \($0)" } ?? address }
}
