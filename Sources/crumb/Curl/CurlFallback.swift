import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore

/// Gets the session back in where an answer says "not signed in", once for each command.
struct CurlFallback {
    private let fallback: LoginFallback
    private let jar: CookieJar

    /// - Returns: `nil` where the jar has no rules, or the user signs the request in.
    init?(_ jar: CookieJar, _ plan: CurlPlan) throws {
        let rules = try jar.loginRules().map(\.rule)
        guard !rules.isEmpty, !plan.signsIn, plan.canRepeatBody else { return nil }
        self.jar = jar
        fallback = LoginFallback(
            rules: rules, store: jar.tokens, refresher: TokenAccess(jar.tokens).refresher(),
            transport: HelperTransport())
    }

    /// What an answer says, where it says "not signed in".
    func challenge(_ block: ResponseBlock, from url: RequestURL) -> LoginChallenge? {
        fallback.challenge(in: block.head, from: url)
    }

    /// Gets a token and delivers it.
    ///
    /// - Returns: what goes into the Authorization field of the request that is made once more, and where.
    func answer(_ challenge: LoginChallenge, now: Timestamp) throws -> AuthorizationRule? {
        let (fallback, jar) = (fallback, jar)
        let answer = try Blocking.run { try await fallback.answer(challenge, in: jar, now: now) }
        guard case .authorization(let rule) = answer else { return nil }
        return rule
    }
}

extension CurlPlan {
    /// Whether the user says who asks, in the place of a token.
    fileprivate var signsIn: Bool {
        answersChallenges
            || options.contains { $0.fieldName == "authorization" || ["user", "oauth2-bearer"].contains($0.name) }
    }

    fileprivate var canRepeatBody: Bool {
        options.flatMap(\.bodyFiles).allSatisfy(RequestBody.isReplayable)
    }
}

extension AuthorizationRule {
    /// The lines of a configuration file that have curl present the token in this hop, with the proof that a bound one
    /// needs; none where it is not for it.
    ///
    /// - Parameter method: the hop's method as curl sends it.
    func configuration(
        for hop: RedirectChain, method: String, nonces: DPoPNonces, now: Timestamp
    ) throws -> CurlCredential? {
        let url = hop.context.url
        guard scope.contains(url), AuthorizationRule.isConfidential(url), !hop.hasLeftOrigin,
            let credential = try credential(url)
        else { return nil }
        var generator = SystemRandomNumberGenerator()
        let fields = try credential.exposedFields(
            method: method, url: url.withoutQuery.description, nonce: nonces.nonce(for: url.origin),
            now: now.microseconds, using: &generator)
        guard let fields else { return nil }
        let lines = fields.flatMap { field in
            let line = Array("\(field.name.rawName): ".utf8) + field.withUnsafeBytesOfValue { Array($0) }
            return CurlOption(name: "header", value: line).configurationLine
        }
        return CurlCredential(configuration: lines, isProven: fields.count > 1)
    }
}

/// What has curl present a token.
struct CurlCredential {
    /// Lines of a configuration file.
    let configuration: [UInt8]
    /// Whether a proof goes with the token, in which the server may want a nonce.
    let isProven: Bool
}
