import Crypto
import Foundation
import HTTPTypes
import OAuth2
import OAuth2Login
import Platform
import SessionStore
import Synchronization
import Testing

/// An authorization server in this process. It checks PKCE and the redirect URI, and notes what it was asked.
final class AuthorizationServer: EndpointTransport {
    static let issuer = "https://id.test"
    static let now = Timestamp(seconds: 1_800_000_000)

    private struct State {
        var codes: [String: [String: String]] = [:]
        var asked: [(path: String, form: [String: String])] = []
        var pendingPolls = 1
        var isReachable = true
    }

    private let state = Mutex(State())

    /// The paths that were asked, in order.
    var paths: [String] { state.withLock { $0.asked.map(\.path) } }
    /// The tokens that were revoked, in order.
    var revoked: [String] {
        state.withLock { $0.asked.filter { $0.path == "/revoke" }.compactMap { $0.form["token"] } }
    }

    /// A database without logins.
    static func emptyStore() throws -> TokenStore {
        try SessionDatabase(path: "", keys: .key(SealingKey()), durability: .memory, now: now).tokens
    }

    /// A login at this server.
    func login(
        by clientID: String = "app", _ redirect: TokenLogin.Redirect = .loopback,
        clock: any Clock<Duration> = InstantClock()
    ) -> TokenLogin {
        TokenLogin(
            issuer: AuthorizationServer.issuer, clientID: clientID, scopes: ["offline_access"], redirect: redirect,
            transport: self, clock: clock, now: { AuthorizationServer.now })
    }

    /// Logs in with a redirect that the app receives, and stores the tokens.
    @discardableResult
    func logIn(_ name: String, by clientID: String = "app", in store: TokenStore) async throws -> TokenLogin {
        let login = login(by: clientID, .uri("shopapp:/cb"))
        _ = try await login.run(storingAs: name, in: store) { [self] url in
            try #require(URL(string: logIn(at: url.absoluteString)))
        }
        return login
    }

    func disconnect() {
        state.withLock { $0.isReachable = false }
    }

    /// What the user's browser does at the login page: it comes back with a code.
    ///
    /// - Returns: The redirect.
    func logIn(at page: String, state replaced: String? = nil, error: String? = nil) -> String {
        let query = Dictionary(uniqueKeysWithValues: Form.fields(of: page.drop { $0 != "?" }.dropFirst()))
        let code = "code-\(query["nonce"] ?? "")"
        state.withLock { $0.codes[code] = query }
        let answer = error.map { "error=\($0)" } ?? "code=\(code)"
        return
            "\(query["redirect_uri"] ?? "")?\(answer)&state=\(replaced ?? query["state"] ?? "")&iss=https%3A%2F%2Fid.test"
    }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        // As all transports do: a cancelled task sends nothing.
        guard !Task.isCancelled else { throw OAuth2Error(unreachable: "the request was cancelled") }
        let form = Dictionary(
            Form.fields(of: String(decoding: request.exposedBody, as: UTF8.self)[...]), uniquingKeysWith: { $1 })
        let (answer, isReachable) = state.withLock { state in
            state.asked.append((request.endpoint.path, form))
            return (AuthorizationServer.answer(to: request.endpoint.path, form, &state), state.isReachable)
        }
        guard isReachable else { throw OAuth2Error(unreachable: "the cable was cut") }
        return EndpointResponse(status: HTTPResponse.Status(code: answer.status), body: Array(answer.body.utf8))
    }

    private static func answer(
        to path: String, _ form: [String: String], _ state: inout State
    ) -> (status: Int, body: String) {
        switch path {
        case "/.well-known/oauth-authorization-server":
            let endpoints = ["authorization", "token", "device_authorization", "revocation"].map {
                #""\#($0)_endpoint":"\#(issuer)/\#($0 == "revocation" ? "revoke" : $0)""#
            }
            return (
                200,
                #"{"issuer":"\#(issuer)","authorization_response_iss_parameter_supported":true,"#
                    + "\(endpoints.joined(separator: ","))}"
            )
        case "/device_authorization":
            return (
                200,
                #"{"device_code":"dev","user_code":"AB-CD","verification_uri":"https://id.test/d","expires_in":60}"#
            )
        case "/token": return tokens(form, &state)
        case "/revoke": return (200, "")
        default: return (404, "")
        }
    }

    private static func tokens(_ form: [String: String], _ state: inout State) -> (status: Int, body: String) {
        switch form["grant_type"] {
        case "authorization_code":
            guard let query = form["code"].flatMap({ state.codes.removeValue(forKey: $0) }),
                query["redirect_uri"] == form["redirect_uri"], query["code_challenge_method"] == "S256",
                query["code_challenge"] == challenge(form["code_verifier"] ?? "")
            else { return (400, #"{"error":"invalid_grant"}"#) }
            return (200, #"{"access_token":"access-1","refresh_token":"refresh-1","expires_in":1}"#)
        case "refresh_token":
            return (200, #"{"access_token":"access-2","refresh_token":"refresh-2","expires_in":3600}"#)
        default:
            state.pendingPolls -= 1
            guard state.pendingPolls < 0 else { return (400, #"{"error":"authorization_pending"}"#) }
            return (200, #"{"access_token":"access-tv"}"#)
        }
    }

    private static func challenge(_ verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Forms, as far as these tests have them.
enum Form {
    static func fields(of text: Substring) -> [(String, String)] {
        text.split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }
}

/// A browser that follows no redirects.
enum LoopbackBrowser {
    /// An answer: its status, where it leads, and its page.
    struct Answer: Sendable {
        let status: String
        let location: String?
        let text: String
    }

    /// Gets a page of this machine, on a thread of its own.
    static func get(_ url: String) async throws -> Answer {
        let text: String? = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: exchange(url)) }
        }
        guard let text, let end = text.range(of: "\r\n\r\n") else { throw URLError(.badServerResponse) }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        return Answer(
            status: lines[0], location: lines.first { $0.hasPrefix("Location: ") }.map { String($0.dropFirst(10)) },
            text: String(text[end.upperBound...]))
    }

    private static func exchange(_ url: String) -> String? {
        guard let url = URLComponents(string: url), let port = url.port.flatMap(UInt16.init(exactly:)) else {
            return nil
        }
        let connection = socket(AF_INET, SocketKind.stream, 0)
        defer { close(connection) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let target = url.percentEncodedPath + (url.percentEncodedQuery.map { "?\($0)" } ?? "")
        let request = Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        guard isConnected, send(connection, request, request.count, 0) == request.count else { return nil }
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: octets, as: UTF8.self) }
            octets += buffer[..<count]
        }
    }
}

/// A clock that is over at once.
struct InstantClock: Clock {
    typealias Instant = ContinuousClock.Instant

    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}

/// A clock that is never over: it waits until the task is cancelled.
struct EndlessClock: Clock {
    typealias Instant = ContinuousClock.Instant

    /// An element for each wait that has begun.
    let begun: AsyncStream<Void>
    private let waits: AsyncStream<Void>.Continuation

    init() {
        (begun, waits) = AsyncStream.makeStream()
    }

    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        waits.yield()
        for await _ in AsyncStream<Never>.makeStream().stream {}
        try Task.checkCancellation()
    }
}
