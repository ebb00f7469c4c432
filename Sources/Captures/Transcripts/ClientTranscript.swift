import CookieModel
import HTTPMessages
import WebPrimitives

/// Assembles responses from a client's verbose output: lines of requests, lines of responses, and remarks about its
/// connections.
///
/// The URL of a response is that of the request before it: `Host` and the request target give it, and the scheme
/// depends on whether the connection was encrypted. If no request was printed, it is the URL that the caller gave,
/// updated by redirects.
struct ClientTranscript: Sendable {
    /// How many connections are remembered by their host.
    private static let connectionLimit = 1000
    /// The longest host or target that is looked at.
    private static let requestByteLimit = 1 << 16

    private var url: TranscriptURL
    private let givenURL: RequestURL?
    private var block: HeaderBlock?
    private var blockCount = 0
    /// The current request.
    private var method: String?
    private var target = Octets([])
    private var host: Octets?
    private var request = RequestHead()
    private var isWithinRequest = false
    /// Whether the next response belongs to a URL that is known.
    private var isAskedFor = true
    private var isSkipping = false
    /// Whether the current connection is encrypted; `nil` if an earlier one is used again.
    private var isEncrypted: Bool? = false
    /// Whether the current connection's remarks began with its address, so none on its encryption can be missing.
    private var hasAddress = false
    private var encryption: [Octets: Bool] = [:]

    init(_ start: CaptureStart) {
        url = TranscriptURL(text: start.url, origin: .given)
        givenURL = start.url.flatMap { try? RequestURL($0) }
    }

    var bufferedByteCount: Int { (block?.bufferedByteCount ?? 0) + request.bufferedByteCount }

    /// Whether a response has been read.
    var hasResponses: Bool { blockCount > 0 }

    // MARK: Connections

    /// Takes a remark of curl's.
    ///
    /// A connection's remarks begin with its address. Earlier versions of curl report "Connected to" before the TLS
    /// handshake, current ones report it after.
    mutating func takeRemark(_ text: Span<UInt8>) {
        let remark = text.extracting(text.trimmingBlanks(0..<text.count))
        if remark.hasPrefix("Trying ") || remark.hasPrefix("About to connect() ") {
            (isEncrypted, hasAddress) = (false, true)
        } else if remark.hasPrefix("Connected to ") || remark.hasPrefix("Established connection to ") {
            if !hasAddress { isEncrypted = false }
            hasAddress = false
        } else if ClientTranscript.isOnEncryption(remark) {
            isEncrypted = true
        } else if remark.hasPrefix("Reusing existing https: ") {
            isEncrypted = true
        } else if remark.hasPrefix("Reusing existing http: ") {
            isEncrypted = false
        } else if remark.hasPrefix("Re-using existing ") || remark.hasPrefix("Reusing existing ") {
            isEncrypted = nil
        }
    }

    /// Whether curl makes a remark only for an encrypted connection. Each TLS library has its own; Windows' has no summary
    /// of the handshake.
    private static func isOnEncryption(_ remark: Span<UInt8>) -> Bool {
        let remarks: [StaticString] = [
            "SSL connection using ", "using HTTP/3", "ALPN: server accepted ", "ALPN, server accepted ", "schannel: ",
            "TLSv1", "TLS 1.", "mbedTLS: ", "rustls: ", "Server certificate:",
        ]
        return remarks.contains { remark.hasPrefix($0) }
    }

    // MARK: Requests

    /// Takes a line of a request; the empty one ends it.
    mutating func takeRequestLine(_ line: Span<UInt8>) {
        guard !line.isEmpty else { return endRequest() }
        guard line.count <= Self.requestByteLimit else { return }
        if !isWithinRequest {
            beginRequest(line)
        } else if let parts = line.fieldParts, line.extracting(parts.name).equalsIgnoringCase("host") {
            host = octets(line, parts.value)
        } else {
            request.take(line: line)
        }
    }

    /// Notes that a client asks for `url`, which it names as a whole.
    mutating func ask(for url: Span<UInt8>) {
        self.url = TranscriptURL(text: String(repairing: url), origin: .recorded)
        isAskedFor = true
        method = nil
        request = RequestHead()
    }

    /// Takes a field of the request for the URL that is known.
    mutating func takeRequestField(_ line: Span<UInt8>) {
        if line.count <= Self.requestByteLimit { request.take(line: line) }
    }

    private mutating func beginRequest(_ line: Span<UInt8>) {
        guard let first = line.firstIndex(of: ASCII.space, from: 0),
            let second = line.firstIndex(of: ASCII.space, from: first + 1)
        else { return }
        method = String(validating: line.extracting(0..<first))
        target = octets(line, (first + 1)..<second)
        host = nil
        request = RequestHead()
        isWithinRequest = true
    }

    private mutating func endRequest() {
        guard isWithinRequest else { return }
        isWithinRequest = false
        isAskedFor = true
        // A request to a proxy has a complete URL as its target, or, for CONNECT, the end of a tunnel.
        if method == "CONNECT" {
            guard url.text == nil else { return }
            let end = target.withSpan { String(repairing: $0) }
            url = TranscriptURL(text: "https://\(end)/", origin: .recorded)
            return
        }
        if target.first != ASCII.slash, target != "*" {
            url = TranscriptURL(text: target.withSpan { String(repairing: $0) }, origin: .recorded)
            return
        }
        guard let host else { return }
        let scheme = scheme(of: host)
        let path = target == "*" ? Octets([]) : target
        url = TranscriptURL(
            text: "\(scheme)://" + Octets(Array(host) + Array(path)).withSpan { String(repairing: $0) },
            origin: .recorded)
    }

    private mutating func scheme(of host: Octets) -> String {
        if let isEncrypted {
            if encryption.count < Self.connectionLimit { encryption[host] = isEncrypted }
            if isEncrypted { return "https" }
        } else if encryption[host] == true {
            return "https"
        }
        // A transcript that was cut may lack the handshake: the caller knows.
        if let givenURL, givenURL.scheme.isCryptographic, let other = try? RequestURL("https://\(host)/"),
            other.isSameOrigin(as: givenURL)
        {
            return "https"
        }
        return "http"
    }

    private func octets(_ line: Span<UInt8>, _ range: Range<Int>) -> Octets {
        line.extracting(range).withUnsafeBufferPointer { Octets($0) }
    }

    // MARK: Responses

    /// Takes a line of a response; the empty one ends its header block.
    mutating func takeResponseLine(_ line: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        if line.isEmpty { return endResponse(into: &items) }
        if block != nil {
            block?.take(line, at: place, into: &items)
        } else if let statusLine = StatusLine(line) {
            begin(statusLine, at: place, into: &items)
        } else if !isSkipping, line.count >= 10, line.extracting(0..<10).equalsIgnoringCase("set-cookie") {
            // A trailer, or of a block whose beginning is gone.
            items.append(.failure(.fieldWithoutResponse, at: place))
        }
    }

    private mutating func begin(
        _ statusLine: StatusLine, at linePlace: CapturePlace, into items: inout [CaptureItem]
    ) {
        blockCount += 1
        var place = linePlace
        place.entry = blockCount
        isSkipping = !isAskedFor || url.text == nil
        if !isAskedFor {
            items.append(.failure(.responseSkipped, at: place))
        } else if url.text == nil {
            items.append(.failure(.urlMissing, at: place))
        } else {
            block = HeaderBlock(statusLine, at: place)
        }
    }

    /// A line of a response was too long.
    mutating func leaveOutLine(at place: CapturePlace, into items: inout [CaptureItem]) {
        if block != nil {
            block?.leaveOutLine(at: place, into: &items)
        } else {
            items.append(.failure(.lineTooLong, at: place))
        }
    }

    /// Ends the current header block, if there is one.
    mutating func endResponse(into items: inout [CaptureItem]) {
        isSkipping = false
        guard var block else { return }
        self.block = nil
        // A proxy's response to CONNECT is its own, whatever the status.
        let isTunnel = method == "CONNECT"
        block.end(at: url, method: method, request: request, isFromProxy: isTunnel, into: &items)
        request = RequestHead()
        isAskedFor = isTunnel || url.follow(block.head.sequel)
    }

    /// Takes the end of the transcript.
    mutating func finish(at place: CapturePlace, into items: inout [CaptureItem]) {
        if block != nil {
            let cut = CapturePlace(source: place.source, entry: blockCount, line: place.line)
            items.append(.failure(.headersTruncated, at: cut))
            endResponse(into: &items)
        }
        if blockCount == 0 { items.append(.failure(.noResponses, at: CapturePlace(source: place.source))) }
    }
}

/// A format of lines that are the parts of a transcript.
protocol TranscriptContent: LineContent {
    var transcript: ClientTranscript { get set }
}

extension TranscriptContent {
    var bufferedByteCount: Int { transcript.bufferedByteCount }

    mutating func leaveOutLine(at place: CapturePlace, into items: inout [CaptureItem]) {
        transcript.leaveOutLine(at: place, into: &items)
    }

    mutating func finish(at place: CapturePlace, into items: inout [CaptureItem]) {
        transcript.finish(at: place, into: &items)
    }
}

/// The prefixes that curl adds to a line: its progress, the time with `--trace-time`, the numbers of transfer and
/// connection with `--trace-ids`.
enum TranscriptLine {
    /// Returns where the line begins after these.
    static func start(of line: Span<UInt8>) -> Int {
        var position = CurlProgress.end(in: line)
        if isTime(line.extracting(position..<line.count)) {
            position = line.firstIndex(of: ASCII.space, from: position).map { $0 + 1 } ?? position
        }
        guard position < line.count, line[position] == ASCII.leftBracket,
            let end = line.firstIndex(of: ASCII.rightBracket, from: position), end - position < 32,
            end + 1 < line.count, line[end + 1] == ASCII.space
        else { return position }
        for index in (position + 1)..<end {
            guard ASCII.isDigit(line[index]) || line[index] == ASCII.hyphen || line[index] == UInt8(ascii: "x") else {
                return position
            }
        }
        return end + 2
    }

    /// Whether it begins with `hh:mm:ss.ffffff`.
    private static func isTime(_ line: Span<UInt8>) -> Bool {
        guard line.count >= 9, line[2] == ASCII.colon, line[5] == ASCII.colon else { return false }
        for index in [0, 1, 3, 4, 6, 7] where !ASCII.isDigit(line[index]) { return false }
        return line[8] == ASCII.dot || line[8] == ASCII.space
    }
}
