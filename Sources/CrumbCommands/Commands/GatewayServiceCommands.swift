import ArgumentParser
import GatewayModel
import SessionClient

struct GatewayStartCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Start a gateway in a running service.",
        discussion: """
            Prints the address, once the gateway listens. If the service runs it already with the same settings, it stays \
            as it is. The authority for --intercept is the one that the service's database has: \
            'crumb gateway ca create'. Name the service with --service or CRUMB_SERVICE.
            """)

    @OptionGroup var service: ServiceOptions
    @OptionGroup var output: OutputOptions

    @Option(name: [.customShort("j"), .customLong("jar")], help: JarOptions.nameHelp)
    var jar: String?

    @Option(help: GatewayUsersFile.help)
    var users: String?

    @Option(help: .value("number", "The port of 127.0.0.1 to listen on. Default: a free one."))
    var port: UInt16?

    @Option(
        help: .value(
            "url",
            "Serve this site at a local address, instead of a proxy. Repeatable, for further origins of the same site.")
    )
    var upstream: [String] = []

    @Option(help: "What sends the requests: 'browser' for one profile or web view, 'tool' for programs.")
    var client = GatewaySettings.Client.browser

    @OptionGroup var passage: PassageOptions
    @OptionGroup var caching: CacheOptions

    @Flag(help: "Do not answer from the jar's offline packages, which are on the machine of the service.")
    var noPackages = false

    @Flag(help: "Connect to no server. A request that neither the cache nor a package answers gets status 504.")
    var offline = false

    @Option(
        help: .file(
            "Write the certificate of the database's authority, which clients have to trust, to this file, in PEM."))
    var exportAuthority: String?

    @Option(name: .customLong("authority-file"), help: .hidden)
    var formerExportAuthority: String?

    @Argument(help: "The name of the gateway.")
    var name: String

    func validate() throws {
        guard !offline || caching.cache != nil else {
            throw ValidationError("--offline: use a cache with --cache SIZE.")
        }
        guard users == nil || jar == nil else {
            throw ValidationError("--jar: each user of --users has a jar. Leave one of both out.")
        }
    }

    func execute(_ console: Console) throws {
        // Before the files are read: one of them may be a pipe.
        let connection = try service.required()
        let users = try users.map { try GatewayUsersFile.users(in: $0) }
        let jar = users == nil ? Locations().jar(jar) : nil
        let rules = try caching.table()?.lines
        let cache = caching.cache.map {
            GatewayCacheDocument(size: Int($0.octets), rules: rules, offline: offline ? true : nil)
        }
        let document = GatewayDocument(
            jar: jar, users: users, client: client.rawValue, cookies: passage.cookies?.rawValue,
            intercept: passage.intercept.isEmpty ? nil : passage.intercept,
            bypass: passage.bypass.isEmpty ? nil : passage.bypass,
            legacyTLS: passage.legacyTLS.isEmpty ? nil : passage.legacyTLS, port: port.map(Int.init),
            upstreams: upstream.isEmpty ? nil : upstream.map { GatewayUpstreamDocument(url: $0) }, cache: cache,
            packages: noPackages ? false : nil)
        let file = try AuthorityFile(exportAuthority, "--export-authority", former: formerExportAuthority)
        let request = SessionRequest.startGateway(name, document)
        let report = try jar.map { try connection.answer(about: $0, to: request) } ?? connection.answer(to: request)
        if let certificate = report.certificate { try file?.create(certificate, for: name) }
        try console.report(report) { for listening in report.addresses { try console.writeLine(listening.line) } }
    }
}

struct GatewayListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the gateways of a running service.", aliases: ["ls"])

    @OptionGroup var service: ServiceOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let gateways = try service.required().answer(to: .gateways()).gateways
        try console.writeTable(
            ["NAME", "JAR", "ADDRESS", "CLIENT", "CACHE", "REQUESTS", "FAILURES"], of: gateways,
            none: "the service runs no gateway"
        ) { gateway in
            gateway.addresses.enumerated().map { index, listening in
                // The counts are those of the gateway, whatever its number of addresses.
                let counts = index == 0 ? ["\(gateway.requests)", "\(gateway.failures)"] : ["", ""]
                let values = [
                    gateway.name, gateway.jarText, listening.line, gateway.client, gateway.cache?.cell ?? "-",
                ]
                return values + counts
            }
        }
    }
}

extension GatewayCacheReport {
    /// The size and the rules, in one cell of a table.
    fileprivate var cell: String {
        ([shownSize] + shownRules + (offline ? ["offline"] : [])).joined(separator: ", ")
    }
}

struct GatewayRequestsCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "List the requests that have passed through a gateway of a running service. Never shows values.")

    @OptionGroup var service: ServiceOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Only requests after this position.")
    var after: Int64 = 0

    @Argument(help: "The name of the gateway.")
    var name: String

    func execute(_ console: Console) throws {
        let connection = try service.required()
        var position = after
        while true {
            let page = try connection.answer(to: .gatewayRequests(name, after: position))
            if page.hasGap, position > 0 { console.note("requests after position \(position) are no longer known") }
            for report in page.requests { try console.report(report, line: report.line) }
            if page.requests.isEmpty, position == 0 { console.note("no request has passed through \(name) yet") }
            // A page that leads no further would be asked for without end.
            guard page.hasMore, page.position > position else { return }
            position = page.position
        }
    }
}

struct GatewayStopCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop a gateway of a running service, once its requests in progress are finished.")

    @OptionGroup var service: ServiceOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the gateway.")
    var name: String

    func execute(_ console: Console) throws {
        try service.required().send(.stopGateway(name))
        try console.report(["stopped": name], note: "stopped \(name)")
    }
}
