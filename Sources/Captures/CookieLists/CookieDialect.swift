/// How one format's list names what a cookie has. What all of them agree on, ``CookieMembers`` knows.
struct CookieDialect: Sendable {
    /// The member with the moment that the cookie ends at, in seconds since 1970.
    let expiry: StaticString
    /// Whether `-1` as that moment means "with the session"; elsewhere it is a moment like any other.
    let endsWithSessionAtMinusOne: Bool
    /// Whether a member `hostOnly` decides between host-only cookie and domain cookie, rather than the domain's dot.
    let hasHostOnly: Bool
    /// Whether a cookie without the member `sameSite` has no SameSite attribute, rather than one that is not told.
    var leavesNoSameSiteOut = false
    /// What the list is called in messages.
    let title: String
    /// Whether `.local` may stand behind a host without a dot, as Python's cookie jars write it.
    var extendsLocalHosts = false
    /// Whether each character stands for an octet, as Python's HTTP clients read what servers send.
    var isLatin1 = false

    /// Playwright's and Puppeteer's `storageState`, and Playwright's `context.cookies()`.
    static let storageState = CookieDialect(
        expiry: "expires", endsWithSessionAtMinusOne: true, hasHostOnly: false, title: "storage state")
    /// `Network.getCookies`, `Storage.getCookies` of the Chrome DevTools Protocol, and Puppeteer's `page.cookies()`.
    static let devTools = CookieDialect(
        expiry: "expires", endsWithSessionAtMinusOne: true, hasHostOnly: false, leavesNoSameSiteOut: true,
        title: "DevTools cookie list")
    /// WebDriver's "Get All Cookies" and WebDriver BiDi's `storage.getCookies`.
    static let webDriver = CookieDialect(
        expiry: "expiry", endsWithSessionAtMinusOne: false, hasHostOnly: false, title: "WebDriver cookie list")
    /// What extensions make of `chrome.cookies`: Cookie-Editor, EditThisCookie and their kin.
    static let cookieEditor = CookieDialect(
        expiry: "expirationDate", endsWithSessionAtMinusOne: false, hasHostOnly: true, title: "Cookie-Editor export")
    /// HTTPie's session files.
    static let httpieSession = CookieDialect(
        expiry: "expires", endsWithSessionAtMinusOne: false, hasHostOnly: false, title: "HTTPie session",
        extendsLocalHosts: true, isLatin1: true)
}
