import URLSessionDecoration

@main
struct KeptLogin {
    static func main() async throws {
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        let folder = support.appending(path: "KeptLogin")
        let database = try await SessionDatabase.open(
            path: folder.appending(path: "session.sqlite").path,
            keys: .file(folder.appending(path: "session.key").path))
        let jar = try await database.jar()
        print("opened jar '\(jar.name)'")
    }
}
