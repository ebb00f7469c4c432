/// An event of a navigation in a web view, independent of WebKit's types.
public enum NavigationEvent: Sendable, Hashable {
    /// The web view asks whether to navigate.
    case action(NavigationAction)
    /// The web view asks whether to show a response.
    case response(NavigationResponse)
    /// A page asks for a window of its own.
    case newWindow(NavigationAction)
    /// A navigation of the page has begun: its request is sent, and the page before it is still visible.
    case started(url: String)
    /// The page's document begins to arrive: its response headers have come.
    case committed(url: String)
    /// The server redirected a navigation that has not been committed.
    case redirected(url: String)
    /// The page has been loaded.
    case finished(url: String)
    /// A navigation failed.
    case failed(NavigationFailure)
    /// The process that shows the page has ended.
    case processTerminated

    /// A kind of event, as docs/web-views.md writes it.
    package enum Kind: String, Sendable, CaseIterable {
        /// ``NavigationEvent/action(_:)``.
        case action
        /// ``NavigationEvent/response(_:)``.
        case response
        /// ``NavigationEvent/newWindow(_:)``.
        case newWindow = "new-window"
        /// ``NavigationEvent/started(url:)``.
        case started
        /// ``NavigationEvent/committed(url:)``.
        case committed
        /// ``NavigationEvent/redirected(url:)``.
        case redirected
        /// ``NavigationEvent/finished(url:)``.
        case finished
        /// ``NavigationEvent/failed(_:)``.
        case failed
        /// ``NavigationEvent/processTerminated``.
        case processTerminated = "process-terminated"
    }

    /// Its kind.
    package var kind: Kind {
        switch self {
        case .action: .action
        case .response: .response
        case .newWindow: .newWindow
        case .started: .started
        case .committed: .committed
        case .redirected: .redirected
        case .finished: .finished
        case .failed: .failed
        case .processTerminated: .processTerminated
        }
    }
}

/// A navigation that a web view asks about.
public struct NavigationAction: Sendable, Hashable {
    /// The URL, of any scheme.
    package var url: String
    /// The request's method.
    package var method: String
    /// Whether it replaces the page in the address bar; `false` for a frame within it.
    package var isMainFrame: Bool
    /// Whether it is for a window that does not exist yet, as with `target=_blank`.
    public var isForNewWindow = false
    /// Whether a person caused it, by a link or a form.
    public var isUserInitiated = false
    /// Whether the link or the response asks for a download.
    public var isDownload = false
    /// Whether the native store lacks cookies that the jar would send there.
    package var lacksCookies = false

    /// A navigation of the main frame by `GET`; the rest can be set afterwards.
    public init(url: String, method: String = "GET", isMainFrame: Bool = true) {
        self.url = url
        self.method = method
        self.isMainFrame = isMainFrame
    }
}

/// A response that a web view asks about.
public struct NavigationResponse: Sendable, Hashable {
    /// The URL of the response.
    package var url: String
    /// The status code; `nil` if the answer did not come by HTTP.
    package var status: Int?
    /// The media type, if the response has one.
    package var mediaType: String?
    /// Whether the web view can show that type.
    public var canShowMediaType = true
    /// Whether it is for the page in the address bar.
    package var isMainFrame: Bool
    /// Whether `Content-Disposition` says that it is an attachment.
    public var isAttachment = false

    /// A page that can be shown; the rest can be set afterwards.
    public init(url: String, status: Int? = 200, mediaType: String? = "text/html", isMainFrame: Bool = true) {
        self.url = url
        self.status = status
        self.mediaType = mediaType
        self.isMainFrame = isMainFrame
    }
}

/// A navigation that failed.
public struct NavigationFailure: Sendable, Hashable {
    /// How far the navigation had come.
    public enum Phase: String, Sendable {
        /// No response was shown. The previous page is still visible.
        case provisional
        /// Part of the new page was shown.
        case committed
    }

    /// How far the navigation had come.
    public let phase: Phase
    /// The error's domain: `NSURLErrorDomain`, `WebKitErrorDomain`.
    public let domain: String
    /// The error's code within its domain.
    public let code: Int
    /// The URL that failed; `nil` if the error does not name it.
    public let url: String?

    /// A failure.
    public init(phase: Phase, domain: String, code: Int, url: String? = nil) {
        self.phase = phase
        self.domain = domain
        self.code = code
        self.url = url
    }

    /// Whether nothing failed: the navigation was taken over or cancelled.
    package var isNoFailure: Bool {
        switch (domain, code) {
        // NSURLErrorCancelled: another navigation began, or the policy refused this one.
        case ("NSURLErrorDomain", -999): true
        // WebKitErrorFrameLoadInterruptedByPolicyChange: it became a download, or the policy refused it.
        case ("WebKitErrorDomain", 102): true
        // WebKitErrorPlugInWillHandleLoad: a media player took it over.
        case ("WebKitErrorDomain", 204): true
        default: false
        }
    }
}
