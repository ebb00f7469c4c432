import CookieModel
import HTTPMessages
import WebPrimitives

/// One entry of a recording, as HAR 1.2 has it.
struct RecordedEntry: Sendable {
    /// A piece of the entry's text.
    enum Part: Sendable {
        case json([UInt8])
        /// A body, within a string.
        case body(BodySpool, RecordedBodyEncoding)
    }

    let time: Timestamp
    let method: String
    let url: RequestURL
    let head: MessageHead
    /// The secrets that are left out; `nil` if none are.
    let redaction: SecretRedaction?
    var request: RecordedBody
    var response: RecordedBody
    /// The response's head; `nil` if there is none.
    var answer: ForwardedResponse?
    /// Whether the response came from a recording.
    var isReplayed = false
    /// Why the response is not complete: an error type of RFC 9209; `nil` if it is.
    var failure: String?
    /// How long the response took, up to its head and from there on, in microseconds.
    var wait: Int64 = 0
    var receive: Int64 = 0

    /// The request's body, if it is not recorded as it was sent: without its secrets.
    private var replacedRequest: [UInt8]?
    /// The response's body, if it is not recorded as it was sent: without its tokens, and without its coding.
    private var replacedResponse: [UInt8]?
    /// Why a body is left out; `nil` if it is not.
    private var requestOmission: StaticString?
    private var responseOmission: StaticString?
    /// The secrets that the entry shows to be ones, by the names of their values.
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

    /// Decides what is recorded of the bodies, which are complete.
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

    /// The secrets in the value of a field with a credential: all of it, behind a scheme (RFC 9110, section 11.4), and the
    /// password of the Basic scheme.
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
        if isReplayed { entry.append("_replayed", true) }
        return [.json(entry.openBytes + Array(",\"request\":".utf8))] + requestParts
            + [.json(Array(",\"response\":".utf8))] + responseParts + [.json([ASCII.rightBrace])]
    }

    private var requestParts: [Part] {
        var object = JSONObjectWriter()
        let text = Array(url.description.utf8)
        let recorded = redaction == nil ? text : SecretRedaction.url(text)
        object.append("method", method)
        object.append("url", recorded)
        object.append("httpVersion", "HTTP/1.1")
        let cookies = cookiePairs.map { pair in
            RecordedEntry.pair(pair.name.bytes, redaction == nil ? pair.value.bytes : [])
        }
        object.append("cookies", json: RecordedEntry.array(cookies))
        object.append("headers", json: RecordedEntry.array(fields(of: head)))
        let query = recorded.drop { $0 != ASCII.questionMark }.dropFirst()
        let parameters = query.split(separator: ASCII.ampersand).map { pair in
            let name = pair.prefix { $0 != ASCII.equals }
            let decoded = [name, pair.dropFirst(name.count + 1)].map {
                PercentEncoding.decode(Array($0).span, plusIsSpace: true)
            }
            return RecordedEntry.pair(decoded[0], decoded[1])
        }
        object.append("queryString", json: RecordedEntry.array(parameters))
        object.append("headersSize", -1)
        object.append("bodySize", Int64(request.count))
        guard request.count > 0 else { return [.json(object.bytes)] }
        var data = JSONObjectWriter()
        data.append("mimeType", RecordedEntry.text(head.values("content-type").first ?? []))
        if let requestOmission {
            data.append("comment", requestOmission.description)
            object.append("postData", json: data.bytes)
            return [.json(object.bytes)]
        }
        if let replacedRequest {
            let isText = String(validating: replacedRequest, as: UTF8.self) != nil
            if !isText { data.append("_encoding", "base64") }
            data.append("text", isText ? replacedRequest : Base64.encode(replacedRequest))
            object.append("postData", json: data.bytes)
            return [.json(object.bytes)]
        }
        if !request.isText { data.append("_encoding", "base64") }
        return [
            .json(object.openBytes + Array(",\"postData\":".utf8) + data.openBytes + Array(",\"text\":\"".utf8)),
            .body(request.spool, request.isText ? .text : .base64), .json(Array("\"}}".utf8)),
        ]
    }

    private var responseParts: [Part] {
        var object = JSONObjectWriter()
        let line = answer.map { $0.head.octets[$0.head.startLine] } ?? []
        object.append("status", Int64(answer?.status ?? 0))
        object.append("statusText", RecordedEntry.text(Octets(Array(line.dropFirst(13)))))
        object.append("httpVersion", answer == nil ? "" : "HTTP/1.1")
        let lines = answer?.setCookie ?? []
        object.append("cookies", json: RecordedEntry.array(lines.compactMap(cookie)))
        object.append("headers", json: RecordedEntry.array(answer.map { fields(of: $0.head) } ?? []))
        let location = answer?.head.values("location").first ?? []
        object.append(
            "redirectURL", RecordedEntry.text(redaction?.value(location, ofField: "location") ?? location))
        object.append("headersSize", -1)
        object.append("bodySize", answer == nil ? -1 : Int64(response.count))
        if let failure { object.append("_error", failure) }
        var content = JSONObjectWriter()
        content.append("size", Int64(replacedResponse?.count ?? response.count))
        content.append("mimeType", RecordedEntry.text(answer?.head.values("content-type").first ?? []))
        if let coding = answer?.head.values("content-encoding").first, response.count > 0, replacedResponse == nil {
            content.append("_contentEncoding", RecordedEntry.text(coding))
        }
        if let responseOmission { content.append("comment", responseOmission.description) }
        guard response.count > 0, responseOmission == nil else {
            object.append("content", json: content.bytes)
            return [.json(object.bytes)]
        }
        if let replacedResponse {
            let isText = String(validating: replacedResponse, as: UTF8.self) != nil
            if !isText { content.append("encoding", "base64") }
            content.append("text", isText ? replacedResponse : Base64.encode(replacedResponse))
            object.append("content", json: content.bytes)
            return [.json(object.bytes)]
        }
        if !response.isText { content.append("encoding", "base64") }
        return [
            .json(object.openBytes + Array(",\"content\":".utf8) + content.openBytes + Array(",\"text\":\"".utf8)),
            .body(response.spool, response.isText ? .text : .base64), .json(Array("\"}}".utf8)),
        ]
    }

    /// The fields of a message, one for each line. Credentials for a proxy are left out.
    private func fields(of head: MessageHead) -> [[UInt8]] {
        head.fields.compactMap { field in
            let name = head.lowercasedName(field)
            guard name != "proxy-authorization", redaction == nil || name != "set-cookie" && name != "cookie"
            else { return nil }
            let value = Octets(head.octets, in: field.value)
            return RecordedEntry.pair(
                Array(head.octets[field.name]), (redaction?.value(value, ofField: name) ?? value).bytes)
        }
    }

    private func cookie(_ line: Octets) -> [UInt8]? {
        guard case .cookie(let cookie) = SetCookie.parse(line) else { return nil }
        var object = JSONObjectWriter()
        object.append("name", RecordedEntry.text(cookie.name))
        object.append("value", redaction == nil ? RecordedEntry.text(cookie.value) : [])
        if case .path(let path) = cookie.path {
            object.append("path", RecordedEntry.text(redaction == nil ? path : Octets(SecretRedaction.url(path.bytes))))
        }
        if let domain = cookie.domain { object.append("domain", RecordedEntry.text(domain)) }
        if let expires = cookie.expires { object.append("expires", expires.rfc3339) }
        object.append("httpOnly", cookie.isHTTPOnly)
        object.append("secure", cookie.isSecure)
        if let sameSite = cookie.sameSite?.attributeValue { object.append("sameSite", sameSite) }
        return object.bytes
    }

    // MARK: - JSON

    /// The text of an entry itself, in which no secret is looked for.
    static let names = Array(
        ("startedDateTime time timings send wait receive cache _replayed request method url httpVersion HTTP/1.1 cookies "
            + "headers queryString headersSize bodySize postData mimeType _encoding base64 comment text response status "
            + "statusText content size redirectURL _error _contentEncoding encoding name value path domain expires "
            + "httpOnly secure sameSite").utf8)

    private static func milliseconds(_ microseconds: Int64) -> String.UTF8View {
        let count = max(microseconds, 0)
        let fraction = String(count % 1000)
        return "\(count / 1000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction)".utf8
    }

    private static func pair(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        Array("{\"name\":\"".utf8) + escaped(text(Octets(name))) + Array("\",\"value\":".utf8) + string(Octets(value))
            + [ASCII.rightBrace]
    }

    /// A string. Octets that are not UTF-8 are written as Python does (PEP 383), and become themselves again when Crumb
    /// reads the recording.
    private static func string(_ value: Octets) -> [UInt8] {
        var writer = JSONWriter(capacity: value.count + 2)
        if value.utf8String != nil {
            writer.append(escaping: value)
        } else {
            writer.append(
                webString: Octets(
                    value.flatMap { octet in
                        octet < 0x80 ? [octet] : WebString.octets(ofSurrogate: 0xDC00 | UInt16(octet))
                    }))
        }
        return writer.bytes
    }

    /// UTF-8, in which octets that are none are U+FFFD.
    private static func text(_ value: Octets) -> [UInt8] {
        value.utf8String == nil ? Array(String(decoding: value, as: UTF8.self).utf8) : value.bytes
    }

    private static func array(_ elements: [[UInt8]]) -> [UInt8] {
        [ASCII.leftBracket] + elements.joined(separator: [ASCII.comma]) + [ASCII.rightBracket]
    }

    /// UTF-8 as it is within a string.
    static func escaped(_ text: some Sequence<UInt8>) -> ArraySlice<UInt8> {
        var writer = JSONWriter()
        writer.append(escaping: text)
        return writer.bytes.dropFirst().dropLast()
    }
}
