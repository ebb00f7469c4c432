import Foundation
import HTTPTypes
import OAuth2
import Synchronization

/// A token endpoint that rotates refresh tokens, and ends the login where one comes twice.
final class RotatingServer: EndpointTransport {
    struct State {
        var refreshToken = "refresh-0"
        var isAlive = true
        var used: Set<String> = []
        var requests: [String] = []
        /// When it would have been too late for each request.
        var latestSendings: [ContinuousClock.Instant?] = []
        /// How long each answer was worth waiting for.
        var answerTimeouts: [Duration?] = []
        /// What to answer instead, and whether the refresh token was rotated all the same.
        var faults: [(response: EndpointResponse?, rotates: Bool)] = []
        /// The answer to who asks for the server's keys; `nil` for none.
        var keys: EndpointResponse?
        var keyRequestCount = 0
        var pause = Duration.zero
        /// Whether the server still keeps its callers waiting.
        var isHolding: @Sendable () -> Bool = { false }
        /// What the server waits for before it answers.
        var hold: @Sendable () async -> Void = {}
    }

    let state = Mutex(State())

    var requestCount: Int { state.withLock { $0.requests.count } }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        if request.endpoint.description.hasSuffix("/keys") {
            let keys = state.withLock { state in
                state.keyRequestCount += 1
                return state.keys
            }
            guard let keys else { throw OAuth2Error(unreachable: "the cable was cut") }
            return keys
        }
        let body = String(decoding: request.exposedBody, as: UTF8.self)
        let (pause, isHolding, hold) = state.withLock { state in
            state.requests.append(body)
            state.latestSendings.append(request.latestSending)
            state.answerTimeouts.append(request.answerTimeout)
            return (state.pause, state.isHolding, state.hold)
        }
        if pause > .zero { try? await Task.sleep(for: pause) }
        await hold()
        while isHolding(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        return try answer(body)
    }

    private func answer(_ body: String) throws(OAuth2Error) -> EndpointResponse {
        let response: EndpointResponse? = state.withLock { state in
            let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
            if let fault, !fault.rotates { return fault.response }
            let answer = RotatingServer.issue(&state, body)
            return fault.map(\.response) ?? answer
        }
        guard let response else { throw OAuth2Error(unreachable: "the cable was cut") }
        return response
    }

    private static func issue(_ state: inout State, _ body: String) -> EndpointResponse {
        if body.hasPrefix("grant_type=client_credentials") || body.contains("grant-type%3Ajwt-bearer")
            || body.contains("grant-type%3Atoken-exchange")
        {
            return reply(#"{"access_token":"cc-\#(state.requests.count)","expires_in":3600}"#)
        }
        let sent = body.firstMatch(of: /refresh_token=([^&]+)/).map { String($0.1) } ?? ""
        if state.used.contains(sent) { state.isAlive = false }
        guard state.isAlive, sent == state.refreshToken else {
            return reply(#"{"error":"invalid_grant"}"#, .badRequest)
        }
        state.used.insert(sent)
        state.refreshToken = "refresh-\(state.used.count)"
        return reply(
            #"{"refresh_token":"\#(state.refreshToken)","access_token":"access-\#(state.used.count)","#
                + #""expires_in":3600}"#)
    }

    static func reply(_ body: String, _ status: HTTPResponse.Status = .ok) -> EndpointResponse {
        EndpointResponse(status: status, body: Array(body.utf8))
    }

    /// A token with these claims, and a signature that is not checked.
    static func idToken(_ claims: String, algorithm: String = "RS256") -> String {
        [#"{"alg":"\#(algorithm)"}"#, claims, "signature"].map { part in
            Data(part.utf8).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }.joined(separator: ".")
    }
}
