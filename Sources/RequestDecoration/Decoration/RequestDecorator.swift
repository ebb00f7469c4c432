public import CookieModel
public import HTTPTypes
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
        let context = context.with(method: request.requestMethod)
        let retrieval = try jar.retrieve(for: context, now: now)
        let merge = merge(retrieval, onto: &decorated)
        var decision = FieldDecision()
        if !settings.isEmpty { decision = try setFields(of: &decorated, in: context, now: now) }
        let report = DecorationReport(
            retrieval: retrieval, cookies: merge.cookies, cookieOmissions: merge.omissions, fields: decision.names,
            fieldOmissions: decision.omissions)
        return (decorated, report)
    }

    /// Decorates `request` in place: the same request as ``decorate(_:in:now:)-(Request,_,_)`` gives, for those who do
    /// not ask why.
    public func decorate<Request: DecoratableRequest>(
        _ request: inout Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) {
        request.refuseClientCookies()
        let context = context.with(method: request.requestMethod)
        if Request.carriesAnyOctets, !request.hasField(.cookie) {
            // With nothing to merge, the jar's own cookie-string is the field.
            let cookieString = try jar.cookieString(for: context, now: now)
            if !cookieString.isEmpty { request.setField(.cookie, cookieString) }
        } else {
            _ = merge(try jar.retrieve(for: context, now: now), onto: &request)
        }
        if !settings.isEmpty { _ = try setFields(of: &request, in: context, now: now) }
    }

    private func merge<Request: DecoratableRequest>(_ retrieval: Retrieval, onto request: inout Request) -> CookieMerge
    {
        let merge = CookieMerge(
            own: request.fieldValues(.cookie), jar: retrieval.included, carries: Request.carries)
        if !merge.octets.isEmpty { request.setField(.cookie, merge.octets) }
        return merge
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

/// Which fields besides Cookie went onto a request, and which did not.
struct FieldDecision {
    var names: [HTTPField.Name] = []
    var omissions: [DecorationReport.FieldOmission] = []

    mutating func omit(_ name: HTTPField.Name, _ reason: FieldOmissionReason) {
        omissions.append(DecorationReport.FieldOmission(name: name, reason: reason))
    }
}

extension RequestDecorator {
    /// Sets what the settings have for the request. `context` has its URL, and those that redirected to it.
    func setFields<Request: DecoratableRequest>(
        of request: inout Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> FieldDecision {
        var decision = FieldDecision()
        for rule in settings.rules {
            let name = rule.field.name
            let octets = rule.value
            let reason = rule.omission(
                from: context.url, isSetByCaller: request.hasField(name),
                isSetByOtherRule: decision.names.contains(name))
            if let reason {
                decision.omit(name, reason)
            } else if !Request.carries(octets) {
                decision.omit(name, .octetsNotCarried)
            } else {
                request.setField(name, octets)
                decision.names.append(name)
            }
        }
        if !settings.authorization.isEmpty {
            switch try authorization(of: request, in: context, now: now) {
            case .success(let fields):
                for field in fields {
                    request.setField(field.name, field.octets)
                    decision.names.append(field.name)
                }
            case .failure(let reason):
                decision.omit(.authorization, reason)
            }
        }
        return decision
    }

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

/// What went onto a request, and what stayed out and why. Holds no credential.
public struct DecorationReport: Sendable {
    /// A cookie that the jar has for the request and that did not go.
    public struct CookieOmission: Sendable {
        /// The cookie.
        public let cookie: Cookie
        /// Why.
        public let reason: CookieOmissionReason
    }

    /// A field that did not go.
    public struct FieldOmission: Sendable, Hashable {
        /// The field's name.
        public let name: HTTPField.Name
        /// Why.
        public let reason: FieldOmissionReason
    }

    /// What the rules say of the jar's cookies: which are for this request, and why the others are not.
    public let retrieval: Retrieval
    /// The jar's cookies that went, in the order of the header.
    public let cookies: [Cookie]
    /// The cookies that are for this request and stayed out all the same.
    public let cookieOmissions: [CookieOmission]
    /// The names of the other fields that went in, in the order they were set.
    public let fields: [HTTPField.Name]
    /// The fields that stayed out. Of several rules for credentials that are not for this URL, there is one entry.
    public let fieldOmissions: [FieldOmission]
}

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
