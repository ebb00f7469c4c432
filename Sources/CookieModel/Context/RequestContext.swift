public import WebPrimitives

/// Everything about a request, or a script's access, that cookie rules ask for.
public struct RequestContext: Sendable {
    /// Which side asks: the draft's "type" of a retrieval.
    public enum Interface: String, Sendable {
        /// An HTTP request or response.
        case http
        /// A "non-HTTP" API such as `document.cookie`.
        case script
    }

    /// Who caused the request: the draft's "client".
    public enum Initiator: Sendable, Hashable {
        /// The page in the address bar.
        case topLevel
        /// A person: an address typed, a bookmark. No client.
        case user
        /// A document or worker of that URL's origin.
        case origin(RequestURL)
        /// A document whose origin is opaque, as in a sandboxed frame: same-site with nothing.
        case opaque
    }

    /// The URL requested, or that of the document whose script asks.
    public var url: RequestURL
    /// The request's method, upper case.
    public var method = "GET"
    /// Which side asks.
    public var interface = Interface.http
    /// The page in the address bar when the request is made; `nil` where the request itself is that page.
    public var topLevel: RequestURL?
    /// Who caused the request.
    public var initiator = Initiator.topLevel
    /// Whether the request navigates a top-level traversable.
    public var isTopLevelNavigation: Bool
    /// The URLs that redirected here, first one first.
    public var redirects: [RequestURL] = []
    /// Whether ``topLevel`` can be relied on for a partition; `false` for a recorded third-party request whose page the
    /// recording does not name. Such a request sets no partitioned cookies.
    public var isPartitionKnown = true
    /// Whether cookies of every path of the host count, and without the limits of one request: what a script may set,
    /// rather than what it sees.
    public private(set) var includesAllPaths = false

    /// A request for a page by a person: nothing cross-site about it.
    public init(url: RequestURL) {
        self.url = url
        isTopLevelNavigation = true
    }

    /// A request within a page.
    ///
    /// - Parameters:
    ///   - topLevel: the page in the address bar.
    ///   - initiator: who caused it.
    ///   - isTopLevelNavigation: whether it navigates the tab away from that page.
    public init(
        url: RequestURL, topLevel: RequestURL?, initiator: Initiator = .topLevel, isTopLevelNavigation: Bool = false
    ) {
        self.url = url
        self.topLevel = topLevel
        self.initiator = initiator
        self.isTopLevelNavigation = isTopLevelNavigation
    }

    /// What the scripts of the page may do that this request loads (section 5.8.2).
    ///
    /// Of a page that fills the tab only its own site counts, not who led to it, nor by which way or method.
    public var scriptAccess: RequestContext {
        var access = self
        access.interface = .script
        access.method = "GET"
        access.redirects = []
        if isTopLevelNavigation { (access.topLevel, access.initiator) = (nil, .topLevel) }
        return access
    }

    /// What the scripts of the page may set that this request loads: cookies of every path of its host, since no browser
    /// checks the path of a cookie that is set (section 5.7), only that of one that is read.
    public var scriptWriting: RequestContext {
        var access = scriptAccess
        access.includesAllPaths = true
        return access
    }

    /// Whether the method is "safe" in the sense of RFC 9110, section 9.2.1.
    public var hasSafeMethod: Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }
}
