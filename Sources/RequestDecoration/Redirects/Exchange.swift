public import CookieModel

/// The end of an exchange: the answer for the caller, and what happened on the way.
public struct Exchange<Payload> {
    /// The answer's status and fields, as far as they were read.
    public let head: ResponseHead
    /// What the transport gave with it.
    public let payload: Payload
    /// What happened, a hop for each request; the last one is the answer's.
    public let hops: [ExchangeHop]
    /// The URL that answered.
    public let url: RequestURL
}

extension Exchange: Sendable where Payload: Sendable {}
