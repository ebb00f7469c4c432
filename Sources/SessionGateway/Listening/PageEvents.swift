import CookieModel
import Crypto
import HTTPMessages
import NIOCore
import Synchronization
public import WebPrimitives

/// An event that a page sends to the program that runs the gateway.
public struct PageEvent: Sendable {
    /// When it arrived.
    public let time: Timestamp
    /// The origin of the page.
    public let origin: String
    /// The query of the URL, as it was sent.
    public let query: Octets
    /// The body.
    public let body: [UInt8]
    /// The name of the user; `nil` if the gateway has no users.
    public internal(set) var user: String?
}

/// The address to which pages of https sites send events: a path, the same on each host, that the gateway answers
/// itself. The gateway decrypts the requests to the host, or serves the site at a local address.
///
/// The path cannot be guessed. In addition, the cookies of a request must show that no page of another site has sent
/// it, so knowing the path does not help a frame with an advertisement.
final class PageEvents: Sendable {
    /// The maximum number of octets in the body of an event.
    static let bodyLimit = 16 << 10
    /// How many events may come at once, and how many per second on average.
    private static let burst: Int64 = 100
    private static let rate: Int64 = 20

    /// The path.
    let path: String
    private let receive: @Sendable (PageEvent) -> Void
    /// The time from which the full number of events may come at once.
    private let full = Mutex(Timestamp.distantPast)

    /// - Parameters:
    ///   - path: The path; `nil` for a new one.
    ///   - receive: Receives each event. It must not block.
    init(at path: String? = nil, _ receive: @escaping @Sendable (PageEvent) -> Void) {
        self.path = path ?? PageEvents.newPath()
        self.receive = receive
    }

    private static func newPath() -> String {
        let secret = SymmetricKey(size: .bits128).withUnsafeBytes { Hexadecimal.text($0) }
        return "/.well-known/crumb/\(secret)"
    }

    /// Whether a request goes to the address.
    func contains(_ url: RequestURL) -> Bool {
        url.scheme.isCryptographic && url.path == Octets(path)
    }

    /// Whether the fields of a request name a page of the same site.
    ///
    /// The witnesses alone do not show it: WebKit sends a site's Strict cookies with a request of another site's frame,
    /// too, if the page around the frame is the site's.
    ///
    /// - Parameters:
    ///   - site: The value of `Sec-Fetch-Site`; older engines have none, and name the page with `Origin`.
    ///   - origin: The value of `Origin`.
    static func isOfSite(_ url: RequestURL, fetchSite site: String?, origin: String?) -> Bool {
        if let site { return site == "same-origin" || site == "same-site" }
        return origin == url.origin
    }

    /// The reason why an event is not accepted; `nil` if it is.
    ///
    /// - Parameter isOfSite: Whether the request's fields name a page of the same site.
    func refusal(
        _ method: String, _ verdict: EngineVerdict?, isOfSite: Bool, now: Timestamp
    ) -> GatewayFailure? {
        guard isOfSite, verdict?.source == .witness, verdict?.classes.contains(.strict) == true else {
            return GatewayFailure(
                .httpRequestDenied, 403, "the event is not known to be of a page of the site itself",
                nextStep: "Send it from a page of this host, with its cookies: fetch(path, {method: 'POST'}).")
        }
        guard method == "GET" || method == "POST" else {
            return GatewayFailure(
                .httpRequestDenied, 405, "events are sent with GET or POST", nextStep: "Use POST for one with a body.")
        }
        let isInTime = full.withLock { full in
            // A time far in the future is from before the clock was set back.
            let interval = 1_000_000 / PageEvents.rate
            let span = PageEvents.burst * interval
            let isOfFormerClock = full.microseconds > now.microseconds + span
            let begin = isOfFormerClock ? now.microseconds : max(full.microseconds, now.microseconds)
            guard begin + interval - now.microseconds <= span else { return false }
            full = Timestamp(microseconds: begin + interval)
            return true
        }
        guard isInTime else {
            return GatewayFailure(
                .httpRequestDenied, 429, "too many events come at once", nextStep: "Send several as one.")
        }
        return nil
    }

    /// Passes an event on.
    func take(_ body: [UInt8], of request: ForwardedRequest, now: Timestamp) {
        receive(PageEvent(time: now, origin: request.url.origin, query: Octets(request.url.query), body: body))
    }
}

extension ClientConnection {
    /// Answers a request with an event of a page.
    ///
    /// - Returns: Whether the connection can be used for another request.
    func take(
        _ events: PageEvents, _ request: ForwardedRequest, _ verdict: EngineVerdict?
    ) async throws -> Bool {
        func field(_ name: StaticString) -> String? {
            request.head.values(name).first.map { String(decoding: $0, as: UTF8.self) }
        }
        let isOfSite = PageEvents.isOfSite(request.url, fetchSite: field("sec-fetch-site"), origin: field("origin"))
        if let failure = events.refusal(request.method, verdict, isOfSite: isOfSite, now: gate.now()) { throw failure }
        let body = request.framing == .none ? [] : try await eventBody(request)
        events.take(body, of: request, now: gate.now())
        let keepsConnection = request.keepsConnection && !isStopping
        try await client.write(
            ByteBuffer(
                string: "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n"
                    + (keepsConnection ? "" : "Connection: close\r\n") + "\r\n"))
        return keepsConnection
    }

    private func eventBody(_ request: ForwardedRequest) async throws -> [UInt8] {
        await client.beginBody(request.framing)
        var body: [UInt8] = []
        while true {
            let piece: BodyReader.Piece
            do {
                piece = try await client.nextPiece(within: limits.head)
            } catch let error as MessageError {
                throw GatewayFailure.requestInvalid(error)
            }
            guard case .data(let data) = piece else { return body }
            body += Array(buffer: data)
            guard body.count <= PageEvents.bodyLimit else {
                throw GatewayFailure(
                    .httpRequestDenied, 413, "the event has more than \(PageEvents.bodyLimit) octets",
                    nextStep: "Send less with one event.")
            }
        }
    }
}
