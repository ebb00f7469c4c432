public import CookieModel
public import HTTPTypes
public import RequestDecoration

/// A request for a resource, as an engine passes it to a scheme handler.
public struct ResourceRequest: Sendable {
    /// The URL, in the handler's scheme.
    package var url: String
    /// The method.
    package var method: String
    /// The fields.
    package var fields: HTTPFields
    /// The page in the address bar; `nil` if the engine does not tell, and then it is refused.
    package var page: RequestURL?

    /// Creates a request.
    public init(url: String, method: String = "GET", fields: HTTPFields = [:], page: RequestURL?) {
        self.url = url
        self.method = method
        self.fields = fields
        self.page = page
    }
}

/// Answers what pages load by the schemes of a ``RequestDecoration/ResourceScript``, from the jar's cache or the server.
///
/// It does not depend on WebKit. On platforms with WebKit, `use(_:)` of a `WKWebViewConfiguration` registers it.
///
/// Only pages of the script's origins get an answer. The engine takes the handler for another origin than the page's, so
/// responses of the page's own origin are shared with it (CORS). Those of other origins never are, nor those that a
/// redirect to or from another origin led to: the page can show or run them, and not read them.
public struct ResourceHandler: Sendable {
    /// The script, with the schemes and the pages that may use them.
    package let script: ResourceScript
    private let source: any ResourceSource

    /// Creates a handler.
    ///
    /// - Parameter source: Requests the resources, such as a `DecoratedURLSession` with a cache.
    public init(_ script: ResourceScript, from source: any ResourceSource) {
        self.script = script
        self.source = source
    }

    /// Answers a request. Cancel the task if the engine stops.
    ///
    /// - Throws: ``ResourceRefusal``, or the error of the source. The engine has to see it as a failure, without a status:
    ///   then the script has it load the resource itself.
    @concurrent public func response(to request: ResourceRequest) async throws -> ResourceResponse {
        let (url, page) = try allowed(request)
        if request.method == "OPTIONS" {
            var head = HTTPResponse(status: .noContent)
            head.headerFields.share(with: page)
            // The question of an engine about a request with fields of the page's own (a preflight).
            head.headerFields[.accessControlAllowMethods] = "GET, HEAD"
            head.headerFields[.accessControlAllowHeaders] = request.fields[.accessControlRequestHeaders]
            return ResourceResponse(head, from: [url])
        }
        let message = HTTPRequest(
            method: request.method == "HEAD" ? .head : .get, scheme: url.scheme.name,
            authority: String(url.origin.dropFirst(url.scheme.name.count + 3)),
            path: String(decoding: url.path, as: UTF8.self) + String(decoding: url.query, as: UTF8.self),
            headerFields: request.fields.forServer(of: url, referrer: page))
        let context = RequestContext(url: url, topLevel: page, initiator: .origin(page))
        var response = try await source.resource(for: message, in: context)
        // A redirect must lead to nothing that the page could not request.
        guard page.scheme != .https || response.urls.allSatisfy({ $0.scheme == .https })
        else { throw ResourceRefusal(.insecure) }
        let isShared = !response.urls.isEmpty && response.urls.allSatisfy { $0.isSameOrigin(as: page) }
        guard isShared || request.fields[.origin] == nil else { throw ResourceRefusal(.crossOrigin) }
        response.head.headerFields.removeForEngine()
        if isShared { response.head.headerFields.share(with: page) }
        return response
    }

    /// The URL of the resource and the page, if it may load it.
    private func allowed(_ request: ResourceRequest) throws(ResourceRefusal) -> (url: RequestURL, page: RequestURL) {
        guard let url = script.scheme.url(from: request.url) else { throw ResourceRefusal(.url) }
        guard let page = request.page, script.isFor(page) else { throw ResourceRefusal(.page) }
        let isShared = url.isSameOrigin(as: page)
        // The engine names the origin of the frame for requests with CORS. A frame of another origin has another one.
        if let origin = request.fields[.origin] {
            guard origin == page.origin else { throw ResourceRefusal(.page) }
            // It is not known whether the request may carry cookies.
            guard isShared else { throw ResourceRefusal(.crossOrigin) }
        }
        // A document would have the handler's origin.
        guard !request.fields.isForDocument else { throw ResourceRefusal(.document) }
        guard page.scheme != .https || url.scheme == .https else { throw ResourceRefusal(.insecure) }
        switch request.method {
        case "GET", "HEAD": break
        case "OPTIONS" where isShared: break
        default: throw ResourceRefusal(.method)
        }
        return (url, page)
    }
}

/// Why a scheme handler does not answer a request.
public struct ResourceRefusal: DescribedError, Hashable, Sendable {
    /// The kind of refusal.
    public enum Code: String, Sendable, CaseIterable {
        /// The URL is not one of the schemes, or has user information.
        case url = "resource-url"
        /// The page, or the frame, is of another origin.
        case page = "resource-page"
        /// A request with CORS to another origin, or one that a redirect leads there.
        case crossOrigin = "resource-cross-origin"
        /// The request is for a document.
        case document = "resource-document"
        /// A page over https requests a resource over http, or a redirect leads there.
        case insecure = "resource-insecure"
        /// The method is neither GET nor HEAD.
        case method = "resource-method"
    }

    /// The kind of refusal, as a stable identifier.
    public let code: Code

    init(_ code: Code) {
        self.code = code
    }

    /// One sentence for a developer.
    public var description: String {
        switch code {
        case .url: "the URL does not belong to the web view's schemes, or it has user information"
        case .page: "pages and frames of this origin may not use the web view's schemes"
        case .crossOrigin: "the handler does not know whether a request with CORS to another origin may carry cookies"
        case .document: "the handler answers no documents: they would have its origin"
        case .insecure: "a page over https may not load a resource over http"
        case .method: "the handler answers GET and HEAD only"
        }
    }
}

extension HTTPFields {
    /// Whether engines send them for documents only.
    fileprivate var isForDocument: Bool {
        contains { $0.name.canonicalName == "upgrade-insecure-requests" }
    }

    /// The fields that the server gets: those of the request without what is about the handler's scheme.
    fileprivate func forServer(of url: RequestURL, referrer page: RequestURL) -> HTTPFields {
        var fields = HTTPFields(
            filter { field in
                !HTTPFields.ofScheme.contains(field.name.canonicalName)
                    && !field.name.canonicalName.hasPrefix("sec-")
            })
        // As with the policy that engines have by default: strict-origin-when-cross-origin.
        fields[.referer] = url.isSameOrigin(as: page) ? page.description : "\(page.origin)/"
        return fields
    }

    private static let ofScheme: Set<String> = [
        "origin", "referer", "host", "cookie", "connection", "upgrade-insecure-requests",
    ]

    /// Removes what an engine must not get from the handler. Cookies are in the jar.
    fileprivate mutating func removeForEngine() {
        self = HTTPFields(
            filter { field in
                !HTTPFields.ofServer.contains(field.name.canonicalName)
                    && !field.name.canonicalName.hasPrefix("access-control-")
            })
        // A page that opens the resource as a document gets nothing by it.
        append(HTTPField(name: .contentSecurityPolicy, value: "sandbox"))
    }

    private static let ofServer: Set<String> = [
        "set-cookie", "clear-site-data", "connection", "keep-alive", "transfer-encoding", "alt-svc",
        "strict-transport-security",
    ]

    /// Lets a page read the response.
    fileprivate mutating func share(with page: RequestURL) {
        let names = Set(map(\.name.canonicalName)).sorted().joined(separator: ", ")
        self[.accessControlAllowOrigin] = page.origin
        self[.accessControlAllowCredentials] = "true"
        if !names.isEmpty { self[.accessControlExposeHeaders] = names }
        if let name = HTTPField.Name("Cross-Origin-Resource-Policy") { self[name] = "cross-origin" }
    }
}
