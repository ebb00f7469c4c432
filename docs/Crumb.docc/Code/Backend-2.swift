import AsyncHTTPClientDecoration

/// The sessions of all users.
struct Sessions {
    let database: SessionDatabase

    /// The session of one user.
    func jar(of user: Int) async throws -> CookieJar {
        try await database.jar(named: "user-\(user)")
    }
}

@main
struct Backend {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "sessions.sqlite", keys: .file("sessions.key"))
        let sessions = Sessions(database: database)
        let jar = try await sessions.jar(of: 1)
        print("user 1 has jar '\(jar.name)'")
    }
}
