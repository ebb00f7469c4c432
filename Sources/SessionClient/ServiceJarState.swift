#if Store || AsyncHTTPClient || OpenIDConnect || Gateway || Programs
    package import CookieModel
    package import RequestExchange
    package import SessionWire

    /// An exchange with a jar of the service: what the service is asked about each hop, and what its answers mean.
    ///
    /// A state machine without network access, for ``SessionClient`` and `crumb curl`: send each request to the service, and
    /// pass on its answer.
    package struct ServiceJarState {
        private let jar: String
        private let signInLimit: Int
        private let details: (RequestContext) -> RequestDetails
        /// When the service was asked for the fields of the current hop, if that is known.
        private var sent: Timestamp?
        /// The last response that the site rejects a request with, and the URL of the request.
        private var rejection: (document: ResponseDocument, url: RequestURL)?
        /// The fields that present the renewed token to the URL of the request that was rejected.
        private var credential: (fields: [HeaderFieldReport], url: RequestURL)?
        /// How many times a request was signed in again.
        package private(set) var signInCount = 0
        /// Whether the current request presents a token with a proof, in which its server may want a nonce.
        package private(set) var hasProof = false

        /// - Parameters:
        ///   - signInLimit: How many times a request is signed in again.
        ///   - details: Returns what the service is told about a request besides its URL.
        package init(_ jar: String, signInLimit: Int, details: @escaping (RequestContext) -> RequestDetails) {
            self.jar = jar
            self.signInLimit = signInLimit
            self.details = details
        }

        /// Whether no step of the login is left.
        package var isOver: Bool { signInCount >= signInLimit }

        /// Begins a hop, and returns the request for its cookies and header fields.
        ///
        /// - Parameters:
        ///   - moment: The current time; `nil` if it is not known. It counts as the time when the hop's request is sent: a
        ///     session that is renewed after it may not be in the service's answer.
        ///   - cookies: The values of the caller's own Cookie fields.
        ///   - names: The names of the other fields that the caller sets, in lower case: the service adds none of them. One
        ///     that presents a token takes the place of the service's token.
        package mutating func decoration(
            of hop: RedirectChain, at moment: Timestamp?, cookies: [Octets], settingFields names: Set<String>
        ) -> SessionRequest<DecorationReport> {
            sent = moment
            // A token goes to the first origin only.
            let names = hop.hasLeftOrigin ? names.union(HeaderFieldReport.tokenFieldNames) : names
            let headers =
                cookies.map { HeaderFieldDocument(name: "cookie", value: $0) }
                + names.subtracting(["cookie"]).sorted().map { HeaderFieldDocument(name: $0, value: "") }
            let document = DecorateDocument(
                url: hop.context.url.description, details(hop.context), headers: headers.isEmpty ? nil : headers)
            return .decorate(document, in: jar)
        }

        /// Takes the service's answer for a hop.
        ///
        /// - Parameter report: The answer; `nil` if the jar does not exist.
        /// - Returns: The fields to set besides Cookie. Those that present a token come last: the renewed one, if there is one.
        package mutating func fields(_ report: DecorationReport?, for hop: RedirectChain) -> [HeaderFieldReport] {
            let all = (report?.fields ?? []).filter { $0.name != "cookie" }
            var presented = all.filter(\.presentsToken)
            if let credential, credential.url == hop.context.url, !hop.hasLeftOrigin { presented = credential.fields }
            credential = nil
            hasProof = presented.contains { $0.name.lowercased() == "dpop" }
            return all.filter { !$0.presentsToken } + presented
        }

        /// Returns the request that stores the cookies of a response, and reads its login challenge.
        package func receipt(
            of response: ResponseHead, to hop: RedirectChain
        ) -> SessionRequest<ResponseDecisions> {
            .receive(document(of: response, to: hop), in: jar)
        }

        /// Remembers whether the response to the current request rejects it: it says "not signed in", or asks for a nonce.
        package mutating func note(_ response: ResponseHead, to hop: RedirectChain, isRejection: Bool) {
            rejection = isRejection ? (document(of: response, to: hop), hop.context.url) : nil
        }

        /// Returns the request that renews the fields that present the token, for the request that was rejected; `nil` if
        /// none was.
        package var renewal: SessionRequest<DecorationReport>? {
            rejection.map { .renew($0.document, in: jar) }
        }

        /// Begins to sign in the request that was rejected.
        package mutating func beginSignIn() -> SessionRequest<DecorationReport>? {
            signInCount += 1
            return renewal
        }

        /// Takes the answer to a renewal.
        ///
        /// - Returns: Whether there are fields that present a token. The next request to the URL has them.
        @discardableResult
        package mutating func renewed(_ report: DecorationReport) -> Bool {
            let fields = report.fields.filter(\.presentsToken)
            credential = fields.isEmpty ? nil : rejection.map { (fields, $0.url) }
            return credential != nil
        }

        private func document(of response: ResponseHead, to hop: RedirectChain) -> ResponseDocument {
            ResponseDocument(response, to: hop.context.url.description, details(hop.context), sent: sent)
        }
    }

    extension HeaderFieldReport {
        /// The names of the fields that present a token, in lower case.
        package static let tokenFieldNames: Set = ["authorization", "dpop"]

        /// Whether the field presents a token.
        package var presentsToken: Bool { HeaderFieldReport.tokenFieldNames.contains(name.lowercased()) }
    }
#endif
