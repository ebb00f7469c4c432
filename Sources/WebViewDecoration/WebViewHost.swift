public import CookieModel
public import RequestDecoration
public import SessionStore

/// The app around a web view: it does what a ``WebViewSession`` decides.
@MainActor
public protocol WebViewHost: AnyObject {
    /// Loads a page in the web view.
    ///
    /// - Parameters:
    ///   - url: the page.
    ///   - cookie: the value of the request's Cookie field; `nil` where the native store sends it all.
    func load(_ url: RequestURL, cookie: Octets?)
    /// Loads the page again that was there.
    func reload()
    /// Hands a URL to the system: a telephone number, a mail address, a store's page.
    func handToSystem(_ url: String)
    /// A URL of one of the app's own schemes.
    func receive(appEvent url: String)
    /// Nobody is signed in any more: get back in, and load the page again.
    func startLoginFallback(for url: String)
    /// The page could not be loaded.
    func show(_ failure: NavigationFailure)
    /// The jar could not be read or written; the navigation goes on without.
    func sessionFailed(_ error: SessionStoreError)
}
