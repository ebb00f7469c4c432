import AsyncHTTPClientDecoration

/// The sessions of all users.
struct Sessions {
    let database: SessionDatabase
    let client: HTTPClient

    /// Begins the session of a user who signs in.
    func begin(of user: Int) async throws {
        _ = try await database.jar(named: "user-\(user)")
    }

    /// The session of one user; `nil` if the user is signed out.
    func jar(of user: Int) async throws -> CookieJar? {
        try await database.reading { try database.existingJar(named: "user-\(user)") }
    }

    /// Requests a page with the session of a user; `nil` if the user is signed out.
    func page(_ url: String, of user: Int) async throws -> String? {
        guard let jar = try await jar(of: user) else { return nil }
        let response = try await client.execute(HTTPClientRequest(url: url), jar: jar)
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
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

            try await withThrowingTaskGroup(of: (user: Int, page: String?).self) { group in
                for user in 1...3 {
                    try await sessions.begin(of: user)
                    group.addTask { (user, try await sessions.page(CommandLine.arguments[1], of: user)) }
                }
                for try await (user, page) in group { print("user \(user): \(page ?? "signed out")") }
            }
        }
    }
}
