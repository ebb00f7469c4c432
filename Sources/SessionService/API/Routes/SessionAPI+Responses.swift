import CookieModel
import HTTPTypes
import Hummingbird
import RequestDecoration
import SessionOperations
import SessionStore

extension HeaderFieldDocument: PlainDocument {
    init?(_ object: FlatJSONObject) {
        guard let name = object.text("name"), let value = object.text("value"), object.count == 2 else { return nil }
        self.init(name: name, value: value)
    }

    /// The octets of the value.
    ///
    /// - Parameter place: the field's place in the body.
    func octets(at place: String) throws(OperationError) -> Octets {
        try HeaderFieldDocument.octets(value, valueBase64, at: "\(place).")
    }
}

extension ResponseMembers: PlainMembers {
    static func document(_ object: FlatJSONObject, _ details: RequestDetails) -> (ResponseDocument, count: Int)? {
        guard let url = object.text("url"), let headers = object.objects("headers") else { return nil }
        var fields: [HeaderFieldDocument] = []
        for header in headers {
            guard let field = HeaderFieldDocument(header) else { return nil }
            fields.append(field)
        }
        let status = object.number("status").flatMap { Number<StatusRange>($0)?.value }
        let (sent, received) = (object.text("sent"), object.text("received"))
        let document = ResponseDocument(
            url: url, status: status, headers: fields, details, sent: sent, received: received)
        return (document, count: 2 + (status == nil ? 0 : 1) + (sent == nil ? 0 : 1) + (received == nil ? 0 : 1))
    }
}

extension ResponseDocument {
    /// The request, as the cookie rules need it.
    func requestContext() throws(OperationError) -> CookieModel.RequestContext {
        try details.requestContext(for: members.url)
    }

    /// The response as the cookie rules read it.
    func response() throws(OperationError) -> ReceivedResponse {
        ReceivedResponse(
            context: try requestContext(), status: members.status?.value ?? 200, setCookie: try values(of: "set-cookie")
        )
    }

    /// The parts of the response that may say "not signed in".
    func head() throws(OperationError) -> ResponseHead {
        ResponseHead(
            status: members.status?.value ?? 200, location: try values(of: "location").first { !$0.isEmpty },
            authenticate: try values(of: "www-authenticate"),
            proofNonce: try values(of: "dpop-nonce").first?.utf8String, proxyStatus: try values(of: "proxy-status"))
    }

    private func values(of name: String) throws(OperationError) -> [Octets] {
        var values: [Octets] = []
        for (index, field) in members.headers.enumerated() where field.name.lowercased() == name {
            values.append(try field.octets(at: "headers.[\(index)]"))
        }
        return values
    }

    /// When it came: not after `now`.
    func time(now: Timestamp) throws(OperationError) -> Timestamp {
        try ResponseDocument.time(members.received, of: "received").map { min($0, now) } ?? now
    }

    /// When the request was sent; `nil` if that is not said.
    func sendTime() throws(OperationError) -> Timestamp? {
        try ResponseDocument.time(members.sent, of: "sent")
    }

    private static func time(_ text: String?, of member: String) throws(OperationError) -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: Array(text.utf8)) else {
            throw .bodyInvalid("\(member): write a time such as 2027-01-31T12:00:00Z")
        }
        return time
    }
}

/// One response, or several that are taken in one transaction.
enum ResponsesDocument: Decodable {
    case one(ResponseDocument)
    case several([ResponseDocument])

    init(from decoder: any Decoder) throws {
        if var list = try? decoder.unkeyedContainer() {
            var documents: [ResponseDocument] = []
            while !list.isAtEnd { documents.append(try list.decode(StrictlyDecoded<ResponseDocument>.self).document) }
            self = .several(documents)
        } else {
            self = .one(try StrictlyDecoded<ResponseDocument>(from: decoder).document)
        }
    }
}

extension SessionAPI {
    var responseRoutes: [ServiceRoute] {
        [
            ServiceRoute(.receiveResponses, use: receive),
            // As for a response, with others in one transaction.
            ServiceRoute(.setCookies) { request, context in
                let asked = try await request.document(SetCookieDocument.self, in: context)
                let (response, jar, now) = (try asked.response(), try jar(in: context), now())
                return .json(
                    ResponseDecisions(decisions: try await decisions(on: response, at: now, by: jar, now: now)))
            },
        ]
    }

    private func receive(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let asked = try await request.json(ResponsesDocument.self, in: context) {
            ResponseDocument($0).map(ResponsesDocument.one)
        }
        let found = try jarOnArrival(in: context)
        let now = now()
        // Most jars have none, which costs next to nothing to know.
        let rules = try loginRules.rules(of: found)
        let jar = found.afterWrite
        switch asked {
        case .one(let document):
            let response = try document.response()
            let time = try document.time(now: now)
            let sent = try document.sendTime()
            let challenge = try await notedChallenge(in: document, by: rules, of: found, now: now)
            // Its state tells whether to read the jar again.
            let decisions = try await decisions(on: response, at: time, by: found, now: now)
            context.metrics?.count(decisions)
            guard let challenge else {
                return .json(text: ResponseDecisions.fastJSON(decisions))
            }
            let login = try await report(on: challenge, to: response.context, of: jar, sent: sent, now: now)
            return .json(ResponseDecisions(decisions: decisions, login: login))
        case .several(let documents):
            var responses: [(ReceivedResponse, Timestamp)] = []
            for document in documents {
                responses.append((try document.response(), try document.time(now: now)))
                _ = try document.sendTime()
            }
            var challenges: [(name: String, challenge: LoginChallenge)?] = []
            for document in documents {
                challenges.append(try await notedChallenge(in: document, by: rules, of: found, now: now))
            }
            let list = try await blocking { [responses] in
                let (decisions, evicted) = try jar.withBatch(beginningWith: responses.first?.0, now: now) {
                    batch throws(SessionStoreError) in
                    var decisions: [ResponseDecisions] = []
                    for (response, time) in responses {
                        decisions.append(
                            ResponseDecisions(
                                decisions: try batch.receive(response, at: time).map(StorageDecisionReport.init)))
                    }
                    return decisions
                }
                return ResponseDecisionsList(
                    responses: decisions, evicted: evicted.map { CookieIdentityReport($0) })
            }
            for response in list.responses { context.metrics?.count(response.decisions) }
            guard !rules.isEmpty else { return .json(list) }
            var logins: [LoginChallengeReport?] = []
            for (document, challenge) in zip(documents, challenges) {
                guard let challenge else {
                    logins.append(nil)
                    continue
                }
                logins.append(
                    try await report(
                        on: challenge, to: try document.requestContext(), of: jar, sent: try document.sendTime(),
                        now: now))
            }
            return .json(
                ResponseDecisionsList(
                    responses: zip(list.responses, logins).map {
                        ResponseDecisions(decisions: $0.decisions, login: $1)
                    }, evicted: list.evicted))
        }
    }

    /// Stores the lines of one response, in a transaction that others may share, and returns the outcome of each.
    func decisions(
        on response: ReceivedResponse, at time: Timestamp, by jar: CookieJar, now: Timestamp
    ) async throws -> [StorageDecisionReport] {
        // Most responses set nothing, and need not wait.
        guard !response.setCookie.isEmpty else { return [] }
        return try await responses.receive(response, at: time, by: jar, now: now).map { StorageDecisionReport($0) }
    }
}
