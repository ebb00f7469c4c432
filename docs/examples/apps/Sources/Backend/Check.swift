import AppSupport
import AsyncHTTPClientDecoration
import Hummingbird
import HummingbirdTesting

@main
struct Check {
    static func main() async throws {
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let database = try await SessionDatabase.open(path: "users.sqlite", keys: .file("users.key"))
        let calls = Calls(database: database, client: client)
        let router = Router()
        router.post(":user/login") { try await calls.logIn($1.parameters.require("user")) }
        router.get(":user/account") { try await calls.account(of: $1.parameters.require("user")) }
        try await Application(router: router).test(.router) { backend in
            try await withThrowingDiscardingTaskGroup { group in
                for user in (1...100).map({ "user\($0)" }) {
                    group.addTask {
                        let before = try await backend.execute(uri: "/\(user)/account", method: .get)
                        expect(before.status.code, 401, "the user is not signed in")
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
