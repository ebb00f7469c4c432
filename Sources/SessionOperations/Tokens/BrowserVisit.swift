package import OAuth2
package import OAuth2Login

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A login that waits for a browser to come back: everything that ends it, at any service.
package struct BrowserVisit: Sendable {
    package let plan: TokenLoginPlan
    package let attempt: AuthorizationAttempt
    package let redirectURI: String

    package init(plan: TokenLoginPlan, attempt: AuthorizationAttempt, redirectURI: String) {
        self.plan = plan
        self.attempt = attempt
        self.redirectURI = redirectURI
    }
}

/// A ``BrowserVisit`` with its secrets in the open, to be encoded and sealed. Of the server's metadata, it has what a
/// login needs after its beginning.
///
/// Services of different versions read it: new members are optional.
package struct ExposedBrowserVisit: Codable, Sendable {
    fileprivate struct Plan: Codable {
        let name: String
        let issuer: String
        let sendsIssuer: Bool
        let profileIssuer: String
        let clientID: String
        let account: String
        let hasAccount: Bool
        let user: LoggedInUser?
        let replacesAccount: Bool
        let credentials: Credentials
        /// Names and values in turn.
        let parameters: [String]
        let pushes: Bool
    }

    fileprivate struct Credentials: Codable {
        let settings: ProfileSettings
        let clientSecret: Data?
        let proofKey: Data?
        let grantKey: Data?
        let clientCertificate: Data?
        let registrationToken: Data?
    }

    private let plan: Plan
    private let state: Data
    private let codeVerifier: Data
    private let nonce: Data
    private let redirectURI: String

    package init(_ visit: BrowserVisit) {
        plan = Plan(visit.plan)
        state = Data(visit.attempt.state.exposedBytes)
        codeVerifier = Data(visit.attempt.codeVerifier.exposedBytes)
        nonce = Data(visit.attempt.nonce.exposedBytes)
        redirectURI = visit.redirectURI
    }

    package var visit: BrowserVisit {
        BrowserVisit(
            plan: plan.plan,
            attempt: AuthorizationAttempt(
                state: Secret(state), codeVerifier: Secret(codeVerifier), nonce: Secret(nonce)),
            redirectURI: redirectURI)
    }
}

extension ExposedBrowserVisit.Plan {
    init(_ plan: TokenLoginPlan) {
        name = plan.name
        issuer = plan.metadata.issuer
        sendsIssuer = plan.metadata.sendsIssuer
        profileIssuer = plan.profile.issuer
        clientID = plan.profile.clientID
        account = plan.profile.account
        hasAccount = plan.hasAccount
        user = plan.user
        replacesAccount = plan.replacesAccount
        credentials = ExposedBrowserVisit.Credentials(plan.credentials)
        parameters = plan.parameters.flatMap { [$0.name, $0.value] }
        pushes = plan.pushes
    }

    var plan: TokenLoginPlan {
        var metadata = ServerMetadata(issuer: issuer)
        metadata.sendsIssuer = sendsIssuer
        return TokenLoginPlan(
            name: name, metadata: metadata,
            profile: ProfileID(issuer: profileIssuer, clientID: clientID, account: account), hasAccount: hasAccount,
            user: user, replacesAccount: replacesAccount, credentials: credentials.credentials,
            parameters: stride(from: 0, to: parameters.count - 1, by: 2).map { (parameters[$0], parameters[$0 + 1]) },
            pushes: pushes)
    }
}

extension ExposedBrowserVisit.Credentials {
    init(_ credentials: ProfileCredentials) {
        func exposed(_ secret: Secret?) -> Data? { secret.map { Data($0.exposedBytes) } }
        settings = credentials.settings
        clientSecret = exposed(credentials.clientSecret)
        proofKey = exposed(credentials.proofKey)
        grantKey = exposed(credentials.grantKey)
        clientCertificate = exposed(credentials.clientCertificate)
        registrationToken = exposed(credentials.registrationToken)
    }

    var credentials: ProfileCredentials {
        func secret(_ data: Data?) -> Secret? { data.map { Secret($0) } }
        return ProfileCredentials(
            settings: settings, clientSecret: secret(clientSecret), proofKey: secret(proofKey),
            grantKey: secret(grantKey), clientCertificate: secret(clientCertificate),
            registrationToken: secret(registrationToken))
    }
}
