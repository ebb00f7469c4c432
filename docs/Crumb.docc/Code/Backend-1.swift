import AsyncHTTPClientDecoration

@main
struct Backend {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "sessions.sqlite", keys: .file("sessions.key"))
        print("sessions are stored in \(database.path)")
    }
}
