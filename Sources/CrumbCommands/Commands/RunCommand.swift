import ArgumentParser
import CookieModel
import GatewayModel
import Platform
import SessionOperations
import SessionStore
import Synchronization

struct RunCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command whose requests get the cookies of a jar, also over https.",
        usage: "crumb run [<options>] [--] <command> [<arguments> ...]",
        discussion: """
            crumb run --jar work wget https://www.shop.example/orders
            crumb run --jar work --intercept api.shop.example python3 report.py

            crumb's own options come first. The first argument that is not one of them begins the command.

            Starts a gateway for the command alone, and tells the command about it in the variables that programs read: \
            https_proxy, SSL_CERT_FILE, REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS, GIT_SSL_CAINFO and their like. Requests to \
            the sites of the jar, to those of URLs among the command's arguments and to the hosts of --intercept are \
            decrypted, with an authority that only this command trusts and whose key never leaves memory. All other https \
            requests pass unread.

            If no request passed through the gateway, or hosts of the jar passed unread, or a certificate was not trusted, \
            a line on standard error says what to change. So does one if the jar was empty and a host passed unread. \
            --quiet omits them.

            The exit status is the command's own: 126 if it cannot be run, 127 if it is not found, and 128 and the signal \
            that ended it. Signals reach the command.
            """)

    @OptionGroup var jar: GatewayJarOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: CommandGatewayOptions

    @Argument(parsing: .captureForPassthrough, help: "The command and its arguments.")
    var arguments: [String] = []

    /// The command and its arguments.
    private var words: [String] { arguments.first == "--" ? Array(arguments.dropFirst()) : arguments }

    func validate() throws {
        // The parser takes an option that it does not know for the command.
        guard let first = arguments.first, first.hasPrefix("-"), first != "--", first != "--help", first != "-h" else {
            if words.isEmpty { throw ValidationError("Name the command to run: `crumb run COMMAND`.") }
            return
        }
        throw ValidationError("Unknown option '\(first)'. To run a command of this name, put -- before it.")
    }

    func execute(_ console: Console) throws {
        if ["--help", "-h"].contains(arguments.first) { throw CleanExit.helpRequest(self) }
        let command = ExternalCommand(words: words)
        let program = try command.path(console)
        let network = try Network.required()
        // From here on, a signal reaches the command, and this one ends only after it has removed its folder.
        SignalForwarding.begin()
        defer { SignalForwarding.end() }
        let folder = try PrivateFolder(.run)
        defer { folder.remove() }
        let bundle = "\(folder.path)/authorities.pem"
        try jar.withJar(console) { kept, hasStarted in
            let passages = Mutex(GatewayPassages())
            var job = try gateway.job(kept, decrypting: sites(of: kept), console) { passage in
                passages.withLock { $0.append(passage) }
            }
            job.settings.client = .tool
            let status = try job.run(network) { access in
                hasStarted()
                try PrivateFile.write(TrustedAuthorities.pem() + Array((access.authority ?? "").utf8), at: bundle)
                let wget = ["WGETRC": try RunCommand.wgetConfiguration(in: folder, bundle: bundle)]
                let environment = RunCommand.environment(proxy: "http://\(access.address)", bundle: bundle)
                    .merging(wget) { $1 }
                return try command.run(program, environment: environment, console)
            }
            for note in try notes(on: passages.withLock { $0 }, job) { console.note("note: \(note)") }
            if status != 0 { throw ExitCode(status) }
        }
    }

    /// How many URLs among the arguments count.
    private static let urlLimit = 100

    /// The sites of the URLs among the command's arguments.
    private func sites(of jar: CookieJar) -> [HostPattern] {
        let urls = words.dropFirst().lazy.filter {
            ["http://", "https://"].contains(where: $0.lowercased().hasPrefix)
        }
        let hosts = Set(urls.prefix(RunCommand.urlLimit).compactMap { try? RequestURL($0).host })
        return Array(Set(hosts.flatMap { HostPattern.site(of: $0, jar.policy.publicSuffixes) }))
    }

    /// What the user should know of the requests that have passed, or have not.
    private func notes(on passages: GatewayPassages, _ job: GatewayJob) throws -> [String] {
        guard !passages.isEmpty else {
            return [
                "no request of \(words[0]) passed through the gateway. If it makes some, it does not use the proxy in "
                    + "https_proxy: Node's fetch does from version 24 on, aiohttp with trust_env=True"
            ]
        }
        // Those that the command has brought into the jar count too.
        let (sites, suffixes) = (try job.sites(), job.jar.policy.publicSuffixes)
        let unread = passages.noteOnUnread(jar: job.jar.name) { host in
            !job.settings.bypassed.contains(host)
                && (job.settings.interceptedSites.isEmpty || sites.contains(host.registrableDomain(suffixes)))
        }
        return [unread].compactMap(\.self) + passages.notesOnTrust
    }

    /// The path of a configuration for wget, which has no variable for authorities: the user's own with one more line.
    private static func wgetConfiguration(in folder: PrivateFolder, bundle: String) throws -> String {
        let environment = ProcessEnvironment.variables
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
        for name in TrustedAuthorities.variables { environment[name] = bundle }
        return environment
    }
}

/// The certificates that the programs of this machine trust, and those of `--ca-file`.
enum TrustedAuthorities {
    /// The variables by which programs find a file with the authorities that they trust.
    static let variables = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT",
        "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "NIX_SSL_CERT_FILE", "DENO_CERT",
    ]

    private static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// The certificates in PEM, each once: the system's, or those of `SSL_CERT_FILE` in their place, those that the other
    /// ``variables`` name, and those of `--ca-file`. Other contents of the files, such as private keys, are left out.
    ///
    /// A file that cannot be read is skipped, as most programs do.
    static func pem(_ environment: [String: String] = ProcessEnvironment.variables) -> [UInt8] {
        let system = ([environment["SSL_CERT_FILE"]].compactMap(\.self) + systemFiles).lazy.map(contents)
            .first { !$0.isEmpty }
        let named = (variables.dropFirst() + ["CRUMB_CA_FILE"]).compactMap { environment[$0] }
        var known: Set<String> = []
        let all = ([system ?? []] + named.map(contents)).flatMap(certificates).filter { known.insert($0).inserted }
        return Array(all.joined().utf8)
    }

    /// The contents of a file, or of the first thousand files in a folder, which some variables may name.
    private static func contents(of path: String) -> [UInt8] {
        guard let names = try? FileSystem.allNames(in: path) else { return file(path) }
        return Array(names.sorted().prefix(1000).map { file("\(path)/\($0)") }.joined(separator: "\n".utf8))
    }

    private static func file(_ path: String) -> [UInt8] { (try? InputFile(path).contents(limit: 16 << 20)) ?? [] }

    /// The certificates in a text, each with its first and last line.
    private static func certificates(in bytes: [UInt8]) -> [String] {
        var (found, lines): ([String], [Substring]?) = ([], nil)
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN ") { lines = line.contains("CERTIFICATE-----") ? [] : nil }
            lines?.append(line)
            if line.hasPrefix("-----END "), let complete = lines {
                found.append(complete.joined(separator: "\n") + "\n")
                lines = nil
            }
        }
        return found
    }
}
