import CookieModel
import Platform
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The request of kubectl to a credential plugin, in the variable `KUBERNETES_EXEC_INFO`.
struct ExecCredentialRequest {
    static let variable = "KUBERNETES_EXEC_INFO"
    private static let group = "client.authentication.k8s.io"
    private static let versions = ["v1", "v1beta1"]

    /// The version of the answer: kubectl takes no other than the one that it asked for.
    let apiVersion: String
    /// Whether the user can be asked to log in.
    let isInteractive: Bool

    private struct Document: Decodable {
        struct Spec: Decodable {
            let interactive: Bool?
        }

        let kind: String
        let apiVersion: String
        let spec: Spec?
    }

    /// The request in an environment.
    ///
    /// Without one, the answer is for kubectl 1.19 and older, which only know v1beta1, and no user is asked to log in.
    ///
    /// - Throws: `CommandFailure` if the variable holds something else, or a version that is not supported.
    init(environment: [String: String] = ProcessEnvironment.variables) throws {
        guard let text = environment[ExecCredentialRequest.variable], !text.isEmpty else {
            (apiVersion, isInteractive) = ("\(ExecCredentialRequest.group)/v1beta1", false)
            return
        }
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(text.utf8)),
            document.kind == "ExecCredential"
        else {
            throw CommandFailure(
                .tokenSettingsInvalid,
                "\(ExecCredentialRequest.variable) contains no ExecCredential; unset it, or run this command "
                    + "from kubectl")
        }
        let supported = ExecCredentialRequest.versions.map { "\(ExecCredentialRequest.group)/\($0)" }
        guard supported.contains(document.apiVersion) else {
            throw CommandFailure(
                .tokenSettingsInvalid,
                "\(ExecCredentialRequest.variable) asks for \(document.apiVersion), which is not supported; set apiVersion "
                    + "in the kubeconfig's exec entry to \(supported.joined(separator: " or "))")
        }
        (apiVersion, isInteractive) = (document.apiVersion, document.spec?.interactive == true)
    }

    /// The answer with a token.
    ///
    /// - Parameters:
    ///   - expires: When the token ends, by RFC 3339; `nil` if that is unknown.
    ///   - skew: How many seconds before that kubectl is to ask again.
    func answer(token: String, expires: String?, skew: Int, now: Timestamp) -> ExecCredential {
        let end = expires.flatMap { Timestamp(rfc3339: $0.utf8) }
        return ExecCredential(
            apiVersion: apiVersion,
            status: ExecCredential.Status(
                token: token,
                expirationTimestamp: end.map { ExecCredential.renewal(end: $0, skew: skew, now: now).rfc3339 }))
    }
}

/// The response of a credential plugin to kubectl.
struct ExecCredential: Encodable {
    struct Status: Encodable {
        let token: String
        /// When kubectl asks again.
        let expirationTimestamp: String?
    }

    let apiVersion: String
    let kind = "ExecCredential"
    let status: Status

    /// When kubectl is to ask again: before the token ends, in whole seconds, and never in more than the later half of
    /// the time that is left.
    static func renewal(end: Timestamp, skew: Int, now: Timestamp) -> Timestamp {
        let left = max(0, end.seconds - now.seconds)
        return Timestamp(seconds: end.seconds - min(Int64(skew), left / 2))
    }
}
