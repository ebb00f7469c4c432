import WebPrimitives

/// The formats that cookies are written in. More may come: a `switch` over them wants a `default`.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// The cookie file of Netscape, which curl, wget and yt-dlp read.
    case netscape
    /// Playwright's and Puppeteer's `storageState`.
    case storageState = "storage-state"
    /// HTTP Archive 1.2: responses that set the cookies.
    case har
    /// Our own, a JSON object a line, which loses nothing.
    case json
    /// Set-Cookie lines of one host's response.
    case setCookie = "set-cookie"
    /// The Cookie field of one request.
    case header
    /// A configuration file for curl, with the Cookie field of one request.
    case curl
    /// A session of HTTPie.
    case httpieSession = "httpie-session"
    /// The cookies of WebDriver's "Add Cookie", for a page of one host.
    case webDriver = "webdriver"

    /// Names that people know formats by, beside the formats' own names.
    public static let aliases = ["cookies.txt": "netscape", "playwright": "storage-state"]

    /// The format of a name, its own or one of ``aliases``; `nil` for any other name.
    public init?(name: String) {
        self.init(rawValue: ExportFormat.aliases[name] ?? name)
    }

    /// The format's name for a person.
    public var title: String {
        switch self {
        case .netscape: "Netscape cookies.txt (curl, wget, yt-dlp)"
        case .storageState: "storageState (Playwright, Puppeteer)"
        case .har: "HAR"
        case .json: "JSON lines of crumb"
        case .setCookie: "Set-Cookie lines"
        case .header: "Cookie header"
        case .curl: "curl configuration file"
        case .httpieSession: "HTTPie session"
        case .webDriver: "WebDriver cookie list"
        }
    }

    /// What a file holds: the cookies of any number of sites, or what goes with one URL.
    public enum Scope: Sendable, Hashable {
        /// Any cookies.
        case anySite
        /// The cookies that a page of one host can set.
        case oneHost
        /// The cookies that one request carries, in their order.
        case oneRequest
    }

    /// What a file of the format holds.
    public var scope: Scope {
        switch self {
        case .netscape, .storageState, .har, .json, .httpieSession: .anySite
        case .setCookie, .webDriver: .oneHost
        case .header, .curl: .oneRequest
        }
    }

    /// What of a cookie the format can hold.
    public var capabilities: FormatCapabilities {
        switch self {
        case .netscape:
            // A line without a name is read by curl as a name without a value. Few tools but curl write `#HttpOnly_`.
            FormatCapabilities(
                [.domain, .hostOnly, .path, .secure, .httpOnly], optional: [.httpOnly], expiry: .seconds,
                partitions: .ownSiteUnmarked,
                octets: .columns, needsText: false, holdsNameless: false)
        case .storageState:
            // Playwright writes Lax for no SameSite attribute.
            FormatCapabilities(
                [.domain, .hostOnly, .path, .secure, .httpOnly, .sameSite], holdsNoSameSite: false,
                expiry: .microseconds, partitions: .all, octets: .browser, needsText: true, holdsNameless: true)
        case .har:
            FormatCapabilities(
                [.domain, .hostOnly, .path, .secure, .httpOnly, .sameSite], expiry: .seconds, partitions: .ownSite,
                octets: .setCookie, needsText: true, holdsNameless: true)
        case .json:
            FormatCapabilities(
                Set(CookieFeature.allCases), expiry: .exact, partitions: .all, octets: .any, needsText: false,
                holdsNameless: true)
        case .setCookie:
            FormatCapabilities(
                [.domain, .hostOnly, .path, .secure, .httpOnly, .sameSite], expiry: .seconds, partitions: .ownSite,
                octets: .setCookie, needsText: false, holdsNameless: true)
        case .header, .curl:
            FormatCapabilities(
                [], expiry: .none, partitions: .ownSiteUnmarked, octets: .header, needsText: false, holdsNameless: true)
        case .httpieSession:
            // Python's cookie jar sends a cookie of a host to the hosts below it as well.
            FormatCapabilities(
                [.domain, .path, .secure], expiry: .seconds, partitions: .ownSiteUnmarked, octets: .setCookie,
                needsText: false, holdsNameless: false)
        case .webDriver:
            // For no SameSite attribute browsers answer Lax or None.
            FormatCapabilities(
                [.domain, .hostOnly, .path, .secure, .httpOnly, .sameSite], holdsNoSameSite: false, expiry: .seconds,
                partitions: .ownSiteUnmarked, octets: .browser, needsText: true, holdsNameless: false)
        }
    }
}

extension ExportFormat {
    /// Whether a file of the format holds the `localStorage` of pages too.
    public var holdsWebStorage: Bool { self == .storageState }
}
