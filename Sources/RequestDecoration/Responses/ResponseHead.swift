public import CookieModel
public import HTTPTypes
internal import OAuth2
public import SessionStore

/// The part of one response that cookie rules and redirects read, out of whatever a client gives.
public struct ResponseHead: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The first Location field that is not empty.
    public var location: Octets?
    /// The values of the WWW-Authenticate fields, in order; empty if a client's adapter does not give them.
    package var authenticate: [Octets]
    /// The value of the DPoP-Nonce field; `nil` if there is none, or if a client's adapter does not provide it.
    package var proofNonce: String?
    /// The values of the Proxy-Status fields (RFC 9209), in order; empty if a client's adapter does not give them.
    package var proxyStatus: [Octets]
    /// The values of the Set-Cookie fields, each apart, in order.
    package var setCookie: [Octets]
    /// The ambiguities in the lines that result from the form in which the client provides them.
    package var doubts: [SetCookieDoubt]

    /// A head from its parts.
    public init(
        status: Int, location: Octets? = nil, authenticate: [Octets] = [], proofNonce: String? = nil,
        proxyStatus: [Octets] = [], setCookie: [Octets] = [], doubts: [SetCookieDoubt] = []
    ) {
        self.proxyStatus = proxyStatus
        self.proofNonce = proofNonce
        self.status = status
        self.location = location
        self.authenticate = authenticate
        self.setCookie = setCookie
        self.doubts = doubts
    }

    /// The head of a response in the types of HTTPTypes, which keeps every field apart and every octet.
    public init(_ response: HTTPResponse) {
        self.init(
            status: response.status.code,
            location: response.headerFields.octets(of: .location).first { !$0.isEmpty },
            authenticate: response.headerFields.octets(of: .wwwAuthenticate),
            proofNonce: HTTPField.Name(ResponseHead.proofNonceFieldName).flatMap { response.headerFields[$0] },
            proxyStatus: HTTPField.Name(ResponseHead.proxyStatusFieldName)
                .map { response.headerFields.octets(of: $0) } ?? [],
            setCookie: response.headerFields.octets(of: .setCookie))
    }

    /// The field in which servers name the nonce that they want in proofs (RFC 9449, section 8.2).
    package static let proofNonceFieldName = "DPoP-Nonce"
    /// The field in which intermediaries say how they handled the request (RFC 9209).
    package static let proxyStatusFieldName = "Proxy-Status"

    /// Whether the server rejects the request only because its nonce is missing in the proof (RFC 9449, section 9).
    package var wantsProofNonce: Bool {
        status == 401 && proofNonce != nil
            && authenticate.contains { AuthenticationChallenge.challenges(in: $0).contains(where: \.wantsNonce) }
    }

    /// Creates the head from fields that a client has decoded as UTF-8. Lines in which it replaced octets with U+FFFD
    /// are left out and reported.
    package init(status: Int, location: String?, decodedSetCookie: [String]) {
        self.init(status: status, location: location.map { Octets($0) })
        for (index, line) in decodedSetCookie.enumerated() {
            if line.unicodeScalars.contains("\u{FFFD}") {
                doubts.append(SetCookieDoubt(.octetsReplaced, line: index))
            } else {
                setCookie.append(Octets(line))
            }
        }
    }
}

extension ResponseHead: ValueHiding {
    /// The status and the number of Set-Cookie lines, without the values of fields.
    public var description: String { "\(status) (Set-Cookie: \(setCookie.count), values hidden)" }
}

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

    /// Stores the cookies of a response, as ``receive(_:in:now:)-(ResponseHead,_,_)`` does, without blocking the caller's
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
