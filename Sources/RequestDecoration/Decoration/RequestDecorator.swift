public import CookieModel
import HTTPTypes
public import OAuth2
public import SessionStore

/// Adds to requests what a browser with this jar would add, and what the settings say.
///
/// One Cookie field goes onto a request. Where the caller has set cookies, they stand first and win by name; the jar's
/// others follow. Of every other field the caller's own wins. Method and body stay as they are.
public struct RequestDecorator: Sendable {
    /// The jar that cookies come from and go to.
    public let jar: CookieJar
    /// What else goes onto requests.
    public let settings: DecorationSettings

    /// A decorator over a jar.
    public init(jar: CookieJar, settings: DecorationSettings = DecorationSettings()) {
        self.jar = jar
        self.settings = settings
    }

    /// Decorates a copy of `request`, and says what went in and what stayed out.
    ///
    /// - Parameters:
    ///   - request: the request; its method is the one that the rules are asked for.
    ///   - context: who asks for which URL. The URL of the context counts, not the request's own.
    ///   - now: the time by which cookies and tokens expire.
    public func decorate<Request: DecoratableRequest>(
        _ request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> (request: Request, report: DecorationReport) {
        var decorated = request
        decorated.refuseClientCookies()
        let decoration = try decoration(
            of: decorated, in: context.with(method: request.requestMethod), now: now)
        decoration.render(on: &decorated)
        return (decorated, DecorationReport(decoration))
    }

    /// Decorates `request` in place: the same request as ``decorate(_:in:now:)-(Request,_,_)`` gives, for those who do
    /// not ask why.
    public func decorate<Request: DecoratableRequest>(
        _ request: inout Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) {
        request.refuseClientCookies()
        let context = context.with(method: request.requestMethod)
        guard Request.carriesAnyOctets, !request.hasField(.cookie) else {
            return try decoration(of: request, in: context, now: now).render(on: &request)
        }
        // With nothing to merge, the jar's own cookie-string is the field.
        let cookieString = try jar.cookieString(for: context, now: now)
        if !cookieString.isEmpty { request.setField(.cookie, cookieString) }
        guard !settings.isEmpty else { return }
        var decoration = Decoration(Retrieval())
        try decide(&decoration, on: request, in: context, now: now)
        decoration.render(on: &request)
    }

    /// What goes onto a request and what stays out. `context` has its URL, and those that redirected to it.
    private func decoration<Request: DecoratableRequest>(
        of request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> Decoration {
        let carries: ((Octets) -> Bool)? = Request.carriesAnyOctets ? nil : { Request.carries($0) }
        var decoration = Decoration(
            try jar.retrieve(for: context, now: now), own: request.fieldValues(.cookie), carries: carries)
        if !settings.isEmpty { try decide(&decoration, on: request, in: context, now: now) }
        return decoration
    }

    /// Decides on the fields that the settings have for the request.
    private func decide<Request: DecoratableRequest>(
        _ decoration: inout Decoration, on request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) {
        for rule in settings.rules {
            decoration.fields.add(
                rule, scope: rule.scope?.description, for: context.url, isSetByCaller: request.hasField,
                carries: Request.carries)
        }
        guard !settings.authorization.isEmpty else { return }
        switch try authorization(of: request, in: context, now: now) {
        case .success(let fields): decoration.credential = fields
        case .failure(let reason): decoration.fields.omit(HTTPField.Name.authorization.rawName, scope: nil, reason)
        }
    }
}

extension RequestContext {
    /// The same request by a method, which rules know in upper case.
    func with(method: String) -> RequestContext {
        guard method != self.method else { return self }
        var context = self
        context.method = method.uppercased()
        return context
    }
}

extension RequestDecorator {
    /// The Authorization field, with the proof that a bound token needs, or why there is none.
    private func authorization<Request: DecoratableRequest>(
        of request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> Result<[HTTPField], FieldOmissionReason> {
        if request.hasField(.authorization) { return .failure(.setByCaller) }
        guard let rule = settings.authorization.first(where: { $0.scope.contains(context.url) })
        else { return .failure(.outsideScope) }
        guard AuthorizationRule.isConfidential(context.url) else { return .failure(.insecureTransport) }
        // Who redirects chooses the URL. A token that came along would let any site act in the user's name.
        guard context.redirects.allSatisfy({ $0.isSameOrigin(as: context.url) })
        else { return .failure(.crossOriginRedirect) }
        guard let credential = try rule.credential(context.url) else { return .failure(.tokenMissing) }
        guard credential.tokens.validity(at: now.microseconds) != .expired else { return .failure(.tokenExpired) }
        var generator = SystemRandomNumberGenerator()
        let fields = try? credential.exposedFields(
            method: request.requestMethod, url: context.url.withoutQuery.description,
            nonce: settings.nonces.nonce(for: context.url.origin), now: now.microseconds, using: &generator)
        guard let fields else { return .failure(.tokenNotPresentable) }
        return .success(fields)
    }
}

extension FieldOmissionReason: Error {}

/// What goes onto the requests of a jar besides its cookies. The caller's own field always wins.
public struct DecorationSettings: Sendable {
    /// The header fields, each for its URLs.
    public var fields: [FieldRule]
    /// The value of the field `User-Agent`; `nil` leaves it to the client.
    public var userAgent: String?
    /// Which URLs get an `Authorization` field; the first rule that a URL is within the scope of counts.
    public var authorization: [AuthorizationRule]
    /// The nonces that servers want in the proofs of bound tokens; decorators that go to the same servers share them.
    public var nonces = DPoPNonces()

    /// Settings from their parts; without any, cookies are all that goes onto a request.
    public init(
        fields: [FieldRule] = [], userAgent: String? = nil, authorization: [AuthorizationRule] = []
    ) {
        self.fields = fields
        self.userAgent = userAgent
        self.authorization = authorization
    }

    /// Whether there is nothing to set.
    var isEmpty: Bool { fields.isEmpty && userAgent == nil && authorization.isEmpty }

    /// The fields with their scopes, the user agent's among them.
    var rules: [FieldRule] {
        guard let userAgent else { return fields }
        return fields + [FieldRule(HTTPField(name: .userAgent, value: userAgent))]
    }
}
