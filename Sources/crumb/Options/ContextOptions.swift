import ArgumentParser
import CookieModel

/// Who asks for the URL, and from where: what same-site rules and partitions depend on.
struct ContextOptions: ParsableArguments {
    @Option(help: "The method of the request.")
    var method = "GET"

    @Option(help: "The page in the address bar. Default: the URL itself.")
    var topLevel: String?

    @Option(help: "The origin that starts the request, or 'user' for a person. Default: the page in the address bar.")
    var initiator: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether the request navigates the tab. Default: yes, unless --top-level is given.")
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
