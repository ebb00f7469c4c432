import Configuration
package import Logging
import SessionStore

/// How a ``SessionServer`` runs.
package struct ServiceConfiguration: Sendable {
    /// The database; `nil` if it is configured elsewhere.
    package var database: String?
    /// Whether an acknowledged write survives a power failure, and not just the end of the process.
    package var isFullyDurable = true
    /// The Unix-domain socket to listen on; `nil` for none.
    package var socket: String?
    /// The addresses to listen on.
    package var addresses: [TCPAddress] = []
    /// The names that requests over TCP may be for besides those of the machine itself, each with a port or for any.
    var hosts: [String] = []
    /// The URL at which browsers and clients reach the service through a proxy.
    var publicURL: PublicURL?
    /// The IP addresses of the proxies whose `X-Forwarded-For` is believed, if there is a ``publicURL``.
    var proxies = ["127.0.0.1", "::1"]
    /// The file with the certificate chain, in PEM.
    var certificateFile: String?
    /// The file with the certificate's private key, in PEM.
    var privateKeyFile: String?
    /// The file that the owner's access token is written to, if the service listens on TCP.
    package var tokenFile: String?
    /// The audit log: which caller read which secret; `nil` for none.
    var auditFile: String?
    /// How many seconds of the same caller doing the same are one line there.
    var auditSummarySeconds = 60
    /// The limits of the service.
    var limits = ServiceLimits()
    /// The limits of gateways.
    var gateways = GatewayLimits()
    /// How many entries of a jar's journal are kept.
    package var journalEntries = SessionDatabase.defaultJournalLimit
    /// The interval, in minutes, at which expired data is removed; 0 for never.
    var pruneMinutes = 60
    /// How many seconds ahead of their expiry tokens are renewed whose profile asks for that.
    var refreshAheadSeconds = 300
    /// How many seconds an authorization server has to answer a refresh. At many servers an answer that comes later has
    /// ended the login.
    var refreshTimeoutSeconds = 120
    /// The URL of the proxy that authorization servers are asked through, in the place of those in the environment's usual
    /// variables.
    package var proxy: String?
    /// The file with user name and password for the proxy.
    package var proxyCredentialsFile: String?
    /// The file with certificates in PEM that are trusted for authorization servers, besides the system's.
    package var authorityFile: String?
    /// Whether every caller may read the metrics, not only those that may read all jars.
    var publishesMetrics = false
    /// The level of the log.
    package var logLevel = Logger.Level.info

    /// A configuration that listens nowhere yet.
    package init() {}
}

extension ServiceConfiguration {
    /// Reads a configuration. The command line takes precedence over the environment, and the environment over the
    /// file.
    ///
    /// - Parameters:
    ///   - arguments: the settings of the command line, by the keys of the file; several values for a list.
    ///   - environment: variables, of which those that begin with `CRUMB_` are looked at.
    ///   - file: a JSON file; everything in it must be known.
    /// - Throws: an error that names the invalid setting.
    package init(
        arguments: [String: [String]] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws(ServiceStartError) {
        self.init()
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "command line", values: ServiceConfiguration.values(arguments)),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "crumb"),
        ]
        if let file { providers.append(InMemoryProvider(name: file, values: try ConfigurationFile(file).values)) }
        let reader = ConfigReader(providers: providers)
        for setting in ServiceSetting.all { try setting.apply(&self, reader, setting) }
    }

    private static func values(_ arguments: [String: [String]]) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for setting in ServiceSetting.all {
            guard let given = arguments[setting.key], let first = given.first else { continue }
            let content: ConfigContent = if case .texts = setting.kind { .stringArray(given) } else { .string(first) }
            values[AbsoluteConfigKey(ConfigKey(setting.key))] = ConfigValue(content, isSecret: false)
        }
        return values
    }
}

/// The limits for one connection, for one caller, and for all of them.
struct ServiceLimits: Sendable, Hashable {
    /// How many connections are open at once, over TCP and over the socket each; further ones are answered with 503.
    var connections = 4096
    /// How many bytes the fields of a request may take, its first line included.
    var headerBytes = 32 << 10
    /// How many bytes the body of a request may have; routes may ask for less.
    var bodyBytes = 1 << 30
    /// How many seconds a request's head may take to arrive, from its first byte on.
    var headerSeconds = 10
    /// How many seconds a connection may stay open without a request, and an answer may wait for its reader.
    var idleSeconds = 75
    /// How many bytes of a body must arrive in a second, on average, after the first five seconds.
    var bodyBytesPerSecond = 240
    /// How many requests a caller may make in a second, on average; 0 for any number.
    var requestsPerSecond = 0
    /// How many requests a caller may make at once before that average counts; 0 for two seconds' worth.
    var requestBurst = 0
    /// How many invalid access tokens an address may present in a minute.
    var failedAttemptsPerMinute = 20
    /// How many seconds a stopping service has to answer accepted requests.
    var shutdownSeconds = 25
}
