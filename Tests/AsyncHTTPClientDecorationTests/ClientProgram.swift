import AsyncHTTPClientDecoration

struct Orders {
    static func main() async throws {
        let database = try SessionDatabase(path: "shop.sqlite", keys: .file("shop.key"))
        let jar = try await database.jar()
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

        let request = HTTPClientRequest(url: "https://shop.example/orders")
        let response = try await client.execute(request, jar: jar, timeout: .seconds(30))
        print(response.status, String(buffer: try await response.body.collect(upTo: 1 << 20)))
        try await client.shutdown()
    }
}
