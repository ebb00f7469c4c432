import URLSessionDecoration

struct Account {
    static func main() async throws {
        let database = try SessionDatabase(path: "shop.sqlite", keys: .file("shop.key"))
        let session = DecoratedURLSession(jar: try await database.jar())

        guard let url = URL(string: "https://shop.example/account") else { return }
        let (data, response) = try await session.data(from: url)
        print(response.url ?? url, data.count, "bytes")
    }
}
