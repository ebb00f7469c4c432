import AsyncHTTPClient
import CookieModel
import NIOCore
import NIOPosix
import NIOSSL
import OAuth2
import Platform
import SessionGateway
import SessionStore
import Synchronization

/// The proxies and the trusted certificates of a client's connections, from the options and the environment.
///
/// `crumb` passes its options in the environment, which other users cannot read.
struct NetworkSettings: Sendable {
    /// The most bytes of a file with certificates, and the most such files of a folder.
    private static let certificateLimit = 4 << 20
    private static let certificateFileLimit = 2000
    private static let credentialsLimit = 4096

    private let environment: [String: String]
    /// How errors name the settings that a configuration file has given, by variable.
    private let names: [String: String]
    private let proxies: ProxySettings

    init(environment: [String: String], names: [String: String] = [:]) {
        self.environment = environment
        self.names = names
        proxies = ProxySettings(environment: environment)
    }

    /// Checks everything that is set.
    ///
    /// - Throws: `NetworkSettingsError`.
    func check() throws {
        do throws(ProxyError) { try proxies.check() } catch { throw NetworkSettingsError(error.description) }
        _ = try credentials()
        _ = try tlsConfiguration(trusting: [])
    }

    /// How requests to a URL get there.
    struct Route {
        var isEncrypted = false
        var proxy: Proxy?
    }

    /// How requests to a URL get there.
    ///
    /// - Throws: `NetworkSettingsError`.
    func route(to url: String) throws -> Route {
        // The URL of a Unix-domain socket is not a request URL.
        guard let target = try? RequestURL(url) else { return Route() }
        do throws(ProxyError) {
            return Route(isEncrypted: target.scheme.isCryptographic, proxy: try proxies.proxy(for: target))
        } catch {
            throw NetworkSettingsError(error.description)
        }
    }

    /// The configuration of a client for a route: no redirects, bounded in time.
    ///
    /// - Parameters:
    ///   - readTimeout: how long an answer may pause; `nil` for as long as its deadline allows.
    ///   - authorities: further certificates that are trusted.
    /// - Throws: `NetworkSettingsError`.
    func configuration(
        of route: Route, readTimeout: TimeAmount? = nil, trusting authorities: [NIOSSLCertificate] = []
    ) throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(5), read: readTimeout)
        // A refused connection is reported at once: a retry a moment later would be refused, too.
        configuration.connectionPool.retryConnectionEstablishment = false
        if route.isEncrypted { configuration.tlsConfiguration = try tlsConfiguration(trusting: authorities) }
        configuration.proxy = try route.proxy.map(clientProxy)
        return configuration
    }

    private func clientProxy(_ proxy: Proxy) throws -> HTTPClient.Configuration.Proxy {
        switch proxy.kind {
        case .http:
            let known = try proxy.credentials ?? credentials()
            return .server(
                host: proxy.host, port: proxy.port,
                authorization: known.map { .basic(credentials: Base64.text($0.exposedBytes)) })
        case .socks5: return .socksServer(host: proxy.host, port: proxy.port)
        }
    }

    /// The proxies through which a gateway reaches servers.
    ///
    /// - Throws: `NetworkSettingsError`.
    func gatewayProxy() throws -> @Sendable (RequestURL) -> GatewayEnvironment.UpstreamProxy? {
        for text in ["http://host.example", "https://host.example"] {
            guard let url = try? RequestURL(text), try route(to: url.description).proxy?.kind != .socks5 else {
                throw NetworkSettingsError(
                    "a gateway reaches servers through HTTP proxies only: write http://HOST:PORT in --proxy, or in the variable "
                        + "that names the SOCKS proxy")
            }
        }
        let credentials = try credentials()
        return { [self] url in
            guard let proxy = try? proxies.proxy(for: url) else { return nil }
            return GatewayEnvironment.UpstreamProxy(
                host: proxy.host, port: proxy.port, credentials: proxy.credentials ?? credentials)
        }
    }

    private func value(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// User name and password for the proxy, out of their file.
    private func credentials() throws -> Secret? {
        guard let path = value("CRUMB_PROXY_CREDENTIALS_FILE") else { return nil }
        let name = names["CRUMB_PROXY_CREDENTIALS_FILE"] ?? "--proxy-credentials-file"
        let bytes = try contents(of: path, limit: NetworkSettings.credentialsLimit, named: name)
        guard PrivateFile.isPrivate(path) || FileSystem.isSpecial(path) else {
            throw NetworkSettingsError(
                "\(name): other users can read the password in \(path); run: chmod 600 '\(path)'")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.contains(UInt8(ascii: ":")) else {
            throw NetworkSettingsError("\(name): \(path) has no line USER:PASSWORD")
        }
        return Secret(line)
    }

    // MARK: - Certificates

    /// The trust of connections: the system's authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR` in their
    /// place, and those of `--ca-file` in addition.
    func tlsConfiguration(trusting further: [NIOSSLCertificate]) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        let file = value("SSL_CERT_FILE")
        let folders = value("SSL_CERT_DIR")?.split(separator: ":").map(String.init) ?? []
        if file != nil || !folders.isEmpty {
            var roots = try file.map { try certificates(in: $0, named: "SSL_CERT_FILE") } ?? []
            if !folders.isEmpty { roots += try certificates(inFolders: folders) }
            tls.trustRoots = .certificates(roots)
        }
        var additional = further
        if let path = value("CRUMB_CA_FILE") {
            additional += try certificates(in: path, named: names["CRUMB_CA_FILE"] ?? "--ca-file")
        }
        if !additional.isEmpty { tls.additionalTrustRoots = [.certificates(additional)] }
        return tls
    }

    /// The certificates in a text, in PEM; empty if it has none, or one that cannot be read.
    static func certificates(inPEM bytes: [UInt8]) -> [NIOSSLCertificate] {
        (try? NIOSSLCertificate.fromPEMBytes(bytes)) ?? []
    }

    private func certificates(in path: String, named name: String) throws -> [NIOSSLCertificate] {
        let found = NetworkSettings.certificates(
            inPEM: try contents(of: path, limit: NetworkSettings.certificateLimit, named: name))
        guard !found.isEmpty else { throw NetworkSettingsError("\(name): \(path) has no certificates in PEM") }
        return found
    }

    /// The certificates in the files of folders. Other files there are skipped.
    private func certificates(inFolders folders: [String]) throws -> [NIOSSLCertificate] {
        // Links by the hash of a name, which OpenSSL makes, lead to files that are there under their names, too.
        let files = Set(
            folders.flatMap { folder in
                FileSystem.names(in: folder).sorted().prefix(NetworkSettings.certificateFileLimit).map {
                    FileSystem.resolved("\(folder)/\($0)")
                }
            })
        // A read of a pipe would wait for a writer.
        let found = files.sorted().filter(FileSystem.isRegular).flatMap { path in
            NetworkSettings.certificates(
                inPEM: (try? contents(of: path, limit: NetworkSettings.certificateLimit, named: "")) ?? [])
        }
        guard !found.isEmpty else {
            throw NetworkSettingsError("SSL_CERT_DIR: no certificates in PEM are in \(folders.joined(separator: ":"))")
        }
        return found
    }

    private func contents(of path: String, limit: Int, named name: String) throws -> [UInt8] {
        guard let bytes = try? FileSystem.contents(path, limit: limit + 1) else {
            throw NetworkSettingsError("\(name): \(path) cannot be read; check the path and its permissions")
        }
        guard bytes.count <= limit else { throw NetworkSettingsError("\(name): \(path) is larger than \(limit) bytes") }
        return bytes
    }
}

/// The option or variable that cannot be used: a clause without secrets.
struct NetworkSettingsError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The clients of this process, each created with its first request, so that a command without requests starts no
/// threads.
final class NetworkClients: Sendable {
    /// Those by the environment that the process was started with.
    static let shared = NetworkClients(NetworkSettings(environment: ProcessEnvironment.variables))

    let settings: NetworkSettings
    private let clients = Mutex<[String: HTTPClient]>([:])
    private let areSettingsChecked = Mutex(false)

    init(_ settings: NetworkSettings) {
        self.settings = settings
    }

    /// The client for requests to a URL, and the proxy that it uses.
    ///
    /// The first request checks all settings, those that it does not need, too: a wrong one would only be noticed with a
    /// server that is elsewhere.
    ///
    /// - Throws: `NetworkSettingsError`.
    func client(for url: String) throws -> (client: HTTPClient, proxy: Proxy?) {
        try areSettingsChecked.withLock { isChecked in
            guard !isChecked else { return }
            try settings.check()
            isChecked = true
        }
        let route = try settings.route(to: url)
        return (try client(for: route), route.proxy)
    }

    /// The client for requests that go a route.
    ///
    /// - Parameters:
    ///   - readTimeout: How long an answer may pause; `nil` for as long as its deadline allows.
    ///   - authorities: Further certificates that are trusted, in PEM.
    /// - Throws: `NetworkSettingsError`.
    func client(
        for route: NetworkSettings.Route, readTimeout: TimeAmount? = nil, trusting authorities: String = ""
    ) throws -> HTTPClient {
        let key = "\(route.isEncrypted) \(route.proxy?.address ?? "") \(readTimeout?.nanoseconds ?? 0) \(authorities)"
        return try clients.withLock { clients in
            if let client = clients[key] { return client }
            let configuration = try settings.configuration(
                of: route, readTimeout: readTimeout,
                trusting: NetworkSettings.certificates(inPEM: Array(authorities.utf8)))
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
            clients[key] = client
            return client
        }
    }

    /// Closes the connections of all clients. A client that ends without it ends the process.
    func shutDown() async {
        let ended = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        for client in ended { try? await client.shutdown() }
    }
}
