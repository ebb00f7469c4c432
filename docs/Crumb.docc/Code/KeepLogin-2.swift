import URLSessionDecoration

@main
struct KeptLogin {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            return print("usage: kept-login URL")
        }
        let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        let folder = support.appending(path: "KeptLogin")
        let database = try await SessionDatabase.open(
            path: folder.appending(path: "session.sqlite").path,
            keys: .file(folder.appending(path: "session.key").path))
        let session = DecoratedURLSession(jar: try await database.jar())
        let (page, _) = try await session.data(from: url.appending(path: "account"))
        print(String(decoding: page, as: UTF8.self))
    }
}
