/// The client followed a redirect by itself: with cookies that were meant for another URL, and what the answer on the
/// way set is lost.
public struct ClientRedirectsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable identifier.
    public let code = "client-follows-redirects"

    /// An error.
    public init() {}

    /// One sentence that says what to do.
    public var description: String {
        "the HTTP client follows redirects itself; make it with redirectConfiguration: .disallow"
    }
}
