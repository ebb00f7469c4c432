import CookieModel
import HTTPMessages

/// The places of HTTP messages in the output of `tshark -T json -x -J "frame tcp http http2"` for a packet capture.
///
/// A packet has a layer `http` for each HTTP/1 message, or layers `http2` with a frame in each `http2.stream`. Members
/// repeat a name for each header line. With `-x` each member has a twin, named `_raw`, that holds its octets in
/// hexadecimal; without, tshark prints U+FFFD for every octet beyond ASCII.
struct TsharkOutline: JSONEntryOutline {
    /// The addresses of a packet. Ports distinguish the two directions of a connection.
    private struct Packet {
        let number: String?
        let connection: String
        let source: String?
        let destination: String?
        let place: CapturePlace

        func answers(_ other: Packet) -> Bool { source == other.destination && destination == other.source }
    }

    /// A request that has no final response yet.
    private struct Request {
        let url: String
        let method: String?
        let head: RequestHead
        let packet: Packet

        var byteCount: Int { url.utf8.count + head.bufferedByteCount + 256 }
    }

    /// How many requests and encrypted connections are remembered at a time, and how many bytes of requests.
    private static let countLimit = 10_000
    private static let byteLimit = 1 << 24

    let source: String
    /// By packet and URL, or by connection and stream.
    private var requests: [String: Request] = [:]
    private var hasRequests = false
    private(set) var bufferedByteCount = 0
    var entryCount = 0
    private var hasMessages = false
    /// The connections of TLS without a message so far.
    private var encrypted: Set<String> = []

    init(source: String) {
        self.source = source
    }

    static func holdsEntries(_ name: Span<UInt8>) -> Bool { name.isEmpty }

    mutating func takeEntry(_ value: JSONValue, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard let layers = value.object?["_source"]?.object?["layers"]?.object else {
            return items.append(.failure(.entryMalformed("It is not a packet with layers."), at: place))
        }
        let tcp = layers["tcp"]?.object
        let packet = Packet(
            number: layers["frame"]?.object?["frame.number"]?.text, connection: tcp?["tcp.stream"]?.text ?? "",
            source: tcp?["tcp.srcport"]?.text, destination: tcp?["tcp.dstport"]?.text, place: place)
        let messages = layers.all("http").compactMap(\.object)
        let frames = layers.all("http2").flatMap(\.list).compactMap(\.object).flatMap { layer in
            layer.all("http2.stream").flatMap(\.list).compactMap(\.object)
        }
        if !messages.isEmpty || !frames.isEmpty {
            hasMessages = true
            encrypted.remove(packet.connection)
        } else if layers["tls"] != nil, encrypted.count < Self.countLimit {
            encrypted.insert(packet.connection)
        }
        for message in messages { takeMessage(message, of: packet, into: &items) }
        for frame in frames { takeFrame(frame, of: packet, into: &items) }
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        guard isWhole, !hasMessages else { return }
        items.append(.failure(.noMessages(encryptedCount: encrypted.count), at: CapturePlace(source: source)))
    }

    // MARK: HTTP/1

    private mutating func takeMessage(_ layer: JSONObject, of packet: Packet, into items: inout [CaptureItem]) {
        if let statusLine = layer.names.lazy.compactMap({ $0.withSpan { StatusLine($0.extracting($0.beforeEscape)) } })
            .first
        {
            takeResponse(layer, statusLine, of: packet, into: &items)
        } else if let url = layer["http.request.full_uri"]?.text, let number = packet.number {
            var head = RequestHead()
            for line in layer.fields("http.request.line", raw: "http.request.line_raw") {
                if case .octets(let line) = line { line.withSpan { head.take(line: $0.extracting($0.beforeLineEnd)) } }
            }
            let method = layer.values.lazy.compactMap { $0.object?["http.request.method"]?.text }.first
            remember(Request(url: url, method: method, head: head, packet: packet), as: "\(number) \(url)")
        }
    }

    private mutating func takeResponse(
        _ layer: JSONObject, _ statusLine: StatusLine, of packet: Packet, into items: inout [CaptureItem]
    ) {
        var head = CapturedHead(statusLine, at: packet.place)
        for line in layer.fields("http.response.line", raw: "http.response.line_raw") {
            switch line {
            case .octets(let line): _ = line.withSpan { head.take($0.extracting($0.beforeLineEnd)) }
            case .tooLong: items.append(.failure(.fieldTooLong, at: packet.place))
            case .damaged(let line):
                if line.withSpan({ $0.isSetCookieLine }) { items.append(.failure(.octetsLost, at: packet.place)) }
            }
        }
        guard let url = layer["http.response_for.uri"]?.text else {
            if !head.setCookie.isEmpty { items.append(.failure(.requestNotRecorded, at: packet.place)) }
            return
        }
        give(head, url, requestKey: "\(layer["http.request_in"]?.text ?? "") \(url)", of: packet, into: &items)
    }

    // MARK: HTTP/2

    /// Takes a frame with the header of a request, or of a response.
    private mutating func takeFrame(_ frame: JSONObject, of packet: Packet, into items: inout [CaptureItem]) {
        // A header, or its continuation. A promised push is not the response to a request.
        guard let id = frame["http2.streamid"]?.text, ["1", "9"].contains(frame["http2.type"]?.text) else { return }
        let fields = frame.all("http2.header").flatMap(\.list).compactMap(\.object).compactMap { field in
            field["http2.header.name"]?.octets.map { name in
                (name, field.fields("http2.header.value", raw: "http2.header.value_raw").first ?? .octets([]))
            }
        }
        func text(_ name: Octets) -> String? {
            guard case .octets(let value)? = fields.first(where: { $0.0 == name })?.1 else { return nil }
            return value.withSpan { String(repairing: $0) }
        }
        let key = "\(packet.connection)/\(id)"
        if let method = text(":method"), let scheme = text(":scheme"), let path = text(":path"),
            let authority = text(":authority") ?? text("host")
        {
            var head = RequestHead()
            for (name, value) in fields {
                if case .octets(let value) = value { head.take(line: TsharkOutline.line(name, value).span) }
            }
            // Without the layer tcp, a stream's number may be that of any connection.
            guard !packet.connection.isEmpty else { return }
            let url = "\(scheme)://\(authority)\(path)"
            remember(Request(url: url, method: method, head: head, packet: packet), as: key)
        } else if let statusLine = text(":status").flatMap({ StatusLine(Array("HTTP/2 \($0)".utf8).span) }) {
            var head = CapturedHead(statusLine, at: packet.place)
            for (name, value) in fields {
                switch value {
                case .octets(let value): _ = head.take(TsharkOutline.line(name, value).span)
                case .tooLong: items.append(.failure(.fieldTooLong, at: packet.place))
                case .damaged: if name == "set-cookie" { items.append(.failure(.octetsLost, at: packet.place)) }
                }
            }
            guard let request = requests[key] else {
                if !head.setCookie.isEmpty { items.append(.failure(.requestNotRecorded, at: packet.place)) }
                return
            }
            give(head, request.url, requestKey: key, of: packet, into: &items)
        }
    }

    // MARK: Both

    /// The field as a line of HTTP/1.
    private static func line(_ name: Octets, _ value: Octets) -> [UInt8] {
        name.bytes + Array(": ".utf8) + value.bytes
    }

    private mutating func remember(_ request: Request, as key: String) {
        hasRequests = true
        forget(key)
        if requests.count >= Self.countLimit || bufferedByteCount + request.byteCount > Self.byteLimit {
            requests = [:]
            bufferedByteCount = 0
        }
        bufferedByteCount += request.byteCount
        requests[key] = request
    }

    private mutating func forget(_ key: String) {
        if let request = requests.removeValue(forKey: key) { bufferedByteCount -= request.byteCount }
    }

    /// Gives out a response, if the other side of the connection asked for it.
    private mutating func give(
        _ head: CapturedHead, _ url: String, requestKey key: String, of packet: Packet,
        into items: inout [CaptureItem]
    ) {
        if head.statusLine.isFromProxy {
            if !head.setCookie.isEmpty { items.append(.failure(.proxyCookies, at: packet.place)) }
            return
        }
        let request = requests[key]
        // A server that sends a request and its response itself would set cookies for any host.
        guard request.map({ packet.answers($0.packet) }) ?? !hasRequests else {
            return items.append(.failure(.requestNotRecorded, at: packet.place))
        }
        if head.status >= 200 { forget(key) }
        head.emit(
            at: TranscriptURL(text: url, origin: .recorded), method: request?.method,
            request: request?.head ?? RequestHead(), into: &items)
    }
}

/// A header line, or a header field's value.
private enum TsharkField {
    case octets(Octets)
    case tooLong
    /// Some octets are lost.
    case damaged(Octets)
}

extension JSONObject {
    /// The values of the members called `name`, in order: the octets of their `raw` twins if there are any.
    fileprivate func fields(_ name: StaticString, raw: StaticString) -> [TsharkField] {
        let values = all(name).flatMap(\.list)
        let twins = all(raw)
        return values.indices.map { index in
            let isPaired = twins.count == values.count
            switch isPaired ? twins[index].elements?.first ?? values[index] : values[index] {
            case .string(let digits) where isPaired:
                return digits.utf8String.flatMap { Hexadecimal.bytes($0) }.map { .octets(Octets($0)) }
                    ?? .damaged(digits)
            case .string(let text): return text.withSpan { $0.hasReplacement } ? .damaged(text) : .octets(text)
            default: return .tooLong
            }
        }
    }
}

extension JSONValue {
    /// The elements of an array, or the value itself: tshark writes an array for several layers in newer versions.
    fileprivate var list: [JSONValue] { elements ?? [self] }
}

extension Span<UInt8> {
    /// The line without its line end.
    fileprivate var beforeLineEnd: Range<Int> {
        var end = count
        while end > 0, self[end - 1] == ASCII.lineFeed || self[end - 1] == ASCII.carriageReturn { end -= 1 }
        return 0..<end
    }

    /// The bytes before the first backslash: tshark escapes the line end of a status line.
    fileprivate var beforeEscape: Range<Int> { 0..<(firstIndex(of: ASCII.backslash, from: 0) ?? count) }

    fileprivate var isSetCookieLine: Bool { hasPrefixIgnoringCase("set-cookie:") }

    /// Whether U+FFFD is in it.
    fileprivate var hasReplacement: Bool {
        var position = 0
        while let index = firstIndex(of: 0xEF, from: position) {
            if index + 2 < count, self[index + 1] == 0xBF, self[index + 2] == 0xBD { return true }
            position = index + 1
        }
        return false
    }
}
