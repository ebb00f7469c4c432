import CookieModel
import HTTPTypes

/// The members that say of a request what cookie rules ask for; the same for every route that is about one.
protocol RequestDescription {
    var url: String { get }
    var method: String? { get }
    var topLevel: String? { get }
    var initiator: String? { get }
    var navigation: Bool? { get }
}

extension RequestDescription {
    /// The request, as the options `--method`, `--top-level`, `--initiator` and `--navigation` of the command say it.
    func requestContext(
        _ interface: RequestContext.Interface = .http
    ) throws(ServiceProblem) -> RequestContext {
        try requestContext(for: url, member: "url", interface)
    }

    /// The same for another URL.
    func requestContext(
        for url: String, member: String, _ interface: RequestContext.Interface = .http
    ) throws(ServiceProblem) -> RequestContext {
        var context = RequestContext(url: try RequestURL(url, member: member))
        if let method {
            guard HTTPRequest.Method(rawValue: method) != nil else {
                throw .bodyInvalid("method: this is no method of HTTP")
            }
            context.method = method.uppercased()
        }
        if let topLevel { context.topLevel = try RequestURL(topLevel, member: "topLevel") }
        if let initiator {
            context.initiator = initiator == "user" ? .user : .origin(try RequestURL(initiator, member: "initiator"))
        }
        context.isTopLevelNavigation = navigation ?? (topLevel == nil)
        return interface == .script ? context.scriptAccess : context
    }
}
