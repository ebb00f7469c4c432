import ArgumentParser
import Platform
import SessionOperations
import SessionStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A browser that `crumb browse` starts.
enum BrowserEngine: String, CaseIterable, ExpressibleByArgument {
    case chromium, firefox, webkit
}

/// The programs that a browser needs.
struct BrowserPrograms: Sendable {
    /// The file that Debian's GnuTLS, and so WebKitGTK, reads the authorities from.
    fileprivate static let authorities = "/etc/ssl/certs/ca-certificates.crt"

    let engine: BrowserEngine
    /// The path of the browser.
    let browser: String
    /// The path of the program by which it trusts an authority: `certutil`, or `bwrap`.
    let helper: String

    /// Finds them.
    ///
    /// - Throws: `CommandFailure` if one of them is missing.
    init(for engine: BrowserEngine) throws {
        self.engine = engine
        switch engine {
        case .chromium, .firefox:
            let names =
                engine == .chromium
                ? ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
                : ["firefox", "firefox-esr"]
            browser = try BrowserPrograms.path(names, advice: "Install it, or name another one with --engine.")
            helper = try BrowserPrograms.path(["certutil"], advice: "Install it (libnss3-tools on Debian).")
        case .webkit:
            browser = try BrowserPrograms.miniBrowser()
            helper = try BrowserPrograms.path(["bwrap"], advice: "Install it (bubblewrap on Debian).")
            guard access(BrowserPrograms.authorities, R_OK) == 0 else {
                throw CommandFailure(
                    .browserNotStarted,
                    "\(BrowserPrograms.authorities): no such file, so WebKitGTK cannot be made to trust the gateway. Install "
                        + "it (ca-certificates on Debian), or name another browser with --engine.")
            }
        }
    }

    /// WebKitGTK's example browser, which is not on PATH.
    private static func miniBrowser() throws -> String {
        let roots = ["/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"]
        let paths = roots.map { "\($0)/webkit2gtk-4.1/MiniBrowser" }
        return try paths.first { access($0, X_OK) == 0 }
            ?? path(
                ["MiniBrowser"],
                advice: "Install WebKitGTK (libwebkit2gtk-4.1-0 on Debian), or name another browser with --engine.")
    }

    /// The path of the first of some programs that is there.
    private static func path(_ names: [String], advice: String) throws -> String {
        guard let path = names.lazy.compactMap({ ChildProcess.pathOfProgram($0) }).first else {
            throw CommandFailure(.browserNotStarted, "\(names[0]): no such program on PATH. \(advice)")
        }
        return path
    }
}

/// One run of a browser with a folder of its own, and the data that remains.
struct StartedBrowser: Sendable {
    let programs: BrowserPrograms
    let folder: PrivateFolder

    private var engine: BrowserEngine { programs.engine }
    private var profile: String { "\(folder.path)/profile" }
    private var authority: String { "\(folder.path)/authority.pem" }

    /// The variables of the browser.
    var environment: [String: String] {
        var variables: [String: String] = [:]
        #if os(Linux)
            // Temporary files are in the folder, too, unless the names of sockets become too long (`unix(7)`).
            if folder.path.utf8.count <= 60 { variables["TMPDIR"] = folder.path }
        #endif
        guard engine != .firefox else { return variables }
        // With the home folder, the key to the screen would be another one.
        let own = ProcessEnvironment.variables
        let key = own["XAUTHORITY"] ?? own["HOME"].map { "\($0)/.Xauthority" }
        variables["HOME"] = folder.path
        if let key { variables["XAUTHORITY"] = key }
        if engine == .webkit {
            for name in ["XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] { variables[name] = profile }
        }
        return variables
    }

    /// Lets the browser, and nothing else, trust an authority.
    func trust(_ certificate: String) throws {
        let own: [UInt8]
        switch engine {
        case .chromium, .firefox: own = []
        case .webkit: own = try InputFile(BrowserPrograms.authorities).contents(limit: 16 << 20) + [0x0A]
        }
        try PrivateFile.write(own + Array(certificate.utf8), at: authority)
        // Firefox looks for authorities in its profile, Chromium below the home folder.
        let certificates = engine == .chromium ? "\(folder.path)/.pki/nssdb" : profile
        for path in [profile, certificates] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        guard engine != .webkit else { return }
        if engine == .chromium {
            try FileManager.default.createDirectory(atPath: "\(profile)/Default", withIntermediateDirectories: true)
            try PrivateFile.write(Array(StartedBrowser.chromiumPreferences.utf8), at: "\(profile)/Default/Preferences")
        }
        let database = ["-d", "sql:\(certificates)"]
        try certutil(database + ["-N", "--empty-password"])
        try certutil(database + ["-A", "-n", "crumb", "-t", "C,,", "-i", authority])
    }

    private func certutil(_ words: [String]) throws {
        var process = ChildProcess(program: programs.helper, failure: .browserNotStarted)
        try process.discard(STDOUT_FILENO)
        let status = try process.run(words.map { Array($0.utf8) }) { _ in }
        guard status == 0 else {
            throw CommandFailure(
                .browserNotStarted, "certutil: exit status \(status): the browser would not trust the gateway.")
        }
    }

    /// Returns the command that starts the browser with a proxy for its every request.
    func command(proxy: String, _ words: [String]) throws -> ExternalCommand {
        switch engine {
        case .chromium:
            return ExternalCommand(
                words: [
                    programs.browser, "--user-data-dir=\(profile)", "--proxy-server=http://\(proxy)",
                    "--proxy-bypass-list=<-loopback>", "--no-first-run", "--no-default-browser-check",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync",
                    "--disable-default-apps",
                    "--disable-domain-reliability", "--disable-client-side-phishing-detection",
                    "--metrics-recording-only", "--password-store=basic",
                ] + words)
        case .firefox:
            try PrivateFile.write(Array(StartedBrowser.preferences(proxy: proxy).utf8), at: "\(profile)/user.js")
            return ExternalCommand(words: [programs.browser, "--no-remote", "--profile", profile] + words)
        case .webkit:
            // A name space of mounts in which the system's authorities are these and the gateway's, and one of processes,
            // all of which end with the browser.
            return ExternalCommand(
                words: [
                    programs.helper, "--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc",
                    "--ro-bind", authority, BrowserPrograms.authorities, "--", programs.browser,
                    "--proxy=http://\(proxy)", "--private", "--cookies-policy=always",
                ] + words)
        }
    }

    /// Without services that tell the browser's maker about pages, searches and passwords.
    private static let chromiumPreferences = """
        {"alternate_error_pages": {"enabled": false}, "credentials_enable_service": false,
        "profile": {"password_manager_leak_detection": false}, "safebrowsing": {"enabled": false},
        "search": {"suggest_enabled": false}, "signin": {"allowed": false}, "translate": {"enabled": false}}
        """

    private static func preferences(proxy: String) -> String {
        guard let colon = proxy.lastIndex(of: ":") else { return "" }
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
        return lines.joined(separator: "\n")
    }
}
