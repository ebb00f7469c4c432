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
        private let name: String
        private let details: RequestDetails
        /// Whether a response that says "not signed in" leads to a login.
        private let signsIn: Bool
        private let now: () -> Timestamp?
        /// The names of the jar's cookies on the current request, and those that are not on it.
        private var (cookies, excluded): ([String], [DecorationReport.Exclusion]) = ([], [])
        /// When the request was sent, if that is known.
        private var sent: Timestamp?
        /// The last response that says "not signed in", and its URL.
        private var rejection: (document: ResponseDocument, login: LoginChallengeReport, url: RequestURL)?
        /// The fields that present the renewed token to the URL of the request that was rejected.
        private var credential: (fields: [HeaderFieldReport], url: RequestURL)?
        private var signInCount = 0
        /// Whether the current request presents a token with a proof, in which its server may want a nonce.
        private var hasProof = false
        /// Whether the current request is the last one once more, with the nonce.
        private var hasNonce = false
        /// The hops so far, one per response.
        private(set) var hops: [SessionExchangeHop] = []

        init(
            _ client: SessionClient, _ name: String, _ details: RequestDetails, signsIn: Bool = false,
            now: @escaping () -> Timestamp? = { nil }
        ) {
            self.client = client
            self.name = name
            self.details = details
            self.signsIn = signsIn
            self.now = now
        }

        mutating func decorate(_ request: Request, of hop: inout RedirectChain) async throws -> Request {
            try Task.checkCancellation()
            let url = hop.context.url
            var request = request
            request.refuseClientCookies()
            var headers = request.fieldValues(.cookie).map { HeaderFieldDocument(name: "cookie", value: $0) }
            // The service presents no token with a request that has such a field: the caller's own takes its place, and a
            // token goes to the first origin only.
            for field in tokenFields where hop.hasLeftOrigin || request.hasField(field) {
                headers.append(HeaderFieldDocument(name: field.canonicalName, value: ""))
            }
            let document = DecorateDocument(
                url: url.description, details(of: hop), headers: headers.isEmpty ? nil : headers)
            let report = try await client.answer(to: .decorate(document, in: name))
            var fields = report.fields
            if let credential, credential.url == url, !hop.hasLeftOrigin {
                fields = fields.filter { !$0.presentsToken } + credential.fields
            }
            credential = nil
            (cookies, excluded) = (report.included, report.excluded)
            hasProof = fields.contains { $0.name.lowercased() == "dpop" }
            for field in fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                if name == .cookie {
                    setCookies(field.octets, on: &request)
                } else if !request.hasField(name), Request.carries(field.octets) {
                    request.setField(name, field.octets)
                }
            }
            sent = now()
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

        mutating func receive(_ response: ResponseHead, to hop: RedirectChain) async throws -> Bool {
            let url = hop.context.url
            let document = ResponseDocument(response, to: url.description, details(of: hop), sent: sent)
            let answer = try await client.receiveToEnd(document, in: name)
            rejection = answer.login.map { (document, $0, url) }
            hops.append(
                SessionExchangeHop(
                    url: url, method: hop.context.method, cookies: cookies, excluded: excluded, status: response.status,
                    receipt: answer, doubts: response.doubts))
            // The service adds the nonce when it renews the fields of the request. The token stays the same.
            hasNonce = hasProof && !hasNonce && response.mentionsNonce
            if hasNonce { hasNonce = (try? await renew()) ?? false }
            return hasNonce
        }

        func mayRepeat(after response: ResponseHead, to hop: RedirectChain) -> Bool? {
            guard signsIn, signInCount < signInLimit, let login = rejection?.login else { return nil }
            // If the site rejects a renewed token as well, its response is the result.
            return signInCount > 0 && login.action == .logIn ? nil : login.mayRepeat
        }

        mutating func signIn() async throws {
            signInCount += 1
            _ = try await renew()
        }

        /// Has the service renew the fields that present the token, for the request that was rejected.
        ///
        /// - Returns: Whether there are any.
        private mutating func renew() async throws -> Bool {
            guard let rejection else { return false }
            let answer = try await client.answer(to: .renew(rejection.document, in: name))
            let fields = answer.fields.filter(\.presentsToken)
            credential = fields.isEmpty ? nil : (fields, rejection.url)
            return !fields.isEmpty
        }

        /// The details of a hop's request.
        private func details(of hop: RedirectChain) -> RequestDetails {
            var details = details
            details.method = hop.context.method
            return details
        }
    }

    /// How many times a request is signed in again: with the stored token, and with a renewed one.
    private let signInLimit = 2

    /// The fields that present a token.
    private let tokenFields = [.authorization] + ["DPoP"].compactMap { HTTPField.Name($0) }

    extension ResponseHead {
        /// Whether the server seems to reject the request only because its nonce is missing in the proof (RFC 9449, section
        /// 9). The service reads the challenge, and takes any other for a rejected token.
        fileprivate var mentionsNonce: Bool {
            status == 401 && proofNonce != nil && authenticate.contains { $0.description.contains("use_dpop_nonce") }
        }
    }

    extension HeaderFieldReport {
        /// Whether the field presents a token.
        fileprivate var presentsToken: Bool { HTTPField.Name(name).map(tokenFields.contains) ?? false }
    }
#endif
