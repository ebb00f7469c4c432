import Foundation
import HTTPTypes
import Testing

@testable import OAuth2

/// One test for each way on which a secret could come to light unasked.
@Suite("Secret does not leak")
struct SecretLeakTests {
    private static let text = "s3cr3t-VALUE"
    private let secret = Secret(SecretLeakTests.text)

    private struct Login {
        let user = "alice"
        let password: Secret
        var previous: [Secret?] = []
        var named: [String: Secret] = [:]
    }
    private enum Step { case token(Secret, label: String) }
    private struct Failure: Error { let token: Secret }
    private final class Session {
        let token: Secret
        init(_ token: Secret) { self.token = token }
    }

    private func expectNothing(in text: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(!text.contains(Self.text), sourceLocation: location)
        #expect(!text.contains(Data(Self.text.utf8).base64EncodedString()), sourceLocation: location)
        // Arrays of bytes print as numbers.
        #expect(!text.contains("115, 51, 99"), sourceLocation: location)
    }

    @Test("A secret does not leak in print")
    func printed() {
        var output = ""
        print(secret, to: &output)
        #expect(output == "<redacted>\n")
        debugPrint(secret, to: &output)
        #expect(output == "<redacted>\n<redacted>\n")
    }

    @Test("A secret does not leak in interpolation and descriptions")
    func interpolated() {
        #expect("\(secret)" == "<redacted>")
        #expect("\(secret as Any)" == "<redacted>")
        #expect("\(Optional(secret) as Any)" == "Optional(<redacted>)")
        #expect(String(describing: secret) == "<redacted>")
        #expect(String(reflecting: secret) == "<redacted>")
        #expect(secret.playgroundDescription as? String == "<redacted>")
        expectNothing(in: "\([secret]) \(["a": secret]) \((1, secret))")
    }

    @Test("A secret does not leak in dump and through a mirror")
    func reflected() {
        var output = ""
        dump(secret, to: &output)
        expectNothing(in: output)
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(Mirror(reflecting: secret).superclassMirror == nil)
        #expect(Mirror(reflecting: secret).descendant("storage") == nil)
        #expect(Mirror(reflecting: secret).descendant(0) == nil)
    }

    @Test("A secret does not leak when nested in structs, enums, classes, tuples and collections")
    func nested() {
        let login = Login(password: secret, previous: [secret, nil], named: ["old": secret])
        let values: [Any] = [
            login, Step.token(secret, label: "x"), Session(secret), (secret, 1), [secret], ["k": secret],
            Optional(secret) as Any, Result<Secret, Failure>.success(secret), [login, login],
        ]
        for value in values { expectNothing(in: shown(value)) }
        #expect(shown(login).contains("alice"))
    }

    @Test("A secret does not leak in errors, including bridged ones")
    func errors() {
        let error = Failure(token: secret)
        expectNothing(in: shown(error))
        expectNothing(in: error.localizedDescription)
        let bridged = error as NSError
        expectNothing(in: "\(bridged) \(bridged.debugDescription) \(bridged.userInfo)")
        expectNothing(in: shown(Result<Int, Failure>.failure(error)))
    }

    @Test("A secret does not leak when boxed as an object")
    func boxed() {
        expectNothing(in: "\(secret as AnyObject)")
        expectNothing(in: shown(secret as AnyObject))
    }

    @Test("A secret does not leak in JSON: it cannot be encoded")
    func encoding() {
        #expect(!((secret as Any) is any Encodable))
        #expect(!JSONSerialization.isValidJSONObject(["token": secret]))
    }

    @Test("A secret does not leak as the text of a losslessly convertible or streamed value")
    func conversions() {
        #expect(!((secret as Any) is any TextOutputStreamable))
        #expect(!((secret as Any) is any LosslessStringConvertible))
        #expect(!((secret as Any) is any Sequence))
    }

    @Test("A secret does not leak from types that contain secrets")
    func ownTypes() throws {
        let tokens = TokenSet(
            accessToken: secret, refreshToken: secret, idToken: secret, receivedAt: now, accessTokenExpiry: after(60))
        let authentications: [ClientAuthentication] = [
            .clientSecretBasic(clientID: "app", secret: secret), .clientSecretPost(clientID: "app", secret: secret),
        ]
        expectNothing(in: shown(tokens))
        for authentication in authentications {
            let grant = RefreshGrant(
                tokenEndpoint: try EndpointURL("https://issuer.example/token"), authentication: authentication)
            expectNothing(in: shown(authentication))
            expectNothing(in: shown(grant))
            expectNothing(in: shown(try grant.request(refreshing: tokens)))
        }
    }
}
