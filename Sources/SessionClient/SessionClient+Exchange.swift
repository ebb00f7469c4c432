// Requests of HTTP clients need HTTPTypes, which a consumer without traits does not resolve.
#if Store || AsyncHTTPClient || OpenIDConnect || Gateway || Programs
    import CookieModel
    public import HTTPTypes
    @_exported public import RequestExchange
    public import SessionWire
    public import WebPrimitives

    extension SessionClient {
        /// Returns a copy of `request` with the cookies and header fields that a jar adds. Method and body stay unchanged.
        ///
        /// Cookies and fields of the request take precedence by name. Those that a client of text cannot carry are left out;
        /// ``exchange(_:in:_:limit:isBodyRepeatable:now:transport:)`` reports them.
        ///
        /// - Parameter details: The page or user that makes the request; by default, the user navigates to its URL. The
        ///   method is the request's own.
        /// - Throws: ``SessionClientError``; `RequestURLError` if the request has no URL that can be requested.
        public func decorate<Request: DecoratableRequest>(
            _ request: Request, in jar: String, _ details: RequestDetails = RequestDetails()
        ) async throws -> Request {
            var jar = ServiceJar<Request>(self, jar, details)
            var chain = RedirectChain(
                RequestContext(url: try request.requestURL()).with(method: request.requestMethod))
            return try await jar.decorate(request, of: &chain)
        }

        /// Stores the cookies of a response, whatever its status, even if the task is cancelled.
        ///
        /// - Parameters:
        ///   - url: The URL that was requested. Every hop of a redirect has a response of its own.
        ///   - details: The request; by default, the user navigated to its URL.
        /// - Returns: The decision on each Set-Cookie line, and the next step if the response says "not signed in".
        @discardableResult
        public func receive(
            _ response: HTTPResponse, to url: String, in jar: String, _ details: RequestDetails = RequestDetails()
        ) async throws -> ResponseDecisions {
            try await answerToEnd(to: .receive(ResponseDocument(ResponseHead(response), to: url, details), in: jar))
        }

        /// Stores the cookies of a response, even if the task is cancelled.
        func answerToEnd(to request: SessionRequest<ResponseDecisions>) async throws -> ResponseDecisions {
            try await Task { try await answer(to: request) }.value
        }

        /// Makes a request with a jar of the service, and follows its redirects. The service decorates each hop, and stores the
        /// cookies of each response before the next hop. Requests and responses go over your transport only.
        ///
        /// ```swift
        /// let exchange = try await client.exchange(request, in: "work") { request, chain in
        ///     let (response, payload) = try await send(request, chain.keepsBody ? body : nil)
        ///     return (ResponseHead(response), payload)
        /// }
        /// ```
        ///
        /// If a response says "not signed in" by a login rule of the jar, the service delivers the stored token, then a renewed
        /// one, and the request is sent once more for each, body included. A request with a `RepetitionRefusal` is not: the
        /// session is renewed, and the response is the result. The caller's own `Authorization` field turns this off.
        ///
        /// - Parameters:
        ///   - request: The caller's request. Its own cookies and credentials are for its origin only.
        ///   - jar: The name of the jar. The access token needs `write` and `secrets` for it.
        ///   - details: The page or user that makes the request; by default, the user navigates to its URL. The method is the
        ///     request's own.
        ///   - limit: How many redirects are followed.
        ///   - isBodyRepeatable: Whether the body can be sent again, if the request itself does not know.
        ///   - now: Returns the current time, by the clock of the service; `nil` if it is not known. With it, the service
        ///     renews once for many requests that are in flight together.
        ///   - transport: Sends one request without following redirects. The chain tells transports that get the body
        ///     separately whether the first request's body is still to be sent. Only the last payload is kept.
        /// - Throws: ``UnstoredResponseError`` if a response came and the service did not store it,
        ///   ``SessionClientError``, `RedirectError`, `RequestURLError`, or the transport's error.
        public func exchange<Request: DecoratableRequest, Payload: Sendable>(
            _ request: Request, in jar: String, _ details: RequestDetails = RequestDetails(),
            limit: Int = Redirect.limit,
            isBodyRepeatable: Bool = true, now: (() -> Timestamp)? = nil,
            transport: (Request, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
        ) async throws -> SessionExchange<Payload> {
            var redirected = RedirectedRequest(
                request, in: RequestContext(url: try request.requestURL()), limit: limit,
                isBodyRepeatable: isBodyRepeatable)
            var jar = ServiceJar<Request>(
                self, jar, details, signsIn: !request.hasField(.authorization), now: now ?? { nil })
            var last: (head: ResponseHead, payload: Payload)?
            do {
                let (head, payload, refusal) = try await redirected.run(with: &jar) { request, hop in
                    // The payload of a redirect may hold a connection that the next request needs.
                    last = nil
                    let response = try await transport(request, hop)
                    last = response
                    return response
                }
                return SessionExchange(
                    head: head, payload: payload, hops: jar.hops, url: redirected.chain.context.url,
                    repetitionRefusal: refusal)
            } catch let failure as StorageFailure {
                guard let last else { throw failure.cause }
                throw UnstoredResponseError(
                    cause: failure.cause,
                    exchange: SessionExchange(
                        head: last.head, payload: last.payload, hops: jar.hops, url: redirected.chain.context.url,
                        repetitionRefusal: nil))
            }
        }
    }

    /// A response came, and the service did not store its cookies: the access token lacks `write`, or the service is not
    /// reachable. The request was made, so use the response rather than repeat the request.
    public struct UnstoredResponseError<Payload: Sendable>: DescribedError {
        /// Why the service did not store the cookies.
        public let cause: SessionClientError
        /// The response and its hops. The last hop is that of the response, whose redirect is not followed; its `receipt` is
        /// empty.
        public let exchange: SessionExchange<Payload>

        /// One sentence that names the origin and the cause, without secrets.
        public var description: String {
            "\(exchange.url.origin): the service did not store the cookies of the response: \(cause)"
        }
    }

    /// The result of an exchange with a jar of the service: the response for the caller, and every hop.
    public struct SessionExchange<Payload> {
        /// The response's status and fields, as far as they were read.
        public let head: ResponseHead
        /// The payload that the transport returned with the response.
        public let payload: Payload
        /// The hops, one for each request. The last one belongs to the response.
        public let hops: [SessionExchangeHop]
        /// The URL of the response.
        public let url: RequestURL
        /// Why a request was not sent once more although its response says "not signed in"; `nil` if there was none.
        public let repetitionRefusal: RepetitionRefusal?
    }

    extension SessionExchange: Sendable where Payload: Sendable {}

    /// One hop of an exchange with a jar of the service.
    public struct SessionExchangeHop: Sendable {
        /// The URL that was requested.
        public let url: RequestURL
        /// The method it was requested by.
        public let method: String
        /// The names of the jar's cookies that were sent.
        public let cookies: [String]
        /// The cookies that were not sent, with the reasons. With `octets-not-carried`, the client accepts only text.
        public let excluded: [DecorationReport.Exclusion]
        /// The jar's header fields for the URL that were not sent, with the reason. With `octets-not-carried`, the client
        /// accepts only text.
        public let omittedFields: [DecorationReport.OmittedField]
        /// The status of the response.
        public let status: Int
        /// The outcome of the response's cookies; empty if the service did not store them.
        public let receipt: ResponseDecisions
        /// The ambiguities in the response's Set-Cookie lines that result from the form in which the client provides them.
        public let doubts: [SetCookieDoubt]
    }

    extension ResponseDocument {
        /// The document of a response that a client received.
        package init(_ head: ResponseHead, to url: String, _ details: RequestDetails, sent: Timestamp? = nil) {
            var headers = head.setCookie.map { HeaderFieldDocument(name: "set-cookie", value: $0) }
            headers += head.authenticate.map { HeaderFieldDocument(name: "www-authenticate", value: $0) }
            if let location = head.location { headers.append(HeaderFieldDocument(name: "location", value: location)) }
            headers += head.proxyStatus.map { HeaderFieldDocument(name: "proxy-status", value: $0) }
            if let nonce = head.proofNonce { headers.append(HeaderFieldDocument(name: "dpop-nonce", value: nonce)) }
            self.init(url: url, status: head.status, headers: headers, details, sent: sent?.rfc3339)
        }
    }
#endif
