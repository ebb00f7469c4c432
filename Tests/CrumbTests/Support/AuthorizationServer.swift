import Foundation
import Synchronization
import TestSupport

/// An authorization server on loopback that rotates refresh tokens, and remembers what it was asked.
final class AuthorizationServer: Sendable {
    private struct State {
        var refreshToken = 0
        var revoked: [String] = []
        var devicePolls = 0
        var isAlive = true
    }

    private let server: LoopbackServer
    private let state: StateBox
    /// Where it is.
    var issuer: String { "http://127.0.0.1:\(server.port)" }
    /// The kinds of tokens that were ended, in order.
    var revoked: [String] { state.state.withLock { $0.revoked } }
    /// The forms that came in at a path, in order.
    func forms(at path: String) -> [String] {
        server.requests.filter { $0.target == path }.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// The path of every request so far.
    var paths: [String] { server.requests.map(\.target) }

    private final class StateBox: Sendable {
        let state = Mutex(State())
        let origin = Mutex("")
    }

    init() throws {
        let state = StateBox()
        self.state = state
        server = try LoopbackServer { AuthorizationServer.answer($0, state) }
        let origin = issuer
        state.origin.withLock { $0 = origin }
    }

    /// Takes no grant any more.
    func endGrants() {
        state.state.withLock { $0.isAlive = false }
    }

    /// The tokens that a login would have come to, access token expired or not.
    static func tokens(expired: Bool = false) -> String {
        #"{"access_token":"access-0","token_type":"Bearer","refresh_token":"refresh-0","scope":"a b","#
            + (expired ? #""expires_at":1000000000}"# : #""expires_in":3600}"#)
    }

    private static func answer(_ request: LoopbackServer.Request, _ box: StateBox) -> LoopbackServer.Response {
        let form = String(decoding: request.body, as: UTF8.self)
        let origin = box.origin.withLock { $0 }
        switch request.target {
        case "/.well-known/oauth-authorization-server":
            let members = [
                "token_endpoint": "token", "revocation_endpoint": "revoke", "introspection_endpoint": "introspect",
                "device_authorization_endpoint": "device", "registration_endpoint": "register",
            ].map { #""\#($0)":"\#(origin)/\#($1)""# }
            return LoopbackServer.Response(body: #"{"issuer":"\#(origin)",\#(members.joined(separator: ","))}"#)
        case "/token" where !request.text("dpop").isEmpty:
            return LoopbackServer.Response(
                body: #"{"access_token":"bound-1","token_type":"DPoP","expires_in":3600}"#)
        case "/token": return token(form, box)
        case "/register":
            guard request.text("authorization") == ["Bearer initial-token"] else {
                return LoopbackServer.Response(401, body: #"{"error":"invalid_token"}"#)
            }
            return LoopbackServer.Response(
                201,
                body: #"""
                    {"client_id":"registered-1","client_secret":"registered-s3cret","client_secret_expires_at":0,
                     "registration_access_token":"manage-s3cret","registration_client_uri":"\#(origin)/register/1"}
                    """#)
        case "/revoke":
            box.state.withLock { $0.revoked.append(form.contains("token=refresh") ? "refresh_token" : "access_token") }
            return LoopbackServer.Response(body: "")
        case "/introspect":
            return LoopbackServer.Response(
                body: #"""
                    {"active":true,"scope":"a b","client_id":"app","username":"me","sub":"s-1","aud":"api","iss":"i",
                     "exp":4000000000,"iat":1000000000}
                    """#)
        case "/device":
            return LoopbackServer.Response(
                body: #"""
                    {"device_code":"dev-1","user_code":"AB-CD","verification_uri":"\#(origin)/go","interval":1,
                     "verification_uri_complete":"\#(origin)/go?code=AB-CD","expires_in":600}
                    """#)
        default: return LoopbackServer.Response(404)
        }
    }

    private static func token(_ form: String, _ box: StateBox) -> LoopbackServer.Response {
        box.state.withLock { state in
            if form.contains("grant_type=client_credentials") {
                return LoopbackServer.Response(body: #"{"access_token":"machine-1","expires_in":3600}"#)
            }
            if form.contains("code=c-1") { return LoopbackServer.Response(body: tokens()) }
            if form.contains("grant-type%3Ajwt-bearer") {
                return LoopbackServer.Response(body: #"{"access_token":"robot-1","expires_in":3600}"#)
            }
            if form.contains("grant-type%3Atoken-exchange") {
                return LoopbackServer.Response(
                    body: #"""
                        {"access_token":"exchanged-1","token_type":"Bearer","expires_in":3600,
                         "issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}
                        """#)
            }
            if form.contains("code=code-1&") { return LoopbackServer.Response(body: tokens()) }
            if form.contains("device_code=dev-1") {
                state.devicePolls += 1
                guard state.devicePolls > 1 else {
                    return LoopbackServer.Response(400, body: #"{"error":"authorization_pending"}"#)
                }
                return LoopbackServer.Response(body: tokens())
            }
            guard state.isAlive, form.contains("refresh_token=refresh-\(state.refreshToken)") else {
                return LoopbackServer.Response(400, body: #"{"error":"invalid_grant"}"#)
            }
            state.refreshToken += 1
            let number = state.refreshToken
            return LoopbackServer.Response(
                body: #"{"access_token":"access-\#(number)","refresh_token":"refresh-\#(number)","expires_in":3600}"#)
        }
    }
}
