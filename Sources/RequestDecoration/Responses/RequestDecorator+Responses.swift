public import CookieModel
public import HTTPTypes
import OAuth2
public import SessionStore

extension RequestDecorator {
    /// Stores what a response sets, whatever its status, and remembers its server's nonce for proofs.
    ///
    /// - Parameters:
    ///   - response: the response. Every hop of a redirect is one of its own.
    ///   - context: the request that it answers.
    ///   - now: when it came.
    @discardableResult
    public func receive(
        _ response: ResponseHead, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        if let nonce = response.proofNonce { settings.nonces.remember(nonce, for: context.url.origin) }
        guard !response.setCookie.isEmpty else { return ResponseReceipt(decisions: [], doubts: response.doubts) }
        let decisions = try jar.receive(
            ReceivedResponse(context: context, status: response.status, setCookie: response.setCookie), now: now)
        return ResponseReceipt(decisions: decisions, doubts: response.doubts)
    }

    /// Stores what a response sets, whatever its status.
    @discardableResult
    public func receive(
        _ response: HTTPResponse, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }
}
