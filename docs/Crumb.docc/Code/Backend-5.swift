import AsyncHTTPClientDecoration

/// The sessions of all users.
struct Sessions {
    let database: SessionDatabase
    let client: HTTPClient

    /// The session of one user.
    func jar(of user: Int) async throws -> CookieJar {
        try await database.jar(named: "user-\(user)")
    }

    /// Requests a page with the session of a user.
    func page(_ url: String, of user: Int) async throws -> String {
        let response = try await client.execute(HTTPClientRequest(url: url), jar: try await jar(of: user))
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }

    /// Ends the session of a user: the next request carries no cookie.
    func end(of user: Int) async throws {
        _ = try await database.writing { try database.removeJar(named: "user-\(user)") }
    }
}

@main
struct Backend {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "sessions.sqlite", keys: .file("sessions.key"))
        // Crumb follows redirects itself, to store the cookies of each response.
        let configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let sessions = Sessions(database: database, client: client)

            try await withThrowingTaskGroup(of: (user: Int, page: String).self) { group in
                for user in 1...3 {
                    group.addTask { (user, try await sessions.page(CommandLine.arguments[1], of: user)) }
                }
                for try await (user, page) in group { print("user \(user): \(page)") }
            }
            try await sessions.end(of: 1)
            print("without a session: \(try await sessions.page(CommandLine.arguments[1], of: 1))")
        }
    }
}
