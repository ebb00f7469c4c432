import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import SessionOperations
import Synchronization

/// The connections of the socket and of TCP, counted separately, so that clients of a port cannot use up those of the
/// socket's owner.
struct ConnectionPools: Sendable {
    let socket: OpenConnections
    let tcp: OpenConnections

    /// - Parameter limit: How many connections of each listener are served at once.
    init(limit: Int) {
        socket = OpenConnections(limit: limit)
        tcp = OpenConnections(limit: limit)
    }

    /// How many there are.
    var count: Int { socket.count + tcp.count }

    /// Those of one listener.
    subscript(way: ListenerKind) -> OpenConnections { way.isOwners ? socket : tcp }
}

/// The connections of one listener.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many connections are served at once.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many there are.
    var count: Int { state.withLock { $0.channels.count } }

    /// Adds a connection, until it is closed.
    ///
    /// - Returns: whether the limit is exceeded, so that it cannot be served.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isRefused, isDraining) = state.withLock { state in
            state.channels[id] = channel
            return (state.channels.count > limit, state.isDraining)
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { _ = $0.channels.removeValue(forKey: id) }
        }
        if isDraining {
            // After the handlers are in their places.
            channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(MessageHandler.Drain()) }
        }
        return isRefused
    }

    /// Ends every connection after its pending requests are answered, later connections too.
    func drain() {
        let channels = state.withLock { state in
            state.isDraining = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(MessageHandler.Drain()) }
    }
}

/// The responses on connections before a request reaches a route.
extension ServiceFailure {
    static let headLate = ServiceFailure(
        .requestLate, "the request did not arrive in time")

    static let bodyLate = ServiceFailure(
        .requestLate, "the body of the request arrived too slowly; send it faster")

    static let bodyTooLarge = ServiceFailure(
        .bodyTooLarge, "the body of the request is larger than this service takes")

    static let tooManyConnections: ServiceFailure = {
        var problem = ServiceFailure(
            .connectionsExhausted, "too many connections are open; try again in a moment")
        problem.fields[.retryAfter] = "1"
        return problem
    }()

    /// A method that no path is asked for by (RFC 9110, section 15.6.2).
    static let methodUnknown = ServiceFailure(
        .methodUnknown,
        "this service does not know this method; use GET, HEAD, POST, PUT, PATCH or DELETE")

    /// A transfer coding other than "chunked" (RFC 9112, section 6.1).
    static let transferCodingUnknown = ServiceFailure(
        .transferCodingUnknown,
        "this service supports only the transfer coding 'chunked'")

    /// Creates the problem for bytes that are not a request.
    ///
    /// - Parameter head: the part that has arrived; `nil` if not known.
    init(malformed error: any Error, head: RequestHeadBytes? = nil) {
        switch error {
        case let problem as ServiceFailure: self = problem
        case HTTPParserError.invalidMethod where head?.method != nil: self = .methodUnknown
        case HTTPParserError.invalidContentLength where head?.declaresHugeBody == true: self = .bodyTooLarge
        case HTTPParserError.headerOverflow:
            self.init(
                .headerTooLarge,
                "the header fields of the request are larger than this service takes")
        default: self.init(.requestMalformed, "these bytes are not an HTTP/1.1 request")
        }
    }
}

/// The bytes of a request's head that the parser gave up on.
struct RequestHeadBytes {
    private let bytes: ByteBufferView

    init(_ bytes: ByteBufferView) {
        self.bytes = bytes
    }

    /// The method, known or not; `nil` if the bytes do not begin with one.
    var method: String? {
        let name = bytes.prefix { $0 != UInt8(ascii: " ") }
        guard name.endIndex < bytes.endIndex else { return nil }
        return HTTPRequest.Method(String(decoding: name, as: UTF8.self))?.rawValue
    }

    /// Whether the length of the body is a number, one that the parser cannot hold.
    var declaresHugeBody: Bool {
        bytes.split(separator: UInt8(ascii: "\n")).dropFirst().contains { line in
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2,
                String(decoding: parts[0], as: UTF8.self).lowercased() == HTTPField.Name.contentLength.canonicalName
            else { return false }
            let value = String(decoding: parts[1], as: UTF8.self).drop { " \t".contains($0) }
            let digits = value.prefix { $0.isASCII && $0.isNumber }
            return !digits.isEmpty && Int(digits) == nil
                && value.dropFirst(digits.count).allSatisfy { " \t\r".contains($0) }
        }
    }
}

extension HTTPFields {
    /// The length of the body, at most `Int.max`; `nil` if the request does not state it.
    var declaredLength: Int? {
        guard let text = self[.contentLength], !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(text) ?? .max
    }

    /// Whether the client waits to be told to go on before it sends the body (RFC 9110, section 10.1.1).
    var expectsContinue: Bool { self[.expect]?.lowercased() == "100-continue" }
}
