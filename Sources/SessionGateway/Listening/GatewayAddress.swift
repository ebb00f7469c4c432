import NIOCore
import Platform
public import WebPrimitives

/// An address on which a gateway listens.
public struct GatewayAddress: Sendable, Hashable, CustomStringConvertible {
    /// The name or address.
    public let host: String
    /// The port.
    public let port: Int
    /// The origin of the site that is served there, such as `https://shop.example`; `nil` for a proxy.
    public var origin: String?

    /// `HOST:PORT`, in the form for clients.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The reason why a gateway does not run.
public struct GatewayError: DescribedError, Sendable {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// The gateway cannot listen on the address.
        case addressUnavailable = "address-unavailable"
        /// Other machines could reach the address.
        case addressNotLocal = "address-not-local"
        /// The gateway can no longer accept connections.
        case listenerFailed = "listener-failed"
        /// The origins do not belong to one site.
        case originNotOfSite = "origin-not-of-site"
        /// Cookies would reach other origins, which have the same host for the client.
        case cookiesNotSeparate = "cookies-not-separate"
        /// The users are not the users of one proxy.
        case usersInvalid = "users-invalid"
        /// The file for a recording cannot be created.
        case recordingUnavailable = "recording-unavailable"
        /// The recording for a replay cannot be read.
        case replayUnreadable = "replay-unreadable"
    }

    /// The stable code.
    public let code: Code
    private let address: String
    private let reason: String

    init(code: Code, _ address: String, _ reason: String) {
        self.code = code
        self.address = address
        self.reason = reason
    }

    /// The error for an address that cannot be listened on.
    init(_ error: any Error, listeningOn address: String) {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE?: self.init(code: .addressUnavailable, address, "another program listens there")
        case EADDRNOTAVAIL?: self.init(code: .addressNotLocal, address, "this machine does not have that address")
        case let number?: self.init(code: .addressUnavailable, address, SystemError(number).message)
        case nil where error is SocketAddressError:
            self.init(code: .addressNotLocal, address, "the name cannot be resolved")
        case nil: self.init(code: .addressUnavailable, address, "\(error)")
        }
    }

    /// One sentence, with the next step.
    public var description: String {
        switch code {
        case .addressUnavailable: "cannot listen on \(address): \(reason). Choose another port, or 0 for a free one."
        case .listenerFailed: "the gateway on \(address) cannot accept connections any more: \(reason). Start it again."
        case .addressNotLocal: "cannot listen on \(address): \(reason). Use 127.0.0.1 or [::1]."
        case .originNotOfSite: "cannot offer \(address): \(reason). Run another gateway for it."
        case .cookiesNotSeparate: "cannot offer \(address) with these cookies: \(reason). Use the mode 'strip'."
        case .usersInvalid: "cannot serve users: \(reason)."
        case .recordingUnavailable: "cannot record to '\(address)': \(reason). Name a new file in a folder of yours."
        case .replayUnreadable: "cannot replay '\(address)': \(reason). Name a HAR file."
        }
    }
}
