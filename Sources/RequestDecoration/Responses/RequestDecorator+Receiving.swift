public import CookieModel
public import HTTPTypes
import OAuth2
public import RequestExchange
public import SessionStore

extension RequestDecorator {
    /// Stores the cookies of a response, whatever its status, and remembers its server's nonce for proofs.
    ///
    /// - Parameters:
    ///   - response: the response. Every hop of a redirect is one of its own.
    ///   - context: the request that it responds to.
    ///   - now: when it came; `nil` for the time of the jar's database.
    @discardableResult
    package func receive(
        _ response: ResponseHead, in context: RequestContext, now: Timestamp? = nil
    ) throws(SessionStoreError) -> ResponseReceipt {
        let decisions = try received(response, in: context).map { response throws(SessionStoreError) in
            try jar.receive(response, now: now)
        }
        return ResponseReceipt(decisions: decisions ?? [], doubts: response.doubts)
    }

    /// Stores the cookies of a response, as the call with `now` does, without blocking the caller's
    /// thread. The cookies are stored even if the task is cancelled.
    ///
    /// - Parameter time: when it came; `nil` for the time of the jar's database.
    /// - Throws: `SessionStoreError`.
    @discardableResult
    public func receive(
        _ response: ResponseHead, in context: RequestContext, at time: Timestamp? = nil
    ) async throws -> ResponseReceipt {
        guard let received = received(response, in: context) else {
            return ResponseReceipt(decisions: [], doubts: response.doubts)
        }
        let decisions = try await jar.receiveToEnd(received, at: time)
        return ResponseReceipt(decisions: decisions, doubts: response.doubts)
    }

    /// The response for the jar; `nil` if it sets no cookies. Remembers its nonce.
    private func received(_ response: ResponseHead, in context: RequestContext) -> ReceivedResponse? {
        if let nonce = response.proofNonce { settings.nonces.remember(nonce, for: context.url.origin) }
        guard !response.setCookie.isEmpty else { return nil }
        return ReceivedResponse(context: context, status: response.status, setCookie: response.setCookie)
    }

    /// Stores the cookies of a response, whatever its status.
    @discardableResult
    public func receive(
        _ response: HTTPResponse, in context: RequestContext, now: Timestamp? = nil
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }

    /// Stores the cookies of a response, whatever its status, without blocking the caller's thread.
    @discardableResult
    public func receive(
        _ response: HTTPResponse, in context: RequestContext, at time: Timestamp? = nil
    ) async throws -> ResponseReceipt {
        try await receive(ResponseHead(response), in: context, at: time)
    }
}

/// The outcome of the cookies of one response.
public struct ResponseReceipt: Sendable {
    /// The decision on each Set-Cookie line, in order.
    public let decisions: [StorageDecision]
    /// The ambiguities in the lines that result from the form in which the client provides them.
    public let doubts: [SetCookieDoubt]
}

extension ResponseHead {
    /// Whether the server rejects the request only because its nonce is missing in the proof (RFC 9449, section 9).
    package var wantsProofNonce: Bool {
        status == 401 && proofNonce != nil
            && authenticate.contains { AuthenticationChallenge.challenges(in: $0).contains(where: \.wantsNonce) }
    }
}
