import ArgumentParser
import CookieModel
import GatewayModel
import Platform
import PublicSuffix
import SessionOperations
import SessionStore
import Synchronization

struct BrowseCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Open a URL in a browser of its own that has the session of a jar.",
        usage: "crumb browse [<options>] <url> [-- <browser-arguments> ...]",
        discussion: """
            crumb browse --jar work https://www.shop.example/orders

            Starts a browser with an empty profile behind a gateway. When it ends, its processes and its profile are removed. \
            Pages of the jar's sites, of the URL's site and of --intercept are decrypted, with an authority that only this \
            browser trusts. What the sites set is in the jar afterwards, and there for the next call.

            Arguments behind -- are the browser's own, such as --headless. Chromium and Firefox need certutil (libnss3-tools \
            on Debian), WebKitGTK needs its MiniBrowser and bubblewrap. The exit status is the browser's.
            """)

    @OptionGroup var jar: GatewayJarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: CommandGatewayOptions

    @Option(help: "The browser: 'chromium', 'firefox' or 'webkit', which is WebKitGTK's MiniBrowser on Linux.")
    var engine = BrowserEngine.chromium

    @Argument(help: "The page to open.")
    var url: String

    @Argument(parsing: .postTerminator, help: "Further arguments for the browser.")
    var arguments: [String] = []

    func execute(_ console: Console) throws {
        guard let page = try? RequestURL(url) else {
            throw ValidationError("'\(url)': write a URL such as https://www.shop.example/.")
        }
        let programs = try BrowserPrograms(for: engine)
        let network = try Network.required()
        // From here on, a signal ends the browser, and this command only after it has cleaned up.
        SignalForwarding.begin()
        defer { SignalForwarding.end() }
        let folder = try PrivateFolder(.browse)
        defer { folder.remove() }
        let browser = StartedBrowser(programs: programs, folder: folder)
        let (url, arguments) = (url, arguments)
        try jar.withJar(console) { kept, hasStarted in
            let passages = Mutex(GatewayPassages())
            let job = try gateway.job(
                kept, decrypting: HostPattern.site(of: page.host, kept.policy.publicSuffixes), console
            ) { passage in passages.withLock { $0.append(passage) } }
            let status = try job.run(network) { access in
                hasStarted()
                try browser.trust(access.authority ?? "")
                let command = try browser.command(proxy: access.address, arguments + [url])
                defer { folder.endProcesses() }
                return try command.run(command.words[0], environment: browser.environment, console)
            }
            let all = passages.withLock { $0 }
            // Other sites of a page are not the session's, unless there is no session.
            if try kept.sites().isEmpty, let note = all.noteOnUnread(jar: kept.name, where: { _ in true }) {
                console.note("note: \(note)")
            }
            if let note = all.noteOnServers { console.note("note: \(note)") }
            guard status != 0 else { return }
            if engine == .chromium, geteuid() == 0, !arguments.contains("--no-sandbox") {
                console.note(
                    "note: Chromium does not run as root: be another user, or add -- --no-sandbox, with which a page "
                        + "that breaks out of Chromium is root")
            }
            throw ExitCode(status)
        }
    }
}

extension HostPattern {
    /// All hosts of the site that a host belongs to: of a public suffix, and of a single label, only the host itself.
    static func site(of host: WebHost, _ suffixes: PublicSuffixList) -> [HostPattern] {
        let site = String(decoding: host.registrableDomain(suffixes), as: UTF8.self)
        let patterns = [site, "*.\(site)"].compactMap { try? HostPattern($0) }
        return patterns.isEmpty ? [HostPattern(only: host)] : patterns
    }
}
