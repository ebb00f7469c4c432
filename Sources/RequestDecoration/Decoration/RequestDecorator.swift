public import CookieModel
import HTTPTypes
package import OAuth2
public import SessionStore

/// Adds the cookies that a browser with this jar would add to requests, and the fields of the settings.
///
/// ```swift
/// let decorator = RequestDecorator(jar: jar)
/// let (decorated, report) = try await decorator.decorate(request, in: context)
/// let response = try await send(decorated)
/// try await decorator.receive(response, in: context)
/// ```
///
/// Sets one Cookie field. Cookies of the caller come first and take precedence by name; the other cookies of the jar
/// follow. A field of the caller takes precedence over the same field of the settings. Method and body stay unchanged.
public struct RequestDecorator: Sendable {
    /// The jar to read cookies from and store them in.
    package let jar: CookieJar
    /// The other fields to add to requests.
    package let settings: DecorationSettings

    /// Creates a decorator for a jar.
    public init(jar: CookieJar, settings: DecorationSettings = DecorationSettings()) {
        self.jar = jar
        self.settings = settings
    }

    /// Decorates a copy of `request`, and reports what was added and what was left out.
    ///
    /// - Parameters:
    ///   - request: The request. The rules use its method.
    ///   - context: The URL and the page or user that requests it. The URL of the context applies, not that of the
    ///     request.
    ///   - now: The current time, for expiry; `nil` for that of the jar's database.
    package func decorate<Request: DecoratableRequest>(
        _ request: Request, in context: RequestContext, now: Timestamp? = nil
    ) throws(SessionStoreError) -> (request: Request, report: Report) {
        let now = now ?? clock.now
        var decorated = request
        decorated.refuseClientCookies()
        let decoration = try decoration(
            of: decorated, in: context.with(method: request.requestMethod), now: now)
        decoration.render(on: &decorated)
        return (decorated, Report(decoration))
    }

    /// Decorates `request` in place, without a report. The result equals that of the call with a report.
    public func decorate<Request: DecoratableRequest>(
        _ request: inout Request, in context: RequestContext, now: Timestamp? = nil
    ) throws(SessionStoreError) {
        let now = now ?? clock.now
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

    /// Decorates a copy of `request`, as the call with `now` does, without blocking the caller's thread.
    ///
    /// - Parameter time: The current time, for expiry; `nil` for that of the jar's database.
    /// - Throws: `SessionStoreError`, or `CancellationError` as soon as the task is cancelled.
    public func decorate<Request: DecoratableRequest>(
        _ request: Request, in context: RequestContext, at time: Timestamp? = nil
    ) async throws -> (request: Request, report: Report) {
        let time = time ?? clock.now
        var decorated = request
        decorated.refuseClientCookies()
        let context = context.with(method: request.requestMethod)
        var decoration = Decoration(
            try await jar.retrieve(for: context, at: time), own: decorated.fieldValues(.cookie),
            carries: RequestDecorator.carries(Request.self))
        if !settings.isEmpty {
            selectFields(&decoration, on: decorated, in: context)
            // The source of a credential may read the store.
            if settings.authorization.contains(where: { $0.scope.contains(context.url) }) {
                let request = decorated
                decoration.setCredential(
                    try await jar.database.reading { try self.authorization(of: request, in: context, now: time) })
            } else if !settings.authorization.isEmpty {
                decoration.setCredential(try authorization(of: decorated, in: context, now: time))
            }
        }
        decoration.render(on: &decorated)
        return (decorated, Report(decoration))
    }

    /// The clock of requests without a time.
    package var clock: StoreClock { jar.database.clock }

    private static func carries<Request: DecoratableRequest>(_: Request.Type) -> ((Octets) -> Bool)? {
        Request.carriesAnyOctets ? nil : { Request.carries($0) }
    }

    /// Decides what is added to a request and what is omitted. `context` has its URL, and those that redirected to it.
    private func decoration<Request: DecoratableRequest>(
        of request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> Decoration {
        var decoration = Decoration(
            try jar.retrieve(for: context, now: now), own: request.fieldValues(.cookie),
            carries: RequestDecorator.carries(Request.self))
        if !settings.isEmpty { try decide(&decoration, on: request, in: context, now: now) }
        return decoration
    }

    /// Decides on the fields that the settings have for the request.
    private func decide<Request: DecoratableRequest>(
        _ decoration: inout Decoration, on request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) {
        selectFields(&decoration, on: request, in: context)
        guard !settings.authorization.isEmpty else { return }
        decoration.setCredential(try authorization(of: request, in: context, now: now))
    }

    private func selectFields<Request: DecoratableRequest>(
        _ decoration: inout Decoration, on request: Request, in context: RequestContext
    ) {
        for rule in settings.rules {
            decoration.fields.add(
                rule, scope: rule.scope?.description, for: context.url, isSetByCaller: request.hasField,
                carries: Request.carries)
        }
    }
}

extension RequestDecorator {
    /// Returns the fields that the first rule for the URL adds, or the reason for omitting them.
    private func authorization<Request: DecoratableRequest>(
        of request: Request, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> Result<[HTTPField], FieldOmissionReason> {
        if request.hasField(.authorization) { return .failure(.setByCaller) }
        guard let rule = settings.authorization.first(where: { $0.scope.contains(context.url) })
        else { return .failure(.outsideScope) }
        return try rule.fields(for: context, method: request.requestMethod, nonces: settings.nonces, now: now)
    }
}

extension Decoration {
    /// Notes the fields of a credential, or the reason why it has no fields.
    fileprivate mutating func setCredential(_ result: Result<[HTTPField], FieldOmissionReason>) {
        switch result {
        case .success(let fields): credential = fields
        case .failure(let reason): fields.omit(HTTPField.Name.authorization.rawName, scope: nil, reason)
        }
    }
}

extension FieldOmissionReason: DescribedError {
    /// The ``explanation``.
    public var errorDescription: String? { explanation }
}

/// The fields to add to requests of a jar in addition to its cookies. A field of the caller always takes precedence.
public struct DecorationSettings: Sendable {
    /// The header fields, each with its scope.
    public var fields: [FieldRule]
    /// The value of the field `User-Agent`; `nil` leaves it to the client.
    public var userAgent: String?
    /// The rules for the `Authorization` field. The first rule whose scope contains the URL applies.
    public var authorization: [AuthorizationRule]
    /// The nonces that servers require in the proofs of bound tokens. Decorators for the same servers share them.
    package var nonces = DPoPNonces()

    /// Creates settings. Without arguments, only cookies are added to requests.
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
