/// What the service puts up with from one connection, one caller, and all of them.
public struct ServiceLimits: Sendable, Hashable {
    /// How many connections are open at once, over TCP and over the socket each; whoever comes after that is answered 503.
    public var connections = 4096
    /// How many bytes the fields of a request may take, its first line included.
    public var headerBytes = 32 << 10
    /// How many bytes the body of a request may have; routes may ask for less.
    public var bodyBytes = 1 << 30
    /// How many seconds a request's head may take to arrive, from its first byte on.
    public var headerSeconds = 10
    /// How many seconds a connection may stay open without a request, and an answer may wait for its reader.
    public var idleSeconds = 75
    /// How many bytes of a body must arrive in a second, on average, after the first five seconds.
    public var bodyBytesPerSecond = 240
    /// How many requests a caller may make in a second, on average; 0 for any number.
    public var requestsPerSecond = 0
    /// How many requests a caller may make at once before that average counts; 0 for two seconds' worth.
    public var requestBurst = 0
    /// How many access tokens that are none an address may show in a minute.
    public var failedAttemptsPerMinute = 20
    /// How many seconds requests that were accepted have to be answered in when the service stops.
    public var shutdownSeconds = 25

    /// The limits where nothing else is said.
    public init() {}
}
