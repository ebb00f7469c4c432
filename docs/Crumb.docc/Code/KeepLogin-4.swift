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

    /// Logs in. The jar stores the cookies of the response.
    func logIn(name: String, password: String) async throws {
        var form = URLComponents()
        form.queryItems = [URLQueryItem(name: "name", value: name), URLQueryItem(name: "password", value: password)]
        var request = URLRequest(url: url.appending(path: "login"))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        let body = (form.percentEncodedQuery ?? "").replacing("+", with: "%2B")
        request.httpBody = Data(body.utf8)
        _ = try await session.data(for: request)
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
        if let page = try await shop.accountPage() { return print(page) }
        print("Name and password, on a line each:")
        try await shop.logIn(name: readLine() ?? "", password: readLine() ?? "")
        print(try await shop.accountPage() ?? "The shop does not know this name and password.")
    }
}
