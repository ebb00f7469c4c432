import CookieModel
import HTTPTypes
import OAuth2
import Synchronization

/// An authorization server with a gate before its token endpoint.
final class SlowServer: EndpointTransport {
    private let state = Mutex((isAsked: [CheckedContinuation<Void, Never>](), isOpen: false, paths: [String]()))
    private let asked = AsyncStream.makeStream(of: Void.self)
    private let answer: (status: HTTPResponse.Status, body: String)

    /// - Parameter answer: What the token endpoint answers.
    init(
        answer: (status: HTTPResponse.Status, body: String) = (
            .ok, #"{"access_token":"access-2","refresh_token":"refresh-2","expires_in":60}"#
        )
    ) {
        self.answer = answer
    }

    var paths: [String] { state.withLock { $0.paths } }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let path = request.endpoint.path
        state.withLock { $0.paths.append(path) }
        guard path == "/token" else {
            let device =
                #"{"device_code":"d","user_code":"AB-CD","verification_uri":"https://id.test/","expires_in":600}"#
            return EndpointResponse(status: .ok, body: Array((path == "/device" ? device : "").utf8))
        }
        asked.continuation.yield()
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.isAsked.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        return EndpointResponse(status: answer.status, body: Array(answer.body.utf8))
    }

    /// Waits for a request to the token endpoint.
    func awaitRequest() async {
        for await _ in asked.stream { return }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.isAsked = [] }
            return state.isAsked
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// A clock on which every wait is over at once, and which tells of each wait.
final class SteppingClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let waits = AsyncStream.makeStream(of: Void.self)
    private let elapsed = Mutex(Duration.zero)
    /// Whether time passes while someone waits.
    let passes: Bool

    init(passes: Bool = false) {
        self.passes = passes
    }

    var now: Instant { .now }
    var minimumResolution: Duration { .zero }

    /// The time of the service that uses the clock.
    var time: Timestamp { ServiceFixture.now.advanced(by: elapsed.withLock { $0 }) }

    func advance(by duration: Duration) {
        elapsed.withLock { $0 += duration }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        if passes { advance(by: deadline - .now) }
        waits.continuation.yield()
        await Task.yield()
    }

    /// Waits for a wait.
    func awaitWait() async {
        for await _ in waits.stream { return }
    }
}
