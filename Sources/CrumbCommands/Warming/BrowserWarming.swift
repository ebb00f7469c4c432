import CookieModel
import Platform
import SessionOperations
import Synchronization

/// Loads pages in a browser without a window, behind a gateway that stores the responses.
struct BrowserWarming {
    /// How long a page may take.
    private static let limit = Duration.seconds(60)
    /// How long no response may have ended before a page counts as loaded.
    private static let pause = Duration.seconds(3)

    private let engine: BrowserEngine
    private let programs: BrowserPrograms
    private let arguments: [String]
    private let console: Console

    init(_ engine: BrowserEngine, _ arguments: [String], _ console: Console) throws {
        self.engine = engine
        self.arguments = arguments
        self.console = console
        programs = try BrowserPrograms(for: engine)
        let environment = ProcessEnvironment.variables
        guard engine != .webkit || environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil else {
            throw CommandFailure(
                .browserNotStarted,
                "WebKitGTK needs a screen: run this within xvfb-run, or name another browser with --engine.")
        }
    }

    /// What has passed the gateway.
    struct Traffic {
        var report = CacheWarmReport(acceptsRedirects: true)
        /// The pages by their URLs without queries.
        private let pages: [String: RequestURL]
        /// When the last response ended; `nil` if none has since the page was opened.
        var lastEnd: ContinuousClock.Instant?

        init(_ pages: [RequestURL]) {
            self.pages = Dictionary(pages.map { ($0.withoutQuery.description, $0) }) { first, _ in first }
        }

        /// The domains to which browsers send requests of their own over http, such as those that look for a portal. A
        /// browser without a window also asks for hosts of one label, to see whether the resolver invents answers.
        private static let ownDomains = [
            "detectportal.firefox.com", "ciscobinary.openh264.org", "services.mozilla.com", "clients2.google.com",
            "clients1.google.com", "connectivitycheck.gstatic.com", "gvt1.com",
        ]

        /// Whether the browser itself, and no page, has requested a URL.
        private func isOfBrowser(_ url: RequestURL) -> Bool {
            let host = url.host.description
            guard !pages.values.contains(where: { $0.host == url.host }) else { return false }
            return Self.ownDomains.contains { host == $0 || host.hasSuffix(".\($0)") }
                || !host.contains(".") && !url.host.isLoopback && !host.hasPrefix("[")
        }

        /// Adds a request of the browser, unless the browser itself and no page has made it.
        mutating func add(_ request: GatewayRequestReport) {
            guard request.method != "CONNECT", let url = try? RequestURL(request.url), !isOfBrowser(url) else { return }
            let page = pages[url.withoutQuery.description]
            var response =
                if let status = request.status, request.failure == nil {
                    CacheWarmReport.Response(
                        url, .init(status: request.cache), status: status, cacheStatus: request.cache)
                } else {
                    CacheWarmReport.Response(url, .failed, reason: request.failure)
                }
            guard let page, report.obstacle(of: page) != nil else { return report.responses.append(response) }
            response.target = page
            report.append(response, to: page)
        }
    }

    /// Loads one page after the other, each in a new profile, so that the browser's own cache answers nothing.
    func load(
        _ pages: [RequestURL], _ job: GatewayJob, _ network: Network, _ hasStarted: @escaping @Sendable () -> Void
    ) throws -> CacheWarmReport {
        let traffic = Mutex(Traffic(pages))
        var job = job
        let (log, passed) = (job.log, job.passed)
        job.passed = { passage in
            traffic.withLock { $0.lastEnd = .now }
            passed?(passage)
        }
        job.log = { request in
            traffic.withLock { $0.add(request) }
            log?(request)
        }
        // From here on, a signal ends the browser, and this command only after it has cleaned up.
        SignalForwarding.begin()
        defer { SignalForwarding.end() }
        let status = try job.run(network) { access in
            hasStarted()
            for page in pages {
                traffic.withLock { $0.lastEnd = nil }
                let status = try open(page, access) { traffic.withLock { $0.lastEnd } }
                if let status { return status }
            }
            return 0
        }
        if status != 0 { throw CommandFailure(.browserNotStarted, "the browser has ended with status \(status).") }
        return traffic.withLock { $0.report }
    }

    /// Opens a page, and ends the browser once it is loaded.
    ///
    /// - Parameter lastEnd: When the last response ended.
    /// - Returns: The browser's exit status if it has ended by itself; otherwise `nil`.
    private func open(
        _ page: RequestURL, _ access: GatewayJob.Access, lastEnd: @escaping @Sendable () -> ContinuousClock.Instant?
    ) throws -> Int32? {
        let folder = try PrivateFolder(.browse)
        defer { folder.remove() }
        let browser = StartedBrowser(programs: programs, folder: folder)
        try browser.trust(access.authority ?? "")
        let headless = engine == .webkit ? [] : ["--headless"]
        let command = try browser.command(proxy: access.address, headless + arguments + [page.description])
        var process = ChildProcess(program: command.words[0], failure: .browserNotStarted)
        process.environment = browser.environment
        for stream in [STDOUT_FILENO, STDERR_FILENO] { try process.discard(stream) }
        let state = Mutex(State())
        let deadline = ContinuousClock.now + BrowserWarming.limit
        SignalForwarding.begin()
        defer { SignalForwarding.end() }
        defer { folder.endProcesses() }
        let status = try process.run(command.words.dropFirst().map { Array($0.utf8) }) { number in
            SignalForwarding.forward(to: number)
            beginThread {
                while !state.withLock({ $0.hasEnded }) {
                    guard lastEnd().map({ $0 + BrowserWarming.pause < .now }) == true || deadline < .now else {
                        usleep(100_000)
                        continue
                    }
                    state.withLock { $0.isLoaded = true }
                    return folder.endProcesses()
                }
            }
        }
        return state.withLock { state in
            state.hasEnded = true
            return state.isLoaded ? nil : status == 0 ? 1 : status
        }
    }

    /// What is known of a browser that loads a page.
    private struct State {
        var hasEnded = false
        var isLoaded = false
    }
}
