internal import CookieModel

/// What a ``NavigationPolicy`` has to remember of one web view, so that nothing it does goes round in circles.
public struct NavigationState: Sendable, Hashable {
    /// The URL that was last loaded decorated, until it is there.
    var decorated: String?
    /// Whether the login fallback was started, and no page has come since that shows somebody signed in.
    var hasTriedFallback = false
    /// When the process that shows the page ended, as far back as it counts.
    var terminations: [Timestamp] = []

    /// A web view that has loaded nothing yet.
    public init() {}
}
