import ArgumentParser
import CookieModel
import GatewayModel
import HTTPMessages
import SessionOperations
import SessionStore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct CacheWarmCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "warm",
        abstract: "Load pages with their resources into the cache.",
        usage: "crumb cache warm --cache <size> [<options>] <url> ...",
        discussion: """
            crumb cache warm --jar work --cache 500M https://www.shop.example/

            Loads each page, the resources that its HTML names, and those of its stylesheets, with the session of the jar. A \
            browser behind a gateway with the same jar and --cache SIZE then finds them, also without a network. The \
            requests are those of Chromium; no script runs. With --engine, a browser without a window loads the pages \
            instead, so that what scripts request is loaded, too.

            Pages of the jar's sites, of the URLs' sites and of --intercept are loaded over https. Resources of other hosts \
            are not: a gateway would not read them. With --client tool, the requests are those of a program, and what is \
            stored answers programs such as curl, and no browser. Exit status 94 if a page is not in the cache then.
            """)

    @OptionGroup var jar: GatewayJarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: CommandGatewayOptions

    @Option(help: "Load the pages in a browser: 'chromium', 'firefox' or 'webkit'.")
    var engine: BrowserEngine?

    @Option(help: "Whom the responses are for: 'browser', or 'tool' for programs.")
    var client = GatewaySettings.Client.browser

    @Option(
        name: .customLong("browser-argument"), parsing: .unconditionalSingleValue,
        help: .value("word", "A further argument for the browser, such as --no-sandbox. Repeatable."))
    var arguments: [String] = []

    @Option(
        help: .value("number", "How far a resource may be from its page: 1 for what the page itself names. Default: 4.")
    )
    var depth: Int?

    @Option(help: .value("number", "The most requests. Default: 1000."))
    var requests: Int?

    @Option(help: .value("size", "The most octets of responses, such as 100M. Default: 512M."))
    var octets: CacheSize?

    @Argument(help: "The pages.")
    var urls: [String]

    func validate() throws {
        guard gateway.traffic.caching.cache != nil else {
            throw ValidationError("Give the size of the cache with --cache SIZE, as for the gateway that uses it.")
        }
        guard !gateway.traffic.offline else {
            throw ValidationError("--offline: pages come from servers. Leave it out.")
        }
        guard engine == nil || (depth == nil && requests == nil && octets == nil) else {
            throw ValidationError("--depth, --requests and --octets are not for a browser. Leave them or --engine out.")
        }
        guard engine != nil || arguments.isEmpty else {
            throw ValidationError("--browser-argument: name a browser with --engine.")
        }
        guard engine == nil || client == .browser else {
            throw ValidationError("--client tool: a browser's requests are not those of programs. Leave --engine out.")
        }
        for (name, number) in [("--depth", depth), ("--requests", requests)] where number.map({ $0 < 1 }) == true {
            throw ValidationError("\(name): write a number from 1.")
        }
    }

    func execute(_ console: Console) throws {
        let pages = try urls.map(requestURL)
        guard pages.allSatisfy({ ["http", "https"].contains($0.scheme.name) }) else {
            throw ValidationError("Pages have URLs that begin with http: or https:.")
        }
        let network = try Network.required()
        var report = CacheWarmReport()
        try jar.withJar(console) { kept, hasStarted in
            let sites = Set(pages.flatMap { HostPattern.site(of: $0.host, kept.policy.publicSuffixes) })
            var job = try gateway.job(kept, decrypting: Array(sites), console) { _ in }
            let environment = ProcessInfo.processInfo.environment
            let storing = CacheStoring(of: kept, size: job.cacheSize ?? 0, since: console.clock()) { environment[$0] }
            job.settings.client = client
            if let engine {
                report = try BrowserWarming(engine, arguments, console).load(pages, job, network, hasStarted)
            } else {
                // The gateway alone has cookies: what scripts would do to the browser's does not happen.
                job.settings.cookies = .strip
                report = try load(pages, job, network, console, hasStarted)
            }
            report.correct { storing.obstacle(of: $0, octets: $1, now: console.clock()) }
        }
        try console.report(report) {
            try console.writeTable(["STATUS", "OCTETS", "CACHE", "URL"], of: report.responses, none: "no response") {
                response in
                [
                    response.status.map(String.init) ?? "-", response.octets.map(String.init) ?? "-",
                    response.outcome.rawValue, response.shownURL + (response.reason.map { "  (\($0))" } ?? ""),
                ]
            }
            console.note(report.sentence)
        }
        var errors = EntryErrors(console: console)
        for page in pages {
            guard let reason = report.obstacle(of: page) else { continue }
            errors.append("\(SecretRedaction.url(page.withoutQuery.description)): \(reason)", .pageNotLoaded)
        }
        errors.finish()
        if errors.count > 0 {
            throw CommandFailure(
                .pageNotLoaded,
                "\(errors.count) of \(counted(pages.count, "page")) did not come, or could not be stored")
        }
    }

    /// Loads pages with their resources, without a browser.
    private func load(
        _ pages: [RequestURL], _ job: GatewayJob, _ network: Network, _ console: Console,
        _ hasStarted: @escaping @Sendable () -> Void
    ) throws -> CacheWarmReport {
        var limits = CacheWarmer.Limits()
        limits.depth = depth ?? limits.depth
        limits.requests = requests ?? limits.requests
        limits.octets = octets.map { Int($0.octets) } ?? limits.octets
        limits.bodySize = gateway.traffic.caching.cache.map { CacheStoring.bodyLimit($0.octets) } ?? limits.bodySize
        let (settings, suffixes) = (job.settings, job.jar.policy.publicSuffixes)
        let hasReader = ImportProgress.hasTerminal && !console.isQuiet && !console.isJSON
        let result = Mutex(CacheWarmReport())
        _ = try job.run(network) { [limits] access in
            hasStarted()
            let transport = try network.pages(access)
            let report = try Blocking.run {
                var progress = ImportProgress(name: "loading", total: nil, isShown: hasReader)
                let warmer = CacheWarmer(
                    over: transport, limits: limits, client: settings.client, rules: settings.cachingRules,
                    suffixes: suffixes,
                    clock: console.clock, decrypts: { settings.intercepts($0, suffixes) })
                for page in pages {
                    await warmer.load(page) { report, waiting in
                        progress.show(responses: report.responses.count, bytes: report.octets, waiting: waiting)
                    }
                }
                progress.finish()
                await transport.shutDown()
                return warmer.report
            }
            result.withLock { $0 = report }
            return 0
        }
        return result.withLock { $0 }
    }
}
