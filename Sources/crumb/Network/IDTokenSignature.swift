import Foundation
import HTTPTypes
import NetworkHelper
import OAuth2

/// The signature of an ID token, which the program beside `crumb` checks.
enum IDTokenSignature {
    /// Checks that one of the keys in a server's reply has signed the token.
    ///
    /// - Throws: `OAuth2Error` where none has; `Problem` where that cannot be found out.
    static func check(_ token: Secret, keys response: EndpointResponse) throws {
        let question = SignatureQuestion(
            keysStatus: response.status.code, keys: Data(response.exposedBody), token: Data(token.exposedBytes))
        let answer: HelperMessage<SignatureAnswer> = try NetworkProgram().ask(
            "verify-id-token", HelperMessage(question))
        if case .refused(let sentence) = answer.head { throw OAuth2Error(refusedIDToken: sentence) }
    }
}
