public import WebPrimitives

/// The part of one HTTP response that cookie rules read.
public struct ReceivedResponse: Sendable {
    /// The request that was answered.
    public var context: RequestContext
    /// The status code.
    public var status: Int
    /// The field values of its Set-Cookie lines, in order.
    public var setCookie: [Octets]

    /// A response from its parts.
    public init(context: RequestContext, status: Int = 200, setCookie: [Octets]) {
        self.context = context
        self.status = status
        self.setCookie = setCookie
    }

    /// Whether its Set-Cookie lines count (section 5.3): those of every status but the informational ones do; 101
    /// ends a WebSocket's handshake and counts too, as in browsers.
    public var setsCookies: Bool {
        !(100...199).contains(status) || status == 101
    }
}
