import CookieModel
import Foundation
import OAuth2
import SessionGateway
import SessionStore
import Testing

/// A user of a gateway, with the secret.
struct TestUser: Sendable {
    let user: GatewayUser
    let secret: String

    /// The field line with the credentials.
    var field: String { TestUser.field(user.name, secret) }

    static func field(_ name: String, _ secret: String) -> String {
        "Proxy-Authorization: Basic \(Data("\(name):\(secret)".utf8).base64EncodedString())\r\n"
    }
}

extension GatewayFixture {
    /// A user with a jar of the same name, which has the cookie `user=NAME` for a URL.
    func user(_ name: String, at url: String) throws -> TestUser {
        let jar = try jar.database.jar(named: name, now: .now)
        _ = try jar.receive(
            ReceivedResponse(context: RequestContext(url: RequestURL(url)), setCookie: [Octets("user=\(name)")]),
            now: .now)
        var generator = SystemRandomNumberGenerator()
        let (secret, hash) = GatewaySecretHash.newSecret(using: &generator)
        return TestUser(
            user: try GatewayUser(name: name, jar: jar, secret: hash), secret: try #require(secret.exposedText))
    }
}
