import ArgumentParser
import Foundation
import OAuth2

/// How the client authenticates. A secret is never an argument, which others can see.
struct ClientSecretOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the client's secret; '-' is standard input. Default: the variable CRUMB_CLIENT_SECRET.",
            valueName: "file"))
    var clientSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "A PEM file with the client's private key (P-256), to authenticate with signatures.", valueName: "file"))
    var clientKeyFile: String?

    @Option(help: "The client's name for that key.")
    var keyID: String?

    @Option(
        help: ArgumentHelp(
            "How the client authenticates: none, client_secret_basic, client_secret_post, private_key_jwt.",
            valueName: "method"),
        transform: { try authenticationMethod(named: $0) })
    var authMethod: ProfileSettings.AuthenticationMethod?

    /// The client's secret or key, where one was given.
    func secret() throws -> Secret? {
        if let clientKeyFile {
            return try SigningKey(pem: Secret(try InputFile(clientKeyFile).contents(limit: 1 << 16))).secret
        }
        if let clientSecretFile {
            var bytes = try InputFile(clientSecretFile).contents(limit: 1 << 16)
            while let last = bytes.last, InputFile.isWhiteSpace(last) { bytes.removeLast() }
            guard !bytes.isEmpty else { throw Problem(.inputEmpty, "\(clientSecretFile): there is no secret in it") }
            return Secret(bytes)
        }
        return ClientSecretOptions.environmentSecret
    }

    /// The method that was named, else one that fits the secret and the server.
    func method(
        hasSecret: Bool, supported: [String]?
    ) throws -> ProfileSettings.AuthenticationMethod {
        if let authMethod {
            if authMethod != .none, !hasSecret {
                throw Problem(
                    .tokenSettingsInvalid,
                    "--auth-method: give the client's secret by --client-secret-file or CRUMB_CLIENT_SECRET, "
                        + "or its key by --client-key-file")
            }
            return authMethod
        }
        if clientKeyFile != nil { return .privateKeyJWT }
        guard hasSecret else { return .none }
        // RFC 8414, section 2: without the list, it is client_secret_basic.
        let isPostOnly =
            supported.map { $0.contains("client_secret_post") && !$0.contains("client_secret_basic") } ?? false
        return isPostOnly ? .clientSecretPost : .clientSecretBasic
    }

    /// What `CRUMB_CLIENT_SECRET` held. The first look takes it out of the environment, so that no child inherits it.
    private static let environmentSecret: Secret? = {
        guard let value = getenv("CRUMB_CLIENT_SECRET") else { return nil }
        let secret = Secret(String(cString: value))
        unsetenv("CRUMB_CLIENT_SECRET")
        return secret.isEmpty ? nil : secret
    }()

    /// Takes the secret out of the environment: no other program has use for it.
    static func clearEnvironment() {
        _ = environmentSecret
    }
}

/// The method of a registered name.
private func authenticationMethod(named name: String) throws -> ProfileSettings.AuthenticationMethod {
    guard let method = ProfileSettings.AuthenticationMethod(rawValue: name) else {
        let names = ProfileSettings.AuthenticationMethod.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--auth-method: use one of \(names).")
    }
    return method
}
