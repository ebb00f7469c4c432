import HTTPTypes
import OAuth2
import Synchronization

/// An authorization server that gives what is asked for, or what a test says.
final class AuthorizationServer: EndpointTransport {
    private let answers = Mutex<[String: (status: Int, body: String)]>([
        "/token": (200, #"{"access_token":"access-secret-2","token_type":"Bearer","expires_in":3600}"#),
        "/revoke": (200, ""),
        "/device": (
            200,
            #"{"device_code":"device-secret","user_code":"WDJB-MJHT","verification_uri":"https://id.test/d","expires_in":600}"#
        ),
    ])
    private let asked = Mutex<[String]>([])

    /// The paths that were asked for, in order.
    var paths: [String] { asked.withLock { $0 } }

    func answer(_ path: String, _ status: Int, _ body: String) {
        answers.withLock { $0[path] = (status, body) }
    }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let path = request.endpoint.path
        asked.withLock { $0.append(path) }
        guard let answer = answers.withLock({ $0[path] }) else {
            throw OAuth2Error(unreachable: "there is nobody at \(path)")
        }
        return EndpointResponse(
            status: HTTPResponse.Status(code: answer.status), fields: [.contentType: "application/json"],
            body: Array(answer.body.utf8))
    }
}
