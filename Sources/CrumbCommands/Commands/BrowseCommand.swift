import ArgumentParser
import CookieModel
import Foundation
import PublicSuffix
import SessionOperations
import SessionStore

struct BrowseCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Open a URL in a browser of its own that has the session of a jar.",
        usage: "crumb browse [<options>] <url> [-- <browser-arguments> ...]",
        discussion: """
            crumb browse --jar work https://www.shop.example/orders

            Starts a browser with an empty profile behind a gateway, and removes the profile when the browser ends. Pages of \
            the jar's sites, of the URL's site and of --intercept are decrypted, with an authority that only this browser \
            trusts. What the sites set is in the jar afterwards, and there for the next call.

            Arguments behind -- are the browser's own, such as --headless. Needs certutil (libnss3-tools on Debian). The exit \
            status is the browser's.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var interception: InterceptionOptions
    @OptionGroup var traffic: TrafficOptions

    @Option(help: "The browser: 'chromium' or 'firefox'.")
    var engine = BrowserEngine.chromium

    @Flag(help: "Print a line on standard error for each request: its URL, the status, and which cookies went with it.")
    var log = false

    @Argument(help: "The page to open.")
    var url: String

    @Argument(parsing: .postTerminator, help: "Further arguments for the browser.")
    var arguments: [String] = []

    func execute(_ console: Console) throws {
        guard let page = try? RequestURL(url) else {
            throw ValidationError("'\(url)': write a URL such as https://www.shop.example/.")
        }
        let browser = try engine.program()
        let certutil = try BrowserEngine.path(["certutil"], advice: "Install it (libnss3-tools on Debian).")
        let network = try Network.required()
        let kept = try jar.openJar(now: console.now, console)
        let folder = try PrivateFolder("crumb-browse")
        defer { folder.remove() }
        var order = try GatewayOrder(jar: kept, console)
        order.client = "browser"
        try interception.apply(to: &order)
        traffic.apply(to: &order)
        order.hosts = try interception.hosts() + HostPattern.site(of: page.host, kept.policy.publicSuffixes)
        order.interceptsSites = true
        if log { order.log = { console.note($0.line) } }
        let (engine, url, arguments) = (engine, url, arguments)
        try order.run(network) { access in
            let profile = BrowserFolder(folder: folder, engine: engine)
            try profile.trust(access.authority ?? "", certutil: certutil)
            let words = try profile.arguments(proxy: access.address) + arguments + [url]
            let command = ExternalCommand(words: [browser] + words)
            return try command.run(browser, environment: profile.environment, console)
        }
    }
}

/// A browser that `crumb browse` starts.
enum BrowserEngine: String, CaseIterable, ExpressibleByArgument {
    case chromium, firefox

    /// The path of the browser.
    func program() throws -> String {
        let names =
            switch self {
            case .chromium: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
            case .firefox: ["firefox", "firefox-esr"]
            }
        return try BrowserEngine.path(names, advice: "Install it, or name another one with --engine.")
    }

    /// The path of the first of some programs that is there.
    static func path(_ names: [String], advice: String) throws -> String {
        guard let path = names.lazy.compactMap({ ChildProcess.pathOfProgram($0) }).first else {
            throw Problem(.browserNotStarted, "\(names[0]): no such program on PATH. \(advice)")
        }
        return path
    }
}

/// The folder that a browser has for itself while it runs.
private struct BrowserFolder {
    let folder: PrivateFolder
    let engine: BrowserEngine

    private var profile: String { "\(folder.path)/profile" }

    /// Where the browser looks for authorities that it trusts: Firefox in its profile, Chromium below the home folder.
    private var certificates: String {
        switch engine {
        case .chromium: "\(folder.path)/.pki/nssdb"
        case .firefox: profile
        }
    }

    /// The variables of the browser.
    var environment: [String: String] {
        guard engine == .chromium else { return [:] }
        // With the home folder, the key to the screen would be another one.
        let own = ProcessInfo.processInfo.environment
        let key = own["XAUTHORITY"] ?? own["HOME"].map { "\($0)/.Xauthority" }
        return ["HOME": folder.path].merging(key.map { ["XAUTHORITY": $0] } ?? [:]) { $1 }
    }

    /// Lets the browser, and nothing else, trust an authority.
    func trust(_ authority: String, certutil: String) throws {
        for path in [profile, certificates] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let file = "\(folder.path)/authority.pem"
        try PrivateFile.write(Array(authority.utf8), at: file)
        let database = ["-d", "sql:\(certificates)"]
        try run(certutil, database + ["-N", "--empty-password"])
        try run(certutil, database + ["-A", "-n", "crumb", "-t", "C,,", "-i", file])
    }

    private func run(_ certutil: String, _ words: [String]) throws {
        var process = ChildProcess(program: certutil, failure: .browserNotStarted)
        try process.discard(STDOUT_FILENO)
        let status = try process.run(words.map { Array($0.utf8) }) { _ in }
        guard status == 0 else {
            throw Problem(
                .browserNotStarted, "certutil: exit status \(status): the browser would not trust the gateway.")
        }
    }

    /// The arguments for a browser whose every request goes to a proxy.
    func arguments(proxy: String) throws -> [String] {
        switch engine {
        case .chromium:
            return [
                "--user-data-dir=\(profile)", "--proxy-server=http://\(proxy)", "--proxy-bypass-list=<-loopback>",
                "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--password-store=basic",
            ]
        case .firefox:
            guard let colon = proxy.lastIndex(of: ":") else { return [] }
            let (host, port) = (proxy[..<colon], proxy[proxy.index(after: colon)...])
            var lines = ["http", "ssl"].flatMap { kind in
                [
                    #"user_pref("network.proxy.\#(kind)", "\#(host)");"#,
                    #"user_pref("network.proxy.\#(kind)_port", \#(port));"#,
                ]
            }
            lines += [
                #"user_pref("network.proxy.type", 1);"#, #"user_pref("network.proxy.no_proxies_on", "");"#,
                #"user_pref("network.proxy.allow_hijacking_localhost", true);"#,
                // Cookies of frames of other sites are those of the jar, too.
                #"user_pref("network.cookie.cookieBehavior", 0);"#,
                #"user_pref("browser.aboutwelcome.enabled", false);"#,
                #"user_pref("browser.shell.checkDefaultBrowser", false);"#,
                #"user_pref("datareporting.policy.dataSubmissionEnabled", false);"#,
                #"user_pref("toolkit.telemetry.enabled", false);"#,
            ]
            try PrivateFile.write(Array(lines.joined(separator: "\n").utf8), at: "\(profile)/user.js")
            return ["--no-remote", "--profile", profile]
        }
    }
}

extension HostPattern {
    /// All hosts of the site that a host belongs to.
    fileprivate static func site(of host: WebHost, _ suffixes: PublicSuffixList) -> [HostPattern] {
        let site = String(decoding: host.registrableDomain(suffixes), as: UTF8.self)
        return [site, "*.\(site)"].compactMap { try? HostPattern($0, of: "URL") }
    }
}
