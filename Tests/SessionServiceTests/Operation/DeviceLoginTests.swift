import CookieModel
import HTTPTypes
import OAuth2
import OAuth2Login
import SessionStore
import Synchronization
import Testing

/// How a login on another device waits: by the server's word, more and more, and no longer than its codes live.
@Suite("Logging in on another device")
struct DeviceLoginTests {
    /// A clock that is over at once, by which time passes all the same.
    private struct SteppingClock: Clock {
        typealias Instant = ContinuousClock.Instant

        final class Steps: Sendable {
            let waits = Mutex<[Int64]>([])
        }

        let steps = Steps()
        let now = ContinuousClock.now
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            steps.waits.withLock { $0.append((deadline - now).components.seconds) }
        }
    }

    /// Answers one after the other; `nil` is none at all. After the last, the last again.
    private final class Server: EndpointTransport {
        let answers: Mutex<[(Int, String)?]>
        let forms = Mutex<[String]>([])

        init(_ answers: [(Int, String)?]) {
            self.answers = Mutex(answers)
        }

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            forms.withLock { $0.append(String(decoding: request.exposedBody, as: UTF8.self)) }
            if request.endpoint.path == "/device" {
                let body =
                    #"{"device_code":"dev-1","user_code":"AB","verification_uri":"https://id.test/","expires_in":200}"#
                return EndpointResponse(status: .ok, body: Array(body.utf8))
            }
            let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? nil }
            guard let (status, body) = answer else { throw OAuth2Error(unreachable: "the cable was cut") }
            let fields: HTTPFields = status == 429 ? [.retryAfter: "40"] : [:]
            return EndpointResponse(status: HTTPResponse.Status(code: status), fields: fields, body: Array(body.utf8))
        }
    }

    private static let pending = (400, #"{"error":"authorization_pending"}"#)
    private static let slowDown = (400, #"{"error":"slow_down"}"#)
    private static let tokens = (200, #"{"access_token":"access-1"}"#)

    /// The waits of a login, and whether it came to tokens.
    private func waits(_ server: Server, within timeout: Int? = nil) async throws -> (
        waits: [Int64], tokens: TokenSet?, error: (any Error)?
    ) {
        let clock = SteppingClock()
        let now: @Sendable () -> Timestamp = {
            ServiceFixture.now.advanced(bySeconds: clock.steps.waits.withLock { $0.reduce(0, +) })
        }
        var request = TokenLoginRequest(name: "tv")
        request.endpoints = [.token: "https://id.test/token", .deviceAuthorization: "https://id.test/device"]
        request.clientID = "app"
        request.grant = .deviceCode
        request.resources = ["https://api.test/a", "https://api.test/b"]
        let plan = try await request.plan(try ServiceFixture().database.tokens, over: server)
        let login = LoginFlow(plan, over: server, checkingIDTokens: nil, now: now)
        let device = try await login.deviceAuthorization()
        do {
            let tokens = try await login.tokens(confirmed: device, within: timeout, clock: clock)
            return (clock.steps.waits.withLock { $0 }, tokens, nil)
        } catch {
            return (clock.steps.waits.withLock { $0 }, nil, error)
        }
    }

    @Test(
        "Each slow_down adds five seconds permanently, and each timeout doubles the wait, up to a minute",
        arguments: [
            ([pending, pending, tokens], [5, 5, 5]), ([slowDown, slowDown, pending, tokens], [5, 10, 15, 15]),
            ([nil, nil, nil, nil, tokens], [5, 10, 20, 40, 60]), ([(503, ""), slowDown, tokens], [5, 10, 15]),
            // A server that says when it wants to be asked again is asked then.
            ([(429, ""), pending, tokens], [5, 40, 40]),
        ] as [([(Int, String)?], [Int64])])
    func growth(answers: [(Int, String)?], expected: [Int64]) async throws {
        let result = try await waits(Server(answers))
        #expect(result.waits == expected && result.tokens?.accessToken == Secret("access-1"))
    }

    @Test("Unconfirmed device codes are polled until they expire, and not a second longer")
    func expiry() async throws {
        let result = try await waits(Server([DeviceLoginTests.slowDown]))
        #expect(result.waits.reduce(0, +) == 200 && result.tokens == nil)
        #expect((result.error as? LoginError)?.code.rawValue == "login-failed")
    }

    @Test(
        "A device login waits only as long as the user's timeout, even if the code is valid longer",
        arguments: [1, 12, 199, 1000])
    func timeout(seconds: Int) async throws {
        let result = try await waits(Server([DeviceLoginTests.pending]), within: seconds)
        #expect(result.waits.reduce(0, +) == min(Int64(seconds), 200) && result.tokens == nil)
        let error = try #require(result.error as? LoginError)
        #expect(
            error.code.rawValue == "login-failed" && error.commandDescription.contains("--timeout") == (seconds < 200))
    }

    @Test("A device login sends the resource of the token at the beginning, and with each poll")
    func resources() async throws {
        let server = Server([DeviceLoginTests.pending, DeviceLoginTests.tokens])
        _ = try await waits(server)
        let resources = "resource=https%3A%2F%2Fapi.test%2Fa&resource=https%3A%2F%2Fapi.test%2Fb"
        #expect(server.forms.withLock { $0.count } == 3)
        #expect(server.forms.withLock { $0.allSatisfy { $0.contains(resources) } })
    }
}
