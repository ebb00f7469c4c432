public import CookieModel
import HTTPTypes
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
