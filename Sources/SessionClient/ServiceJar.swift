#if Store || AsyncHTTPClient || OpenIDConnect || Gateway || Programs
    import CookieModel
    import HTTPTypes
    import RequestExchange
    import SessionWire
    import WebPrimitives

    /// A jar of the service in an exchange: the service decorates the requests, stores the cookies of the responses, and
    /// renews tokens.
    struct ServiceJar<Request: DecoratableRequest>: ExchangeJar {
        private let client: SessionClient
        private var state: ServiceJarState
        /// Whether a response that says "not signed in" leads to a login.
        private let signsIn: Bool
        private let now: () -> Timestamp?
        /// The names of the jar's cookies on the current request, and those that are not on it.
        private var (cookies, excluded): ([String], [DecorationReport.Exclusion]) = ([], [])
        /// The jar's header fields that are not on the current request.
        private var omitted: [DecorationReport.OmittedField] = []
        /// The next step that the last response asks for; `nil` if it does not say "not signed in".
        private var login: LoginChallengeReport?
        /// Whether the current request is the last one once more, with the nonce.
        private var hasNonce = false
        /// The hops so far, one per response.
        private(set) var hops: [SessionExchangeHop] = []

        init(
            _ client: SessionClient, _ name: String, _ details: RequestDetails, signsIn: Bool = false,
            now: @escaping () -> Timestamp? = { nil }
        ) {
            self.client = client
            // With the stored token, and with a renewed one.
            state = ServiceJarState(name, signInLimit: 2) { context in
                var details = details
                details.method = context.method
                return details
            }
            self.signsIn = signsIn
            self.now = now
        }

        mutating func decorate(_ request: Request, of hop: inout RedirectChain) async throws -> Request {
            try Task.checkCancellation()
            var request = request
            request.refuseClientCookies()
            // The other fields of the request take precedence below: a request does not list them.
            let tokenFields = HeaderFieldReport.tokenFieldNames.filter {
                HTTPField.Name($0).map(request.hasField) ?? false
            }
            let report = try await client.answer(
                to: state.decoration(
                    of: hop, at: now(), cookies: request.fieldValues(.cookie), settingFields: tokenFields))
            (cookies, excluded, omitted) = (report.included, report.excluded, report.omittedFields ?? [])
            let fields = state.fields(report, for: hop)
            if !report.cookieString.isEmpty { setCookies(report.cookieString, on: &request) }
            for field in fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                if request.hasField(name) {
                    omit(field, "set-by-caller")
                } else if Request.carries(field.octets) {
                    request.setField(name, field.octets)
                } else {
                    omit(field, "octets-not-carried")
                }
            }
            return request
        }

        /// Sets the Cookie field, which has the request's own cookies, too. Leaves out cookies that the client cannot carry.
        private mutating func setCookies(_ cookies: Octets, on request: inout Request) {
            guard !Request.carries(cookies) else { return request.setField(.cookie, cookies) }
            var carried: [Octets] = []
            for pair in cookies.split(separator: ASCII.semicolon).map({ Octets(Array($0)).trimmingBlanks }) {
                if Request.carries(pair) {
                    carried.append(pair)
                } else {
                    omit(Octets(Array(pair.prefix { $0 != UInt8(ascii: "=") })).description)
                }
            }
            request.removeField(.cookie)
            if !carried.isEmpty { request.setField(.cookie, Octets(Array(carried.joined(separator: "; ".utf8)))) }
        }

        /// Notes that a cookie of the service is not sent.
        ///
        /// - Parameter text: Its pair up to the first equals sign. If the service has not named it so, it is the value of a
        ///   cookie that has no name.
        private mutating func omit(_ text: String) {
            let index = cookies.firstIndex(of: text) ?? cookies.firstIndex(of: "")
            let name = index.map { cookies.remove(at: $0) } ?? ""
            excluded.append(DecorationReport.Exclusion(name: name, reasons: ["octets-not-carried"]))
        }

        /// Notes that a header field of the service is not sent.
        private mutating func omit(_ field: HeaderFieldReport, _ reason: String) {
            omitted.append(DecorationReport.OmittedField(name: field.name, reason: reason, scope: field.scope))
        }

        mutating func receive(_ response: ResponseHead, to hop: RedirectChain) async throws -> Bool {
            let answer: ResponseDecisions
            do {
                answer = try await client.answerToEnd(to: state.receipt(of: response, to: hop))
            } catch let error as SessionClientError {
                addHop(to: hop, response, ResponseDecisions(decisions: []))
                throw StorageFailure(cause: error)
            }
            login = answer.login
            state.note(response, to: hop, isRejection: login != nil)
            addHop(to: hop, response, answer)
            // The service adds the nonce when it renews the fields of the request. The token stays the same.
            hasNonce = state.hasProof && !hasNonce && response.mentionsNonce
            if hasNonce { hasNonce = (try? await renew(by: state.renewal)) ?? false }
            return hasNonce
        }

        private mutating func addHop(to hop: RedirectChain, _ response: ResponseHead, _ receipt: ResponseDecisions) {
            hops.append(
                SessionExchangeHop(
                    url: hop.context.url, method: hop.context.method, cookies: cookies, excluded: excluded,
                    omittedFields: omitted, status: response.status, receipt: receipt, doubts: response.doubts))
        }

        func mayRepeat(after response: ResponseHead, to hop: RedirectChain) -> Bool? {
            guard signsIn, !state.isOver, let login else { return nil }
            // If the site rejects a renewed token as well, its response is the result.
            return state.signInCount > 0 && login.action == .logIn ? nil : login.mayRepeat
        }

        mutating func signIn() async throws {
            _ = try await renew(by: state.beginSignIn())
        }

        /// Has the service renew the fields that present the token, for the request that was rejected.
        ///
        /// - Returns: Whether there are any.
        private mutating func renew(by request: SessionRequest<DecorationReport>?) async throws -> Bool {
            guard let request else { return false }
            return state.renewed(try await client.answer(to: request))
        }
    }

    /// The service did not store a response.
    struct StorageFailure: Error {
        let cause: SessionClientError
    }

    extension ResponseHead {
        /// Whether the server seems to reject the request only because its nonce is missing in the proof (RFC 9449, section
        /// 9). The service reads the challenge, and takes any other for a rejected token.
        fileprivate var mentionsNonce: Bool {
            status == 401 && proofNonce != nil && authenticate.contains { $0.description.contains("use_dpop_nonce") }
        }
    }
#endif
