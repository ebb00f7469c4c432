public import Logging

/// How a ``SessionServer`` runs.
public struct ServiceConfiguration: Sendable {
    /// The database; `nil` where it is said elsewhere.
    public var database: String?
    /// Whether an acknowledged write survives a power failure, and not just the end of the process.
    public var isFullyDurable = true
    /// The Unix-domain socket to listen on; `nil` for none.
    public var socket: String?
    /// The addresses to listen on.
    public var addresses: [TCPAddress] = []
    /// The names that requests over TCP may be for besides those of the machine itself, each with a port or for any.
    public var hosts: [String] = []
    /// Where browsers and clients reach the service, where a proxy stands in between.
    public var publicURL: PublicURL?
    /// The IP addresses of the proxies whose `X-Forwarded-For` is believed, if there is a ``publicURL``.
    public var proxies = ["127.0.0.1", "::1"]
    /// The file with the certificate chain, in PEM.
    public var certificateFile: String?
    /// The file with the certificate's private key, in PEM.
    public var privateKeyFile: String?
    /// The file that the owner's access token is written to, where the service listens on TCP.
    public var tokenFile: String?
    /// The file that who took which secret is written to; `nil` for none.
    public var auditFile: String?
    /// How many seconds of the same caller doing the same are one line there.
    public var auditSummarySeconds = 60
    /// What the service puts up with.
    public var limits = ServiceLimits()
    /// How many minutes lie between two removals of what has expired; 0 for never.
    public var pruneMinutes = 60
    /// How many seconds ahead of their expiry tokens are renewed whose profile asks for that.
    public var refreshAheadSeconds = 300
    /// How many seconds an authorization server has to answer a refresh. At many servers an answer that comes later has
    /// ended the login.
    public var refreshTimeoutSeconds = 120
    /// The URL of the proxy that authorization servers are asked through, in the place of those in the environment's usual
    /// variables.
    public var proxy: String?
    /// The file with user name and password for the proxy.
    public var proxyCredentialsFile: String?
    /// The file with certificates in PEM that are trusted for authorization servers, besides the system's.
    public var authorityFile: String?
    /// Whether the metrics are for everyone who reaches the service, not for those only who may read all jars.
    public var publishesMetrics = false
    /// What is logged.
    public var logLevel = Logger.Level.info

    /// A configuration that listens nowhere yet.
    public init() {}
}
