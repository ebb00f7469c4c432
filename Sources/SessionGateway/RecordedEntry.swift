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

    /// The request's body without the secrets that it has; `nil` if it is recorded as it was sent.
    private var redacted: [UInt8]?
    /// The response's body without the tokens that it has; `nil` if it is recorded as it was sent.
    private var redactedResponse: [UInt8]?
    /// Why a body is left out; `nil` if it is not.
    private var requestOmission: StaticString?
    private var responseOmission: StaticString?

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
        if SecretRedaction.isForTokens(url: Array(url.description.utf8)) {
            responseOmission = RecordedEntry.forTokens
        }
        await redactRequest()
        if responseOmission == nil { await redactResponse() }
    }

    /// Finds secrets in the request's body.
    private mutating func redactRequest() async {
        guard request.count > 0, let kind = NamedBody(head) else { return }
        guard !head.has("content-encoding") else {
            return requestOmission = "The body is encoded, so secrets in it cannot be found."
        }
        guard let octets = await request.octets(upTo: SecretRedaction.bodyLimit) else {
            return requestOmission = "The body is too long to look for secrets in it."
        }
        guard let body = SecretRedaction.body(octets, kind) else {
            return requestOmission = "The body is damaged, so secrets in it cannot be found."
        }
        if body != octets { redacted = body }
        if SecretRedaction.isForTokens(octets, kind) { responseOmission = RecordedEntry.forTokens }
    }

    /// Finds tokens in the response's body.
    private mutating func redactResponse() async {
        guard let head = answer?.head, NamedBody(head) == .json, !head.has("content-encoding"),
            let octets = await response.octets(upTo: SecretRedaction.bodyLimit),
            let body = SecretRedaction.body(octets, .json, .tokens), body != octets
        else { return }
        redactedResponse = body
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
        let cookies = head.values("cookie").flatMap { $0.split(separator: ASCII.semicolon) }.map { pair in
            let pair = Octets(Array(pair)).trimmingBlanks.bytes
            let name = pair.prefix { $0 != ASCII.equals }
            return RecordedEntry.pair(Array(name), redaction == nil ? Array(pair.dropFirst(name.count + 1)) : [])
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
        if let redacted {
            if !request.isText { data.append("_encoding", "base64") }
            data.append("text", request.isText ? redacted : Base64.encode(redacted))
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
        content.append("size", Int64(response.count))
        content.append("mimeType", RecordedEntry.text(answer?.head.values("content-type").first ?? []))
        if let coding = answer?.head.values("content-encoding").first, response.count > 0 {
            content.append("_contentEncoding", RecordedEntry.text(coding))
        }
        if let responseOmission { content.append("comment", responseOmission.description) }
        guard response.count > 0, responseOmission == nil else {
            object.append("content", json: content.bytes)
            return [.json(object.bytes)]
        }
        if !response.isText { content.append("encoding", "base64") }
        if let redactedResponse {
            content.append("text", response.isText ? redactedResponse : Base64.encode(redactedResponse))
            object.append("content", json: content.bytes)
            return [.json(object.bytes)]
        }
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
        if case .path(let path) = cookie.path { object.append("path", RecordedEntry.text(path)) }
        if let domain = cookie.domain { object.append("domain", RecordedEntry.text(domain)) }
        if let expires = cookie.expires { object.append("expires", expires.rfc3339) }
        object.append("httpOnly", cookie.isHTTPOnly)
        object.append("secure", cookie.isSecure)
        if let sameSite = cookie.sameSite?.attributeValue { object.append("sameSite", sameSite) }
        return object.bytes
    }

    // MARK: - JSON

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
