import OAuth2
import SessionGateway
import SessionStore

/// The examples of docs/gateway.md, which are held against it. They are compiled, not run.
enum GuideExamples {
    static func gateway(_ jar: CookieJar) async throws {
        let gateway = Gateway(jar: jar, settings: GatewaySettings(port: 8080))
        try await gateway.run { addresses in print("listening on \(addresses[0])") }
    }

    static func users(_ database: SessionDatabase) async throws {
        var generator = SystemRandomNumberGenerator()
        let (secret, hash) = GatewaySecretHash.newSecret(using: &generator)
        let ada = try GatewayUser(name: "ada", jar: try await database.jar(named: "ada"), secret: hash)
        let gateway = try Gateway(users: [ada], settings: GatewaySettings(port: 8080))
        print("ada signs in to the proxy with the password", secret.exposedText ?? "")
        try await gateway.run { addresses in print("listening on \(addresses[0])") }
    }
}
