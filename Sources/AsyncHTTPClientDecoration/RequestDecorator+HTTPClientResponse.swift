public import AsyncHTTPClient
public import CookieModel
public import RequestDecoration
public import SessionStore

extension RequestDecorator {
    /// Stores what a response sets, whatever its status.
    @discardableResult
    public func receive(
        _ response: HTTPClientResponse, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }
}
