// 6: the gateway in a program: one port, two users, each with a jar.
import AppSupport
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OAuth2
import SessionGateway
import SessionStore
import WebPrimitives

@main
struct GatewayUsers {
    static func main() async throws {
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
        var generator = SystemRandomNumberGenerator()
        var users: [GatewayUser] = []
        var passwords: [String: String] = [:]
        for name in ["ada", "ben"] {
            let (secret, hash) = GatewaySecretHash.newSecret(using: &generator)
            users.append(try GatewayUser(name: name, jar: try await database.jar(named: name), secret: hash))
            passwords[name] = secret.exposedText
        }
        var settings = GatewaySettings()
        settings.client = .tool
        let gateway = try Gateway(users: users, settings: settings)
        let (addresses, continuation) = AsyncStream.makeStream(of: GatewayAddress.self)
        let running = Task { try await gateway.run { continuation.yield($0[0]) } }
        var iterator = addresses.makeAsyncIterator()
        guard let address = await iterator.next() else { return }

        // Clients have no cookies of their own: the next one, of another process, is signed in, too.
        for (name, password) in passwords {
            let credentials = HTTPClient.Authorization.basic(username: name, password: password)
            let client = HTTPClient(
                configuration: HTTPClient.Configuration(
                    proxy: .server(host: address.host, port: address.port, authorization: credentials)))
            let before = try await client.get(url: Server.site + "/account").get()
            expect(before.status.code, 401, "\(name) has no session of another user")
            _ = try await client.post(url: Server.site + "/login", body: .string("user=\(name)")).get()
            let account = try await client.get(url: Server.site + "/account").get()
            expect(
                account.body.map { String(buffer: $0) }, "\(name), 1 login", "the gateway has the session of \(name)")
            try await client.shutdown()
        }
        let stranger = try await HTTPClient.shared.get(url: "http://\(address)/").get()
        expect(stranger.status.code, 407, "nobody else uses the gateway")
        running.cancel()
        try await running.value
    }
}
