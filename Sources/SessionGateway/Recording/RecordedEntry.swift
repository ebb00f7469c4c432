import CookieModel
import HTTPMessages
import WebPrimitives

/// One entry of a recording, in HAR 1.2.
struct RecordedEntry: Sendable {
    /// A piece of the entry's text.
    enum Part: Sendable {
        case json([UInt8])
        /// A body, within a string.
        case body(BodySpool, RecordedBodyEncoding)
    }

    /// Where a response comes from.
    enum Source: Sendable {
        case server
        case recording
        case cache
    }

    let time: Timestamp
    let method: String
    let url: RequestURL
    let head: MessageHead
    /// The secrets that are left out; `nil` if none are.
    let redaction: SecretRedaction?
    var request: RecordedBody
    var response: RecordedBody
    /// The response's head; `nil` without a response.
    var answer: ForwardedResponse?
    /// Where the response came from.
    var source = Source.server
    /// The reason why the response is incomplete, an error type of RFC 9209; `nil` if it is complete.
    var failure: String?
    /// How long the head of the response took, and the rest, in microseconds.
    var wait: Int64 = 0
    var receive: Int64 = 0

    /// The request's body, if it is not recorded as it was sent: without its secrets.
    private var replacedRequest: [UInt8]?
    /// The response's body, if it is not recorded as it was sent: without its tokens, and without its coding.
    private var replacedResponse: [UInt8]?
    /// The reason why a body is left out; `nil` if it is recorded.
    private var requestOmission: StaticString?
    private var responseOmission: StaticString?
    /// The secrets that were found in the entry by the names of their values.
    private(set) var secrets: [(value: [UInt8], kind: KnownSecrets.Kind)] = []

    init(
        time: Timestamp, method: String, url: RequestURL, head: MessageHead, redaction: SecretRedaction?,
        request: RecordedBody, response: RecordedBody
    ) {
        self.time = time
        self.method = method
        self.url = url
        self.head = head
        self.redaction = redaction
        self.request = request
        self.response = response
    }

    private static let tooLong: StaticString = "The body is longer than 64 MiB, or there was no room for it."
    private static let forTokens: StaticString = "The response to a request for a token is left out."

    /// Decides what is recorded of the complete bodies.
    mutating func prepare() async {
        if await request.spool.isIncomplete { requestOmission = RecordedEntry.tooLong }
        if await response.spool.isIncomplete { responseOmission = RecordedEntry.tooLong }
        if failure != nil, answer != nil { responseOmission = "The body is not complete." }
        guard redaction != nil else { return }
        collectSecrets()
        if SecretRedaction.isForTokens(url: Array(url.description.utf8)) {
            responseOmission = RecordedEntry.forTokens
        }
        await redactRequest()
        await redactResponse()
    }

    /// Finds secrets in the request's body.
    private mutating func redactRequest() async {
        guard requestOmission == nil, let kind = NamedBody(head) else { return }
        let result = await SearchedBody(request, kind, head, upTo: SecretRedaction.bodyLimit, for: .secrets)
        (requestOmission, replacedRequest) = (result.omission, result.replacement)
        note(result.secrets, .credential)
        if let octets = result.octets, SecretRedaction.isForTokens(octets, kind) {
            responseOmission = RecordedEntry.forTokens
        }
    }

    /// Finds tokens in the response's body.
    private mutating func redactResponse() async {
        guard let head = answer?.head, let kind = NamedBody(head) else { return }
        let result = await SearchedBody(
            response, kind, head, upTo: SecretRedaction.responseLimit, for: .tokens, decoding: true)
        note(result.secrets, .credential)
        guard responseOmission == nil else { return }
        (responseOmission, replacedResponse) = (result.omission, result.replacement)
    }

    /// Collects the values of cookies, of fields with credentials, and of parameters of URLs.
    private mutating func collectSecrets() {
        guard let redaction else { return }
        let target = Array(url.description.utf8)
        note(SecretRedaction.places(inURL: target[...]).map { Array(target[$0]) }, .value)
        note(cookiePairs.map(\.value.bytes), .value)
        for line in answer?.setCookie ?? [] {
            guard case .cookie(let cookie) = SetCookie.parse(line) else { continue }
            note([cookie.value.bytes], cookie.isHTTPOnly ? .credential : .value)
        }
        for message in [head, answer?.head].compactMap(\.self) {
            for field in message.fields {
                let name = message.lowercasedName(field)
                let value = Octets(message.octets, in: field.value)
                if name == "proxy-authorization" || SecretNames.secrets.contains(field: name) {
                    note(RecordedEntry.credentials(value), .credential)
                } else if redaction.isSecret(field: name) {
                    note([value.bytes], .value)
                } else {
                    note(SecretRedaction.places(in: value, ofField: name).map { Array(value.bytes[$0.range]) }, .value)
                }
            }
        }
    }

    /// The cookies of the request.
    private var cookiePairs: [CookiePair] {
        head.values("cookie").flatMap { $0.split(separator: ASCII.semicolon) }
            .map { CookiePair(Octets(Array($0)).trimmingBlanks) }
    }

    private mutating func note(_ values: [[UInt8]], _ kind: KnownSecrets.Kind) {
        for value in values { secrets.append((value, kind)) }
    }

    /// The secrets in the value of a field with a credential: all of it, the part after a scheme (RFC 9110, section
    /// 11.4), and the password of the Basic scheme.
    private static func credentials(_ value: Octets) -> [[UInt8]] {
        let parts = value.split(separator: ASCII.space, maxSplits: 1).map { Octets(Array($0)).trimmingBlanks.bytes }
        guard parts.count == 2 else { return [value.bytes] }
        let pair = Base64.decode(parts[1]) ?? []
        let password = pair.drop { $0 != ASCII.colon }.dropFirst()
        return [parts[1], Array(password)]
    }

    /// The entry.
    var parts: [Part] {
        var entry = JSONObjectWriter()
        entry.append("startedDateTime", time.rfc3339)
        entry.append("time", json: RecordedEntry.milliseconds(wait + receive))
        var timings = JSONObjectWriter()
        timings.append("send", 0)
        timings.append("wait", json: RecordedEntry.milliseconds(wait))
        timings.append("receive", json: RecordedEntry.milliseconds(receive))
        entry.append("timings", json: timings.bytes)
        entry.append("cache", json: "{}".utf8)
        switch source {
        case .server: break
        case .recording: entry.append("_replayed", true)
        // As in the HAR files of Chromium.
        case .cache: entry.append("_fromCache", "disk")
        }
        return [.json(entry.openBytes + Array(",\"request\":".utf8))] + requestParts
            + [.json(Array(",\"response\":".utf8))] + responseParts + [.json([ASCII.rightBrace])]
    }

    private var requestParts: [Part] {
        let text = Array(url.description.utf8)
        let recorded = redaction == nil ? text : SecretRedaction.url(text)
        let query = recorded.drop { $0 != ASCII.questionMark }.dropFirst()
        let parameters = query.split(separator: ASCII.ampersand).map { pair in
            let name = pair.prefix { $0 != ASCII.equals }
            let decoded = [name, pair.dropFirst(name.count + 1)].map {
                PercentEncoding.decode(Array($0).span, plusIsSpace: true)
            }
            return HARText.pair(decoded[0], decoded[1])
        }
        let object = HARText.request(
            method: method, url: recorded,
            cookies: cookiePairs.map { HARText.pair($0.name.bytes, redaction == nil ? $0.value.bytes : []) },
            fields: fields(of: head), parameters: parameters, bodySize: request.count)
        guard request.count > 0 else { return [.json(object.bytes)] }
        var data = JSONObjectWriter()
        data.append("mimeType", HARText.text(head.values("content-type").first ?? []))
        if let requestOmission { data.append("comment", requestOmission.description) }
        return RecordedEntry.parts(
            object, "postData", data, requestOmission == nil ? request : nil, replacedRequest, encoding: "_encoding")
    }

    private var responseParts: [Part] {
        let line = answer.map { $0.head.octets[$0.head.startLine] } ?? []
        var object = HARText.response(
            status: answer?.status ?? 0, reason: HARText.text(Octets(Array(line.dropFirst(13)))),
            version: answer == nil ? "" : "HTTP/1.1", cookies: (answer?.setCookie ?? []).compactMap(cookie),
            fields: answer.map { fields(of: $0.head) } ?? [])
        let location = answer?.head.values("location").first ?? []
        HARText.append(
            redirect: HARText.text(redaction?.value(location, ofField: "location") ?? location),
            bodySize: answer == nil ? -1 : response.count, to: &object)
        if let failure { object.append("_error", failure) }
        var content = JSONObjectWriter()
        content.append("size", Int64(replacedResponse?.count ?? response.count))
        content.append("mimeType", HARText.text(answer?.head.values("content-type").first ?? []))
        if let coding = answer?.head.values("content-encoding").first, response.count > 0, replacedResponse == nil {
            content.append("_contentEncoding", HARText.text(coding))
        }
        if let responseOmission { content.append("comment", responseOmission.description) }
        return RecordedEntry.parts(
            object, "content", content, responseOmission == nil && response.count > 0 ? response : nil,
            replacedResponse, encoding: "encoding")
    }

    /// A message whose last member is its body.
    ///
    /// - Parameters:
    ///   - body: The body; `nil` if there is none, or it is left out.
    ///   - replacement: The octets that are recorded instead of those of the body.
    ///   - encoding: The name of the member that tells of Base64.
    private static func parts(
        _ message: JSONObjectWriter, _ name: StaticString, _ content: JSONObjectWriter, _ body: RecordedBody?,
        _ replacement: [UInt8]?, encoding: StaticString
    ) -> [Part] {
        var (message, content) = (message, content)
        guard let body else {
            message.append(name, json: content.bytes)
            return [.json(message.bytes)]
        }
        let isText = replacement.map { String(validating: $0, as: UTF8.self) != nil } ?? body.isText
        if !isText { content.append(encoding, "base64") }
        if let replacement {
            content.append("text", isText ? replacement : Base64.encode(replacement))
            message.append(name, json: content.bytes)
            return [.json(message.bytes)]
        }
        let beginning = message.openBytes + Array(",\"\(name)\":".utf8) + content.openBytes + Array(",\"text\":\"".utf8)
        return [.json(beginning), .body(body.spool, isText ? .text : .base64), .json(Array("\"}}".utf8))]
    }

    /// The fields of a message, one for each line. Credentials for a proxy are left out.
    private func fields(of head: MessageHead) -> [[UInt8]] {
        head.fields.compactMap { field in
            let name = head.lowercasedName(field)
            guard name != "proxy-authorization", redaction == nil || name != "set-cookie" && name != "cookie"
            else { return nil }
            let value = Octets(head.octets, in: field.value)
            return HARText.pair(
                Array(head.octets[field.name]), (redaction?.value(value, ofField: name) ?? value).bytes)
        }
    }

    private func cookie(_ line: Octets) -> [UInt8]? {
        guard case .cookie(let cookie) = SetCookie.parse(line) else { return nil }
        var path: Octets?
        if case .path(let value) = cookie.path {
            path = redaction == nil ? value : Octets(SecretRedaction.url(value.bytes))
        }
        return HARText.cookie(
            name: cookie.name, value: redaction == nil ? cookie.value : [], path: path, domain: cookie.domain,
            expires: cookie.expires, isHTTPOnly: cookie.isHTTPOnly, isSecure: cookie.isSecure,
            sameSite: cookie.sameSite?.attributeValue)
    }

    /// The text of an entry itself, in which no secret is looked for.
    static let names = Array(
        ("startedDateTime time timings send wait receive cache _replayed _fromCache disk request method "
            + "url httpVersion HTTP/1.1 cookies headers queryString headersSize bodySize postData mimeType "
            + "_encoding base64 comment text response status statusText content size redirectURL _error "
            + "_contentEncoding encoding name value path domain expires httpOnly secure sameSite").utf8)

    private static func milliseconds(_ microseconds: Int64) -> String.UTF8View {
        let count = max(microseconds, 0)
        let fraction = String(count % 1000)
        return "\(count / 1000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction)".utf8
    }
}
