public import CookieModel

/// What happened in one hop of an exchange.
public struct ExchangeHop: Sendable {
    /// The URL that was requested.
    public let url: RequestURL
    /// The method it was requested by.
    public let method: String
    /// What went onto the request.
    public let decoration: DecorationReport
    /// The status of the answer.
    public let status: Int
    /// What became of its cookies.
    public let receipt: ResponseReceipt
}
