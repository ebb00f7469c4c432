import ArgumentParser
import CookieModel
import Foundation
import OAuth2
import SessionOperations
import SessionStore

struct RunCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command whose requests get the cookies of a jar, also over https.",
        usage: "crumb run [<options>] -- <command> [<arguments> ...]",
        discussion: """
            crumb run --jar work -- wget https://www.shop.example/orders
            crumb run --jar work --intercept api.shop.example -- python3 report.py

            Starts a gateway for the command alone, and tells the command about it in the variables that programs read: \
            https_proxy, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS, GIT_SSL_CAINFO and their like. Requests to \
            the sites of the jar and to the hosts of --intercept are decrypted, with an authority that only this command \
            trusts and whose key never leaves memory. All other https requests pass unread.

            The exit status is the command's own: 126 if it cannot be run, 127 if it is not found, and 128 and the signal \
            that ended it. Signals reach the command.
            """)

    @OptionGroup var jar: GatewayJarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var interception: InterceptionOptions
    @OptionGroup var traffic: TrafficOptions

    @Flag(help: "Print a line on standard error for each request: its URL, the status, and which cookies went with it.")
    var log = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments.")
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("Name the command to run: `crumb run -- COMMAND`.") }
    }

    func execute(_ console: Console) throws {
        let command = ExternalCommand(words: command)
        let program = try command.path(console)
        let network = try Network.required()
        // From here on, a signal reaches the command, and this one ends only after it has removed its folder.
        SignalForwarding.begin()
        defer { SignalForwarding.end() }
        let folder = try PrivateFolder("crumb-run")
        defer { folder.remove() }
        let bundle = "\(folder.path)/authorities.pem"
        try jar.withJar(console) { kept, hasStarted in
            var order = try GatewayOrder(jar: kept, console)
            try interception.apply(to: &order)
            traffic.apply(to: &order)
            order.hosts = try interception.hosts()
            order.interceptsSites = true
            if log { order.log = { console.note($0.line) } }
            try order.run(network) { access in
                hasStarted()
                try PrivateFile.write(
                    TrustedAuthorities.pem + Array("\n\(access.authority ?? "")".utf8), at: bundle)
                let wget = ["WGETRC": try RunCommand.wgetConfiguration(in: folder, bundle: bundle)]
                let environment = RunCommand.environment(proxy: "http://\(access.address)", bundle: bundle)
                    .merging(wget) { $1 }
                return try command.run(program, environment: environment, console)
            }
        }
    }

    /// The path of a configuration for wget, which has no variable for authorities: the user's own with one more line.
    private static func wgetConfiguration(in folder: PrivateFolder, bundle: String) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        let own = environment["WGETRC"] ?? environment["HOME"].map { "\($0)/.wgetrc" }
        let lines = own.flatMap { try? InputFile($0).contents(limit: 1 << 20) } ?? []
        let path = "\(folder.path)/wgetrc"
        try PrivateFile.write(lines + Array("\nca_certificate = \(bundle)\n".utf8), at: path)
        return path
    }

    /// The variables by which programs find a proxy, and whom they trust.
    private static func environment(proxy: String, bundle: String) -> [String: String] {
        var environment: [String: String] = [:]
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            environment[name] = proxy
            environment[name.uppercased()] = proxy
        }
        // The gateway itself knows which hosts are reached directly.
        for name in ["no_proxy", "NO_PROXY"] { environment[name] = "" }
        environment["NODE_USE_ENV_PROXY"] = "1"
        let trust = [
            "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
            "PIP_CERT",
            "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "NIX_SSL_CERT_FILE", "DENO_CERT",
        ]
        for name in trust { environment[name] = bundle }
        return environment
    }
}

/// Which hosts a gateway decrypts, and which cookies it passes on.
struct InterceptionOptions: ParsableArguments {
    @OptionGroup var passage: PassageOptions

    @Option(
        help: ArgumentHelp(
            "A certificate for a server that asks for one: a PEM file with the certificate and its private key. "
                + "Repeatable.",
            valueName: "host=file"))
    var clientCertificateFile: [String] = []

    /// Applies all options except --intercept.
    func apply(to order: inout GatewayOrder) throws {
        if let cookies = passage.cookies { order.cookies = cookies.rawValue }
        order.bypassed = try passage.bypass.map { try HostPattern($0, of: "--bypass") }
        for text in clientCertificateFile {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let host = WebHost(parts[0]) else {
                throw ValidationError("--client-certificate-file '\(text)': write HOST=FILE.")
            }
            try SecretFile.check(parts[1])
            do {
                order.clientCertificates[host] = try ClientCertificate(
                    pem: Secret(try InputFile(parts[1]).contents(limit: 1 << 16)))
            } catch let error as OAuth2Error {
                throw Problem(.gatewayNotStarted, "\(parts[1]): \(error.description)")
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
    @Option(
        help: ArgumentHelp(
            "A host whose https requests are decrypted; *.HOST for its subdomains. Repeatable.", valueName: "host"))
    var intercept: [String] = []

    @Option(
        help: """
            Which cookies of a response the program gets: 'mirror' all but HttpOnly ones, 'strip' none, 'pass' all. The jar \
            stores all of them. Default: 'mirror', and 'strip' for --upstream.
            """)
    var cookies: GatewayCookieMode?

    @Option(
        help: ArgumentHelp(
            "A host whose https requests pass unread all the same; *.HOST for its subdomains. Repeatable.",
            valueName: "host"))
    var bypass: [String] = []
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

/// The certificates that the programs of this machine trust, and those of `--ca-file`.
private enum TrustedAuthorities {
    /// The certificates in PEM.
    static var pem: [UInt8] {
        let environment = ProcessInfo.processInfo.environment
        let usual = [
            environment["SSL_CERT_FILE"], "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/cert.pem",
        ]
        func contents(_ path: String?) -> [UInt8]? { path.flatMap { try? InputFile($0).contents(limit: 16 << 20) } }
        let system = usual.lazy.compactMap(contents).first ?? []
        return system + Array("\n".utf8) + (contents(environment["CRUMB_CA_FILE"]) ?? [])
    }
}
