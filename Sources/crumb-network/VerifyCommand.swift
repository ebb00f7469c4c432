import ArgumentParser
import Foundation
import HTTPTypes
import NetworkHelper
import OAuth2
import OpenIDConnect

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-id-token",
        abstract: "Check the signature of the ID token on standard input by the keys that are there, too.",
        shouldDisplay: false)

    /// A key set and a token at their largest, in base64.
    private static let inputLimit = 4 << 20

    func run() async throws {
        guard
            let question = HelperMessage<SignatureQuestion>(
                parsing: try StandardStreams.input(limit: VerifyCommand.inputLimit))?.head
        else { throw ValidationError("There is no ID token on standard input.") }
        try StandardStreams.write(try HelperMessage(await VerifyCommand.answer(question)).bytes)
    }

    private static func answer(_ question: SignatureQuestion) async -> SignatureAnswer {
        let response = EndpointResponse(
            status: HTTPResponse.Status(code: question.keysStatus), body: Array(question.keys))
        do {
            _ = try await IDTokenVerifier(keys: response).claims(in: Secret(Array(question.token)))
            return .verified
        } catch {
            return .refused(error.description)
        }
    }
}
