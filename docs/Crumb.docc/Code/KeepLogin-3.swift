import URLSessionDecoration

/// A site with accounts.
struct Shop {
    let url: URL
    let session: DecoratedURLSession

    /// The account page; `nil` if the user has to log in.
    func accountPage() async throws -> String? {
        let (page, response) = try await session.data(from: url.appending(path: "account"))
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { return nil }
        return String(decoding: page, as: UTF8.self)
    }
}

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
        let shop = Shop(url: url, session: DecoratedURLSession(jar: try await database.jar()))
        print(try await shop.accountPage() ?? "log in first")
    }
}
