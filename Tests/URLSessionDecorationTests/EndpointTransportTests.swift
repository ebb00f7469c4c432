import DecorationTestSupport
import Foundation
import OAuth2
import TestSupport
import Testing
import URLSessionDecoration

/// The contract of a transport to authorization servers, with requests over the loopback interface.
@Suite("URLSession to an authorization server")
struct EndpointTransportTests {
    /// A clock whose waits end when a test says so.
    private struct HeldClock: Clock {
        typealias Instant = ContinuousClock.Instant

        private let waits: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation

        init() {
            (waits, end) = AsyncStream.makeStream(of: Void.self)
        }

        func release() {
            end.finish()
        }

        var now: Instant { ContinuousClock.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            for await _ in waits {}
            try Task.checkCancellation()
        }
    }

    private let contract = EndpointTransportContract { try await URLSessionEndpointTransport().send($0) }

    @Test("A request arrives as it is, and its response comes with status, fields and body")
    func exchange() async throws { try await contract.exchange() }

    @Test("A redirect is a response, whatever its status", arguments: [302, 307])
    func redirect(status: Int) async throws { try await contract.redirect(status: status) }

    @Test("A body that is too long is passed on up to one byte more than the limit")
    func longBody() async throws { try await contract.longBody() }

    @Test("A response that breaks off is passed on as far as it came: it may contain the new refresh token")
    func truncation() async throws { try await contract.truncation() }

    @Test("Nothing is sent after the last moment")
    func lateness() async throws { #expect(try await contract.lateness().isEmpty) }

    @Test("A connection that is refused says so")
    func refusal() async throws { try await contract.refusal("no server can be reached there") }

    @Test("A server that stays silent is given up on, without secrets in the error", arguments: [false, true])
    func silence(isRefresh: Bool) async throws {
        let (clock, isAsked) = (HeldClock(), DispatchSemaphore(value: 0))
        let server = try LoopbackServer { _ in
            isAsked.wait()
            return .init()
        }
        defer { isAsked.signal() }
        let request = try EndpointTransportContract.request(
            "/token?hint=s3cret", at: server.port, before: isRefresh ? .now + .seconds(3600) : nil)
        let sending = Task {
            try await URLSessionEndpointTransport(clock: clock).send(request)
        }
        try await sending.wait { !server.requests.isEmpty }
        // URLSession tells a moment later that it has sent the body.
        try await Task.sleep(for: .milliseconds(300))
        clock.release()
        let error = await #expect(throws: OAuth2Error.self) { try await sending.value }
        let text = "\(try #require(error))"
        #expect(error?.code == .unreachable && text.contains("it did not answer in time") && !text.contains("s3cret"))
        #expect(text.contains("The refresh was sent") == isRefresh)
    }

    @Test("A refresh whose answer comes after its last moment for sending is awaited")
    func slowAnswer() async throws {
        // On a machine with much to do, the first moments may be over before the request is sent.
        for patience in [Duration.milliseconds(200), .seconds(5), .seconds(50)] {
            let moment = ContinuousClock.now + patience
            let server = try LoopbackServer { _ in
                while ContinuousClock.now < moment { usleep(10_000) }
                return .init(body: "{}")
            }
            let request = try EndpointTransportContract.request(at: server.port, before: moment)
            do {
                let response = try await URLSessionEndpointTransport().send(request)
                return #expect(response.exposedBody == Array("{}".utf8))
            } catch {
                try #require("\(error)".contains("nothing was sent"))
            }
        }
        Issue.record("The machine is too busy for this test.")
    }

    @Test("A request that is cancelled ends")
    func cancellation() async throws {
        let isAsked = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            isAsked.wait()
            return .init()
        }
        defer { isAsked.signal() }
        let request = try EndpointTransportContract.request(at: server.port)
        let sending = Task { try await URLSessionEndpointTransport(clock: HeldClock()).send(request) }
        try await sending.wait { !server.requests.isEmpty }
        sending.cancel()
        let error = await #expect(throws: OAuth2Error.self) { try await sending.value }
        #expect("\(try #require(error))".contains("the request was cancelled"))
    }

    @Test("A client's certificate cannot be shown, and nothing is sent without it")
    func certificate() async throws {
        let server = try LoopbackServer { _ in .init() }
        let credentials = ProfileCredentials(
            settings: ProfileSettings(grant: .authorizationCode, endpoints: [:], authenticationMethod: .tlsClientAuth),
            clientCertificate: Secret(SampleCertificate.pem + SampleCertificate.keyPEM))
        let transport = try credentials.binding(URLSessionEndpointTransport(), now: { URLSessionFixture.now })
        let request = try EndpointTransportContract.request(at: server.port)
        let error = await #expect(throws: OAuth2Error.self) { try await transport.send(request) }
        #expect(error?.code == .unusableSettings && server.requests.isEmpty)
    }
}
