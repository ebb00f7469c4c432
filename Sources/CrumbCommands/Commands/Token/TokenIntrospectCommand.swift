import ArgumentParser
import OAuth2
import OAuth2Login
import SessionOperations
import SessionStore

struct TokenIntrospectCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "introspect", abstract: "Ask the server about a token.")

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions

    @Flag(help: "Ask about the refresh token, not the access token.")
    var refreshToken = false

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    var needsNetwork: Bool { true }

    func execute(_ console: Console) throws {
        let store = try database.tokenStore(with: name, now: console.now)
        let stored = try store.get(name)
        guard let credentials = try store.credentials(name) else { throw LoginError(noEndpointsOf: name) }
        let tokens = stored.tokens
        guard let token = refreshToken ? tokens.refreshToken : tokens.accessToken else {
            throw CommandFailure(.tokenNotFound, "\(name): there is no refresh token")
        }
        var generator = SystemRandomNumberGenerator()
        let introspection = TokenIntrospection(
            endpoint: try credentials.settings.url(of: .introspection),
            authentication: try credentials.authentication(
                of: stored.profile.id, now: console.now, using: &generator))
        let transport = try credentials.binding(try Network.required().endpoints, now: console.clock)
        let request = introspection.request(about: token, refreshToken ? .refreshToken : .accessToken)
        let response = try Blocking.run { try await transport.send(request) }
        let answer = try introspection.answer(in: response, about: token)
        if refreshToken, answer.isActive, let expiry = answer.expiry {
            try store.noteExpiry(expiry, ofRefreshToken: token, of: name)
        }
        let report = IntrospectionReport(
            isActive: answer.isActive, scope: answer.scopes?.description, clientID: answer.clientID,
            username: answer.username, subject: answer.subject, audience: answer.audience, issuer: answer.issuer,
            expires: answer.expiry?.rfc3339, issued: answer.issuedAt?.rfc3339,
            boundCertificate: answer.certificateThumbprint)
        try console.report(report) {
            try console.writeLines(report.lines)
        }
    }
}

private struct IntrospectionReport: Encodable {
    let isActive: Bool
    let scope: String?
    let clientID: String?
    let username: String?
    let subject: String?
    let audience: [String]
    let issuer: String?
    let expires: String?
    let issued: String?
    let boundCertificate: String?

    var lines: [(String, String)] {
        [
            ("active", isActive ? "yes" : "no"), ("scope", scope), ("client", clientID), ("user", username),
            ("subject", subject), ("audience", audience.isEmpty ? nil : audience.joined(separator: " ")),
            ("issuer", issuer), ("expires", expires), ("issued", issued),
            ("bound to the certificate", boundCertificate),
        ].compactMap { label, value in value.map { (label, $0) } }
    }
}
