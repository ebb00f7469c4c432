import AppSupport
import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import Hummingbird
import HummingbirdTesting
import SessionClient

@main
struct Check {
    static func main() async throws {
        let token = try String(contentsOfFile: Server.variable("CRUMB_SERVICE_TOKEN_FILE"), encoding: .utf8)
        let service = SessionClient(
            try SessionAddress(Server.variable("CRUMB_SERVICE")),
            token: token.trimmingCharacters(in: .whitespacesAndNewlines), over: HTTPClientTransport())
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let calls = Calls(service: service, client: client)
        let router = Router()
        router.post(":user/login") { try await calls.logIn($1.parameters.require("user")) }
        router.get(":user/account") { try await calls.account(of: $1.parameters.require("user")) }
        try await Application(router: router).test(.router) { backend in
            try await withThrowingDiscardingTaskGroup { group in
                for user in (1...100).map({ "user\($0)" }) {
                    group.addTask {
                        let login = try await backend.execute(uri: "/\(user)/login", method: .post)
                        expect(String(buffer: login.body), "\(user), 1 login", "the user logs in")
                        let account = try await backend.execute(uri: "/\(user)/account", method: .get)
                        expect(String(buffer: account.body), "\(user), 1 login", "the user has an own session")
                    }
                }
            }
        }
        try await client.shutdown()
    }
}
