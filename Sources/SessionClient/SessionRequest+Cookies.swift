public import SessionWire

/// Selects cookies of a jar: those that meet all conditions. A condition that is `nil` matches all cookies.
public struct CookieQuery: Sendable {
    /// The name of the cookie.
    public var name: String?
    /// The domain, including its subdomains.
    public var domain: String?
    /// The path.
    public var path: String?
    /// The URL of a request that carries the cookie.
    public var url: String?

    /// Creates a filter.
    public init(name: String? = nil, domain: String? = nil, path: String? = nil, url: String? = nil) {
        self.name = name
        self.domain = domain
        self.path = path
        self.url = url
    }

    fileprivate var parameters: [(name: String, value: String?)] {
        [("name", name), ("domain", domain), ("path", path), ("url", url)]
    }
}

/// How a capture is imported.
package struct CaptureQuery: Sendable {
    /// The name of the capture in the report.
    package var source: String?
    /// The name of the format; `nil` to detect it.
    package var format: String?
    /// The URL of the responses of a format that has none.
    package var url: String?
    /// The URL of the page in the address bar.
    package var topLevel: String?
    /// Whether lifetimes count from now.
    package var receivedNow = false
    /// Whether the cookies that requests sent are imported.
    package var requestCookies = false
    /// Whether a capture that was imported before is imported again.
    package var again = false
    /// The SHA-256 digest of capture and options, by which the service knows a capture that was imported before.
    package var digest: String?
    /// Whether nothing is stored.
    package var dryRun = false

    /// Creates the default options.
    package init() {}

    fileprivate var parameters: [(name: String, value: String?)] {
        [
            ("source", source), ("format", format), ("url", url), ("topLevel", topLevel),
            ("receivedNow", receivedNow ? "true" : nil), ("requestCookies", requestCookies ? "true" : nil),
            ("again", again ? "true" : nil), ("digest", digest), ("dryRun", dryRun ? "true" : nil),
        ]
    }
}

extension SessionRequest where Answer == DecorationReport {
    /// The header fields to set on a request that is about to be sent.
    public static func decorate(_ document: DecorateDocument, in jar: String) -> Self {
        Self(.decorate, jar, document: document)
    }

    /// Logs in again for a request whose response means "not signed in", and returns the header fields to repeat it
    /// with.
    package static func renew(_ document: ResponseDocument, in jar: String) -> Self {
        Self(.renew, jar, document: document)
    }
}

extension SessionRequest where Answer == ResponseDecisions {
    /// Stores the cookies of a response.
    public static func receive(_ document: ResponseDocument, in jar: String) -> Self {
        Self(.receiveResponses, jar, document: document)
    }

    /// Stores `Set-Cookie` lines as if a URL had answered with them.
    package static func setCookies(_ document: SetCookieDocument, in jar: String) -> Self {
        Self(.setCookies, jar, document: document)
    }
}

extension SessionRequest where Answer == ResponseDecisionsList {
    /// Stores the cookies of several responses in one transaction.
    package static func receive(_ documents: [ResponseDocument], in jar: String) -> Self {
        Self(.receiveResponses, jar, document: documents)
    }
}

extension SessionRequest where Answer == CookieList {
    /// A page of the cookies of a jar.
    public static func cookies(
        of jar: String, _ filter: CookieQuery = CookieQuery(), showingValues: Bool = false,
        showingOrigins: Bool = false, limit: Int? = nil, cursor: String? = nil
    ) -> Self {
        Self(
            .listCookies, jar,
            query: filter.parameters + [
                ("values", showingValues ? "true" : nil), ("origins", showingOrigins ? "true" : nil),
                ("limit", limit.map(String.init)), ("cursor", cursor),
            ])
    }
}

extension SessionRequest where Answer == CookieReport {
    /// The cookie with a name that a request carries; the first of several.
    public static func cookie(
        _ name: String, for url: String, _ details: RequestDetails = RequestDetails(), in jar: String,
        showingValue: Bool = false
    ) -> Self {
        Self(
            .getCookie, jar, name,
            query: [
                ("url", url), ("method", details.method), ("topLevel", details.topLevel),
                ("initiator", details.initiator), ("navigation", details.navigation.map { "\($0)" }),
                ("values", showingValue ? "true" : nil),
            ])
    }
}

extension SessionRequest where Answer == CookieRemovalList {
    /// Removes the cookies that match a filter with at least one condition.
    public static func removeCookies(_ filter: CookieQuery, of jar: String) -> Self {
        Self(.removeCookies, jar, query: filter.parameters)
    }
}

extension SessionRequest where Answer == ScriptReport {
    /// The script that sets the cookies of pages.
    package static func script(_ document: ScriptDocument, of jar: String) -> Self {
        Self(.script, jar, document: document)
    }
}

extension SessionRequest where Answer == CaptureScriptReport {
    /// The script that reports a page's cookies to a message handler.
    package static func captureScript(handler: String, of jar: String) -> Self {
        Self(.captureScript, jar, query: [("handler", handler)])
    }
}

extension SessionRequest where Answer == ExplanationReport {
    /// Explains which cookies a request carries, and why others are not sent.
    package static func explain(_ document: ExplainDocument, in jar: String) -> Self {
        Self(.explain, jar, document: document)
    }
}

extension SessionRequest where Answer == SetCookieDryRunReport {
    /// Explains how the jar would process `Set-Cookie` lines.
    package static func explain(_ document: ExplainSetCookieDocument, in jar: String) -> Self {
        Self(.explainSetCookie, jar, document: document)
    }
}

extension SessionRequest where Answer == ChangeList {
    /// A page of the journal of a jar.
    package static func changes(of jar: String, after position: Int64? = nil, limit: Int? = nil) -> Self {
        Self(
            .listChanges, jar,
            query: [("after", position.map(String.init)), ("limit", limit.map(String.init))])
    }
}

extension SessionRequest where Answer == SessionBytes {
    /// The changes of a jar as server-sent events.
    package static func events(of jar: String, after position: Int64? = nil) -> Self {
        Self(.followChanges, jar, query: [("after", position.map(String.init))], accept: "text/event-stream")
    }

    /// The cookies of a jar in the format of another tool.
    package static func export(_ document: ExportDocument, of jar: String) -> Self {
        Self(.export, jar, document: document)
    }

    /// Imports a capture, and reports the progress: each line of the answer is a ``CaptureProgressLine``.
    package static func followedImport(_ query: CaptureQuery = CaptureQuery(), into jar: String) -> Self {
        Self(.importCapture, jar, query: query.parameters, accept: "application/x-ndjson")
    }
}
