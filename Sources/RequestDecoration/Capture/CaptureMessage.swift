public import CookieModel

/// A message of a ``CaptureScript``.
///
/// Messages come from a page, which may forge them. They can do no more than a script of that page: they are received
/// through the script interface, for the frame that the native side names.
public struct CaptureMessage: Sendable, Hashable {
    /// The content of a message.
    package enum Content: Sendable, Hashable {
        /// A script assigned this to `document.cookie`.
        case cookie(Octets)
        /// The engine's cookie store reports that cookies were set or deleted.
        case change(set: [ChangedCookie], deleted: [ChangedCookie])
        /// A request of a script got a response. Its cookies are in the engine's cookie store.
        case response(ScriptResponse)
        /// A script may have set cookies that cannot be determined.
        case touched
    }

    /// The content of the message.
    package let content: Content
    /// Where the script says that it runs: scheme, host, port and path; `nil` for a frame without a URL of its own, such
    /// as `about:blank`.
    package let url: RequestURL?

    init(_ content: Content, url: RequestURL?) {
        self.content = content
        self.url = url
    }

    /// The response that the jar should receive; `nil` if the message does not contain a complete cookie.
    ///
    /// The origin is that of `frame`. The path is the one that the script reports if its origin is right, since the
    /// default-path follows `history.pushState`, which the native side cannot see.
    ///
    /// - Parameter frame: the frame that the message came from, as the native side knows it.
    public func received(in frame: ScriptFrame) -> ReceivedResponse? {
        let lines: [Octets]
        switch content {
        case .cookie(let line): lines = [line]
        case .change(let set, let deleted):
            lines =
                set.compactMap { $0.setCookieLine(deleting: false) }
                + deleted.compactMap { $0.setCookieLine(deleting: true) }
        case .response, .touched: return nil
        }
        guard !lines.isEmpty else { return nil }
        return ReceivedResponse(context: frame.context(claiming: url), setCookie: lines)
    }

    /// Whether the native store may have cookies that the message does not contain, so the app should read it.
    public var asksForStore: Bool {
        switch content {
        case .cookie: false
        case .change(let set, let deleted):
            set.contains { $0.setCookieLine(deleting: false) == nil }
                || deleted.contains { $0.setCookieLine(deleting: true) == nil }
        case .response, .touched: true
        }
    }
}

/// A frame that messages come from, as the native side knows it.
public struct ScriptFrame: Sendable {
    /// A URL of the frame's origin: WebKit's `WKFrameInfo.securityOrigin`, never the URL of a message.
    package let url: RequestURL
    /// The page in the address bar; `nil` if the frame is that page.
    package let topLevel: RequestURL?

    /// A frame of that origin.
    ///
    /// - Parameters:
    ///   - url: any URL of the frame's origin.
    ///   - topLevel: the page in the address bar, for a frame within it.
    public init(url: RequestURL, topLevel: RequestURL? = nil) {
        self.url = url
        self.topLevel = topLevel
    }

    /// The access of a script of this frame that says it runs at `claim`.
    func context(claiming claim: RequestURL?) -> RequestContext {
        let place = claim.map { $0.isSameOrigin(as: url) ? $0 : url } ?? url
        var context =
            topLevel.map { RequestContext(url: place, topLevel: $0, initiator: .origin(place)) }
            ?? RequestContext(url: place)
        context.interface = .script
        return context
    }
}

/// A response that a script of a page received.
package struct ScriptResponse: Sendable, Hashable {
    /// The interface that a script used.
    package enum Interface: String, Sendable {
        /// `fetch`.
        case fetch
        /// `XMLHttpRequest`.
        case xhr
    }

    /// The interface that the script used.
    package let through: Interface
    /// The URL of the response, after redirects; `nil` if the page has no access to it.
    package let url: String?
    /// The request's method, as the script gave it.
    package let method: String
    /// The status code; 0 if the page has no access to it.
    package let status: Int
    /// Whether there were redirects, as far as the page has access to this.
    package let isRedirected: Bool

    /// Creates a response from its parts.
    package init(through: Interface, url: String?, method: String, status: Int, isRedirected: Bool) {
        self.through = through
        self.url = url
        self.method = method
        self.status = status
        self.isRedirected = isRedirected
    }
}

/// A cookie in a `change` event of the Cookie Store API. All engines report name and value; some report the rest.
package struct ChangedCookie: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The value; `nil` for a deleted cookie.
    package let value: String?
    /// The domain; `nil` for a host-only cookie, or if the engine does not report it.
    package let domain: String?
    /// The path; `nil` if the engine does not report it, so the cookie cannot be identified.
    package let path: String?
    /// The expiry; `nil` for a session cookie, or if the engine does not report it.
    package let expiry: Timestamp?
    /// Whether it is `Secure`.
    package let isSecure: Bool
    /// The same-site-flag; `default` if the engine does not report it.
    package let sameSite: SameSite
    /// Whether it is partitioned.
    package let isPartitioned: Bool

    /// The set-cookie-string that stores this cookie, or deletes it; `nil` if the engine gave too little, or if no such
    /// string can express the cookie.
    func setCookieLine(deleting: Bool) -> Octets? {
        guard let path, let value = deleting ? "" : value else { return nil }
        return CookieRecord.scriptLine(
            name: Octets(name), value: Octets(value), path: Octets(path), domain: domain.map { Octets($0) },
            expiry: expiry, isSecure: isSecure, sameSite: sameSite, isPartitioned: isPartitioned, deleting: deleting)
    }
}

extension ChangedCookie: ValueHiding {
    /// The name, domain and path, without the value.
    package var description: String { "\(name) (\(domain ?? "")\(path ?? ""), value hidden)" }
}

/// JavaScript that reports how a page's scripts affect cookies: the cookies that they set through `document.cookie`,
/// the changes that the engine's cookie store reports, and the responses that `fetch` and `XMLHttpRequest` received.
///
/// It runs at document start in the page's own world, before the page's scripts, in every frame. It does nothing if no
/// handler listens or if it has run before. ``CaptureMessage`` reads its messages.
public struct CaptureScript: Sendable {
    /// The script.
    public let source: String

    /// Creates a script that sends its messages to a handler.
    public init(handler: MessageHandlerName) {
        source = ScriptTemplate(PackageResources.CaptureScript_js).source([
            "parameters": Array("var handler = \(JavaScript.stringLiteral(handler.description));".utf8)
        ])
    }
}
