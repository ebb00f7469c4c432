import CookieModel
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuth2
import RequestDecoration
import SessionStore
import Testing

@testable import SessionService

/// A service over a database in memory, for callers of any grant.
///
/// It has two jars with a cookie or three, a saved session, and a token.
struct ServiceFixture {
    static let now = Timestamp(seconds: 1_800_000_000)
    /// What no answer to a caller without `secrets` may hold.
    static let secrets = [
        "cookie-secret", "access-secret", "refresh-secret", "client-secret", "field-secret", "storage-secret",
        "id-token-secret",
    ]

    /// An ID token that lives long, with a secret in the place of its signature.
    static let idToken =
        [#"{"alg":"RS256"}"#, #"{"iss":"https://id.test","sub":"me","aud":"app","exp":4000000000}"#]
        .map { Data($0.utf8).base64EncodedString().replacing("=", with: "") + "." }.joined() + "id-token-secret"

    let database: SessionDatabase
    let api: SessionAPI
    let server: AuthorizationServer
    let gateways: PretendedGateways

    /// - Parameters:
    ///   - transport: What answers for authorization servers; `nil` for ``server``.
    ///   - clock: The clock that measures waits.
    ///   - logins: The logins in progress; `nil` for none.
    init(
        transport: (any EndpointTransport)? = nil, clock: any Clock<Duration> = ImmediateClock(),
        logins: LoginRegistry? = nil
    ) throws {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        self.init(
            over: try SessionDatabase(path: "", keys: .key(key), durability: .memory, now: Self.now),
            transport: transport, clock: clock, logins: logins
        ) { Self.now }
        try Self.fill(database)
    }

    /// A service over a database that is left as it is.
    init(
        over database: SessionDatabase, transport: (any EndpointTransport)? = nil, clock: any Clock<Duration>,
        logins: LoginRegistry? = nil,
        environment: @escaping @Sendable (String) -> String? = { _ in nil }, now: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        server = AuthorizationServer()
        let gateways = PretendedGateways()
        self.gateways = gateways
        var following = ChangeFollowing()
        following.interval = .milliseconds(1)
        following.heartbeat = 1
        api = SessionAPI(
            database: database,
            tokens: TokenAPI(
                database.tokens, transport: transport ?? server, callback: "http://127.0.0.1/v1/logins/callback",
                clock: clock, now: now),
            following: following, logins: logins,
            gateways: GatewayRegistry(limits: PretendedGateways.limits) { try await gateways.run($0) },
            environment: environment, now: now)
    }

    /// The logins of a database, whose servers are pretended.
    static func tokens(of database: SessionDatabase) -> TokenAPI {
        TokenAPI(database.tokens, transport: AuthorizationServer()) { now }
    }

    /// Puts in what every test finds there.
    static func fill(_ database: SessionDatabase) throws {
        try fill("default", of: database)
        try fill("other", of: database)
        try database.tokens.put(
            TokenSet(
                accessToken: Secret("access-secret"), refreshToken: Secret("refresh-secret"),
                idToken: Secret(idToken), receivedAt: Self.now.advanced(bySeconds: -7200),
                accessTokenExpiry: Self.now.advanced(bySeconds: 3600)),
            for: Profile(id: ProfileID(issuer: "https://id.test", clientID: "app"), name: "work"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(
                    grant: .authorizationCode,
                    endpoints: [
                        .token: "https://id.test/token", .revocation: "https://id.test/revoke",
                        .deviceAuthorization: "https://id.test/device",
                        .authorization: "https://id.test/authorize",
                    ], authenticationMethod: .clientSecretPost), clientSecret: Secret("client-secret")),
            now: Self.now)
    }

    private static func fill(_ name: String, of database: SessionDatabase) throws {
        let jar = try database.jar(named: name, now: Self.now)
        let context = CookieModel.RequestContext(url: try RequestURL("https://www.example.com/"))
        try jar.receive(
            ReceivedResponse(
                context: context,
                setCookie: [
                    "sid=cookie-secret; Path=/; Secure; HttpOnly", "lax=cookie-secret; Path=/; Max-Age=3600",
                    "deep=cookie-secret; Path=/deep",
                ]), now: Self.now)
        _ = try jar.withBatch(now: Self.now) { batch throws(SessionStoreError) in
            guard let item = WebStorageItem(origin: "https://www.example.com", key: "token", value: "storage-secret")
            else { return }
            _ = try batch.receive(item)
        }
        try jar.saveSession(named: "monday", now: Self.now)
        try jar.setLoginRule(
            LoginRule(
                scope: "https://www.example.com/", signs: LoginRule.Signs(statuses: [401, 419], redirects: ["/login"]),
                profile: "work",
                delivery: .cookie(try CookieTemplate("session={access_token}; Path=/; Secure; HttpOnly"))),
            named: "main")
        try jar.setFieldRule(
            FieldRule(name: "X-Key", value: Secret("field-secret"), scope: try URLScope("https://api.test/v2")))
    }

    /// Sends requests as a caller with a grant.
    func run<Result: Sendable>(
        _ grant: AccessGrant = .everything, name: String = "test",
        _ body: @Sendable @escaping (ServiceClient) async throws -> Result
    ) async throws -> Result {
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCaller(caller: Caller(name: name, grant: grant)))
        api.addRoutes(to: router)
        return try await Application(router: router).test(.router) { client in
            try await body(ServiceClient(client: client))
        }
    }
}

/// Says of every request that it is from one caller.
struct EveryCaller: RouterMiddleware {
    let caller: Caller

    func handle(
        _ request: Request, context: ServiceRequestContext,
        next: @concurrent (Request, ServiceRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.caller = caller
        return try await next(request, context)
    }
}

/// Sends requests, and takes their answers apart.
struct ServiceClient: Sendable {
    let client: any TestClientProtocol

    func send(
        _ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil, type: String = "application/json",
        fields: HTTPFields = [:]
    ) async throws -> ServiceAnswer {
        try await send(method, uri, bytes: body.map { Array($0.utf8) }, type: type, fields: fields)
    }

    func send(
        _ method: HTTPRequest.Method, _ uri: String, bytes: [UInt8]?, type: String = "application/octet-stream",
        fields: HTTPFields = [:]
    ) async throws -> ServiceAnswer {
        var fields = fields
        if bytes != nil { fields[.contentType] = type }
        return try await client.execute(
            uri: uri, method: method, headers: fields, body: bytes.map { ByteBuffer(bytes: $0) }
        ) { response in
            ServiceAnswer(
                status: response.status.code, fields: response.headers, text: String(buffer: response.body))
        }
    }
}

/// An answer of the service.
struct ServiceAnswer: Sendable {
    let status: Int
    let fields: HTTPFields
    let text: String

    var mediaType: String { fields[.contentType].map { String($0.prefix { $0 != ";" }) } ?? "" }

    /// The JSON, of any kind.
    var json: Any? { try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) }

    /// The JSON as an object.
    var object: [String: Any] { json as? [String: Any] ?? [:] }

    /// The code of the problem; `nil` where it is none.
    var code: String? { mediaType == "application/problem+json" ? object["code"] as? String : nil }

    /// Whether the text is what the encoder writes of a type: no member more, none less, in the same order.
    func isEncoded<Document: Codable>(as type: Document.Type) throws -> Bool {
        let bytes = Array(text.utf8)
        return JSONText.of(try JSONDecoder().decode(type, from: Data(bytes))) == bytes
    }
}

/// A clock on which every wait is over at once.
struct ImmediateClock: Clock {
    typealias Instant = ContinuousClock.Instant

    var now: Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        await Task.yield()
    }
}
