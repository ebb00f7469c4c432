import ArgumentParser
import CookieModel

/// Who asks for the URL, and from where: what same-site rules and partitions depend on.
struct ContextOptions: ParsableArguments {
    @Option(help: "The request's method.")
    var method = "GET"

    @Option(help: "The page in the address bar. Default: the URL itself.")
    var topLevel: String?

    @Option(help: "The origin that causes the request; 'user' for a person. Default: the page in the address bar.")
    var initiator: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the request navigates the whole tab. Default: only where --top-level is not given.")
    var navigation: Bool?

    func context(for url: RequestURL, interface: RequestContext.Interface = .http) throws -> RequestContext {
        var context = RequestContext(url: url)
        context.method = method.uppercased()
        context.topLevel = try topLevel.map(requestURL)
        if let initiator {
            context.initiator = initiator == "user" ? .user : .origin(try requestURL(initiator))
        }
        context.isTopLevelNavigation = navigation ?? (topLevel == nil)
        return interface == .script ? context.scriptAccess : context
    }
}
