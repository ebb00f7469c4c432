public import CookieModel
public import RequestDecoration
public import SessionStore

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension RequestDecorator {
    /// Stores what a response sets, whatever its status.
    @discardableResult
    public func receive(
        _ response: HTTPURLResponse, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }
}
