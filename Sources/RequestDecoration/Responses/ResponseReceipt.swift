public import CookieModel

/// What became of the cookies of one response.
public struct ResponseReceipt: Sendable {
    /// The decision on each Set-Cookie line, in order.
    public let decisions: [StorageDecision]
    /// What of the lines is not certain, for how the client gives them.
    public let doubts: [SetCookieDoubt]
}
