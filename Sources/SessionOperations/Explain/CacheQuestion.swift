package import CookieModel
import GatewayModel
import HTTPCaching
import HTTPMessages
import HTTPTypes
import RequestDecoration
package import ResponseStore
import SessionStore
package import SessionWire

/// The question how the cache of a jar answers one request.
///
/// A gateway decides with the fields of the request as the server gets it. Here, the fields that the caller does not give
/// and the jar does not decide count as those of the request that a stored response has answered.
package struct CacheQuestion {
    let url: RequestURL
    private var method: Octets = "GET"
    private var fields = MessageFields()
    /// The names of fields, in lower case, that the request has only if they are among ``fields``.
    private var decidedNames: Set<Octets> = []
    let policy: CachingPolicy
    private var requestPolicy = RequestCachePolicy.useProtocolCachePolicy
    private var isOffline = false
    /// What sends the request; `nil` if what is stored for either client answers it.
    private var client: GatewaySettings.Client?
    let now: Timestamp

    /// A GET request to a URL, by the built-in rules.
    init(_ url: RequestURL, now: Timestamp) {
        self.url = url
        self.now = now
        policy = CachingPolicy(rules: .standard)
    }

    /// The request of a document, without the fields of a jar.
    package init(_ document: ExplainCacheDocument, now: Timestamp) throws(OperationError) {
        let context = try document.details.requestContext(for: document.members.url)
        url = context.url
        method = Octets(context.method)
        self.now = now
        policy = CachingPolicy(rules: try CachingRules(lines: document.members.rules, member: "rules"))
        isOffline = document.members.offline ?? false
        client = try .named(document.members.client, member: "client")
        if client == nil, document.members.verdict != nil { client = .browser }
        for (index, field) in (document.members.headers ?? []).enumerated() {
            let place = "headers.[\(index)]"
            guard let name = HTTPField.Name(field.name) else { throw .bodyInvalid("\(place): this is no field name") }
            let value = try HeaderFieldDocument.octets(field.value, field.valueBase64, at: "\(place).")
            switch name.canonicalName {
            case "cookie": throw .bodyInvalid("\(place): leave Cookie out; the jar decides which cookies are sent")
            case "crumb-cache-policy":
                requestPolicy = try .named(String(decoding: value, as: UTF8.self), member: place)
            default:
                fields.append(Octets(name.rawName), value)
                decidedNames.insert(Octets(name.canonicalName))
            }
        }
    }

    /// Adds the cookies and fields that a jar adds to the request.
    mutating func add(_ jar: CookieJar, for document: ExplainCacheDocument) throws {
        var context = try document.details.requestContext(for: document.members.url)
        context.verdict = try document.members.verdict?.verdict()
        let own = decidedNames
        let decoration = try jar.decoration(
            for: context, isSetByCaller: { $0 != "user-agent" && own.contains(Octets($0)) }, now: now)
        for (name, value) in decoration.headerFields {
            let lowercased = Octets(name.lowercased())
            fields.remove { $0.name.lowercased == lowercased }
            fields.append(Octets(name), value)
            decidedNames.insert(lowercased)
        }
        if !decoration.cookies.octets.isEmpty { fields.append("Cookie", decoration.cookies.octets) }
        decidedNames.insert("cookie")
    }

    /// The decision on the request if a response, or none, is stored.
    func decision(on stored: StoredResponse?) -> LookupDecision {
        var request = CacheRequest(method: method, url: url, fields: fields)
        for (name, value) in stored?.response.nominated.values ?? [:] where !decidedNames.contains(name) {
            if let value { request.fields.append(name, value) }
        }
        return policy.lookup(
            request, among: stored.map { [$0.response] } ?? [], now: now, isOffline: isOffline,
            requestPolicy: requestPolicy)
    }

    fileprivate var shownMethod: String { method.description }

    /// Whether a response is stored for other clients only.
    fileprivate func isForOthers(_ stored: StoredResponse) -> Bool {
        client.map { $0 != .client(ofAudience: stored.audience) } ?? false
    }
}

extension CacheExplanationReport {
    /// - Parameter found: The stored responses that may be to the URL, for all audiences.
    package init(_ question: CacheQuestion, _ found: [StoredResponse] = []) {
        let none = question.decision(on: nil)
        let answers = found.map { (stored: $0, decision: question.decision(on: $0)) }
            // No-Vary-Search of a response to another query does not make it one to this.
            .filter { $0.decision.reasons != [.notStored] }
        let own = answers.indices.filter { !question.isForOthers(answers[$0].stored) }
        let matching = own.filter { answers[$0].decision.reasons != [.varyMismatch] }
        let newest = matching.max {
            answers[$0].stored.response.responseTime < answers[$1].stored.response.responseTime
        }
        let decision = (newest ?? own.first).map { answers[$0].decision } ?? none
        let reasonsOfOthers = none.reasons == [.notStored] ? [.otherAudience] : none.cacheReasons
        var audiences: [Octets] = []
        self.init(
            method: question.shownMethod, url: SecretRedaction.url(question.url.description),
            outcome: decision.outcome.name, rule: decision.rule.description, treatment: decision.rule.treatment.name,
            reasons: own.isEmpty && !answers.isEmpty ? reasonsOfOthers : decision.cacheReasons,
            response: decision.choice == nil ? nil : newest.map { $0 + 1 },
            responses: answers.map { stored, decision in
                let isForOthers = question.isForOthers(stored)
                return CachedResponseDetails(
                    stored, isForOthers ? none : decision, reasons: isForOthers ? reasonsOfOthers : nil, by: question,
                    audience: audiences.number(of: stored.audience), showingQuery: true)
            })
    }
}

extension CachedResponseDetailsList {
    /// The responses, each with the decision on the next GET request like the one that it has answered.
    init(_ found: [StoredResponse], showingQuery: Bool, now: Timestamp) {
        var audiences: [Octets] = []
        self.init(
            responses: found.map { stored in
                let question = CacheQuestion(stored.response.url, now: now)
                return CachedResponseDetails(
                    stored, question.decision(on: stored), by: question,
                    audience: audiences.number(of: stored.audience), showingQuery: showingQuery)
            })
    }
}

extension CachedResponseDetails.Reason {
    /// What is stored is for browsers, and the request is one of a program, or the other way round.
    fileprivate static let otherAudience = Self(
        id: "other-audience", explanation: "a response to this URL is stored, but for another audience")
}

extension GatewaySettings.Client {
    /// The clients that an audience has.
    static func client(ofAudience audience: Octets) -> Self {
        CacheAudience.isOfPrograms(audience) ? .tool : .browser
    }
}

extension [Octets] {
    /// The number of an audience, from 1, which is added if it is new.
    fileprivate mutating func number(of audience: Octets) -> Int {
        if let index = firstIndex(of: audience) { return index + 1 }
        append(audience)
        return count
    }
}
