import ArgumentParser
import OAuth2
import OAuth2Login
import Platform
import SessionOperations
import SessionStore

/// How the client authenticates. A secret is never an argument, which others can see.
struct ClientSecretOptions: ParsableArguments {
    @Option(help: .file("The file with the client secret; '-' is standard input. Default: CRUMB_CLIENT_SECRET."))
    var clientSecretFile: String?

    @Option(
        help: .file(
            "The PEM file with the client's private key (P-256, Ed25519 or RSA), to authenticate with signatures."))
    var clientKeyFile: String?

    @Option(
        help: .value(
            "algorithm",
            "The signature algorithm of that key: ES256, EdDSA, Ed25519 (RFC 9864), RS256 or PS256. Default: the one for "
                + "its type; RS256 for RSA."), transform: { try registered($0, by: "--key-algorithm") })
    var keyAlgorithm: SigningKey.Algorithm?

    @Option(
        help: .file(
            "The PEM file with the client's certificate and its issuers' certificates, for mutual TLS (RFC 8705)."))
    var clientCertificateFile: String?

    @Option(help: .file("The PEM file with the private key of that certificate. Default: the certificate's file."))
    var clientCertificateKeyFile: String?

    @Flag(help: "Accept a secret or key in a file that other users can read.")
    var dangerouslyAllowExposedFiles = false

    @Option(help: "The identifier of that key.")
    var keyID: String?

    @Option(
        help: .value(
            "audience",
            "The audience of its signatures: issuer, or token_endpoint if the server requires that."),
        transform: { try assertionAudience(named: $0) })
    var keyAudience: ProfileSettings.AssertionAudience?

    @Option(
        help: .value(
            "method",
            "How the client authenticates: none, client_secret_basic, client_secret_post, client_secret_jwt, "
                + "private_key_jwt, tls_client_auth, self_signed_tls_client_auth."),
        transform: { try registered($0, by: "--auth-method") })
    var authMethod: ProfileSettings.AuthenticationMethod?

    @Option(
        help: .value(
            "algorithm",
            "The algorithm of ID tokens that the client is registered for, such as HS256. Default: one of the server's."
        ),
        transform: { try knownAlgorithm(named: $0) })
    var idTokenAlgorithm: String?

    @Flag(help: "Register a client at the server first (RFC 7591), and store its identifier and credentials.")
    var register = false

    @Option(help: .file("The file with the initial access token for --register; '-' is standard input."))
    var registrationTokenFile: String?

    /// The client's secret or key, if one was given.
    func secret() throws -> Secret? {
        if let clientKeyFile { return try signingKey(in: clientKeyFile).secret }
        if let clientSecretFile { return try secret(in: clientSecretFile) }
        return SecretVariable.clientSecret.secret
    }

    private func secret(in file: String) throws -> Secret {
        try checkModes(of: file)
        return try SecretFile.secret(in: file)
    }

    /// The parameters of a client registration, if the options request one.
    func registration() throws -> TokenLoginRequest.Registration? {
        guard register else {
            guard registrationTokenFile == nil else {
                throw CommandFailure(.tokenSettingsInvalid, "--registration-token-file belongs to --register")
            }
            return nil
        }
        return TokenLoginRequest.Registration(
            token: try registrationTokenFile.map { try secret(in: $0) },
            defaultRedirectURI: LoopbackRedirect.defaultURI)
    }

    /// The client's certificate with its key, if one was given.
    func certificate() throws -> ClientCertificate? {
        guard let clientCertificateFile else {
            guard clientCertificateKeyFile == nil else {
                throw CommandFailure(
                    .tokenSettingsInvalid, "--client-certificate-key-file belongs to --client-certificate-file")
            }
            return nil
        }
        let certificate = try InputFile(clientCertificateFile).contents(limit: 1 << 16)
        try checkModes(of: clientCertificateKeyFile ?? clientCertificateFile)
        let key = try clientCertificateKeyFile.map { try InputFile($0).contents(limit: 1 << 16) } ?? []
        return try ClientCertificate(certificate: certificate, key: Secret(key))
    }

    /// The private key in a PEM file.
    func signingKey(in file: String) throws -> SigningKey {
        try SigningKey(pem: try pem(in: file), algorithm: keyAlgorithm)
    }

    /// Reads a file with a private key.
    func pem(in file: String) throws -> Secret {
        try checkModes(of: file)
        return Secret(try InputFile(file).contents(limit: 1 << 16))
    }

    /// Refuses a file that others can read, unless that is allowed.
    private func checkModes(of file: String) throws {
        if !dangerouslyAllowExposedFiles { try SecretFile.check(file, override: "--dangerously-allow-exposed-files") }
    }

    /// The method that was named, or that the file says.
    var method: ProfileSettings.AuthenticationMethod? { authMethod ?? (clientKeyFile == nil ? nil : .privateKeyJWT) }

    /// The method that was named, else one that fits the secret and the server.
    func method(hasSecret: Bool, at server: ServerMetadata) throws -> ProfileSettings.AuthenticationMethod {
        guard let method else { return hasSecret ? server.secretMethod : .none }
        if method != .none, !hasSecret {
            throw CommandFailure(
                .tokenSettingsInvalid,
                "--auth-method: pass the client's secret with --client-secret-file or CRUMB_CLIENT_SECRET, "
                    + "or its key with --client-key-file")
        }
        return method
    }
}

/// The audience of a name.
private func assertionAudience(named name: String) throws -> ProfileSettings.AssertionAudience {
    guard let audience = ProfileSettings.AssertionAudience(rawValue: name) else {
        throw ValidationError("--key-audience: use issuer or token_endpoint.")
    }
    return audience
}

/// An algorithm of ID tokens, by its name.
private func knownAlgorithm(named name: String) throws -> String {
    guard IDTokenAlgorithm.names.contains(name) else {
        let names = IDTokenAlgorithm.names.joined(separator: ", ")
        throw ValidationError("--id-token-algorithm: use one of \(names).")
    }
    return name
}

/// Returns the value that has a registered name.
private func registered<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, by option: String
) throws -> Value {
    guard let value = Value(rawValue: name) else {
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("\(option): use one of \(names).")
    }
    return value
}

/// A file that the user names for a secret in it.
enum SecretFile {
    /// Refuses a file that others can read, and with it the secret in it. A pipe has no modes that matter.
    ///
    /// - Parameter option: The option that allows it; `nil` if none does.
    static func check(_ file: String, override option: String? = nil) throws {
        guard file != "-", access(file, R_OK) == 0, !PrivateFile.isPrivate(file), !FileSystem.isSpecial(file)
        else { return }
        throw CommandFailure(
            .keyExposed,
            "\(file): other users can read the secret in it; run: chmod 600 '\(file)'"
                + (option.map { ", or allow it with \($0)" } ?? ""))
    }

    /// The secret in a file, without the white space after it.
    static func secret(in file: String) throws -> Secret {
        var bytes = try InputFile(file).contents(limit: 1 << 16)
        while let last = bytes.last, InputFile.isWhiteSpace(last) { bytes.removeLast() }
        guard !bytes.isEmpty else { throw CommandFailure(.inputEmpty, "\(file): this file contains no secret") }
        return Secret(bytes)
    }
}
