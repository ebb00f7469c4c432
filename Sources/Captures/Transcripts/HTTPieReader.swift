import CookieModel
import HTTPMessages

/// Reads the output of `http -v` (HTTPie): the request's header and body, the response's header and body, and with
/// `--all --follow` the same for each redirect.
///
/// It contains no scheme, so the caller gives the first URL. **A body must never set a cookie**: after a response that
/// is not a redirect nothing counts, and after a redirect only a request for the URL that it names.
struct HTTPieReader: LineContent {
    private enum Stage {
        case requestLine
        case request
        /// Behind a request's header: its body, up to the response.
        case requestBody
        case response
        /// Behind a redirect: its body, up to the next request.
        case redirectBody
        case over
    }

    /// What the sequences that change a terminal's colors begin with.
    static let escape: UInt8 = 0x1B

    private let given: RequestURL?
    private var stage = Stage.requestLine
    private var url = TranscriptURL(text: nil, origin: .recorded)
    private var request = RequestHead()
    private var method: String?
    private var target = ""
    private var host: String?
    private var block: HeaderBlock?
    private var blockCount = 0
    private var isBehindEmptyLine = true
    /// Whether the output has the colors of a terminal (`--pretty=colors`), which are removed.
    private var isColored = false

    init(_ start: CaptureStart) {
        given = start.url.flatMap { try? RequestURL($0) }
    }

    var bufferedByteCount: Int { (block?.bufferedByteCount ?? 0) + request.bufferedByteCount }

    /// Whether a line begins a request: `GET /path HTTP/1.1`.
    static func isRequestLine(_ line: Span<UInt8>) -> Bool {
        guard let first = line.firstIndex(of: ASCII.space, from: 0), first >= 3, first <= 16,
            let second = line.firstIndex(of: ASCII.space, from: first + 1), second > first + 1
        else { return false }
        for index in 0..<first where !(0x41...0x5A).contains(line[index]) { return false }
        let version = line.extracting((second + 1)..<line.count)
        return version.hasPrefix("HTTP/") && version.count >= 6 && version.count <= 8
    }

    /// A line without the sequences that change a terminal's colors: `ESC [ … m`.
    static func withoutColors(_ line: Span<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        var position = 0
        while position < line.count {
            let escape = line.firstIndex(of: Self.escape, from: position) ?? line.count
            plain.append(line.extracting(position..<escape))
            position = escape + 1
            guard position < line.count, line[position] == ASCII.leftBracket else { continue }
            position += 1
            while position < line.count, ASCII.isDigit(line[position]) || line[position] == ASCII.semicolon {
                position += 1
            }
            position += 1
        }
        return plain
    }

    mutating func take(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        if bytes.count > 0, bytes[0] == Self.escape, case .requestLine = stage { isColored = true }
        guard isColored else { return takePlain(bytes, at: place, into: &items) }
        let plain = HTTPieReader.withoutColors(bytes)
        takePlain(plain.span, at: place, into: &items)
    }

    private mutating func takePlain(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        defer { isBehindEmptyLine = line.isEmpty }
        switch stage {
        case .requestLine, .redirectBody:
            if isBehindEmptyLine, HTTPieReader.isRequestLine(line) { begin(line) }
        case .request where line.isEmpty: endRequest(at: place, into: &items)
        case .request:
            if let parts = line.fieldParts, line.extracting(parts.name).equalsIgnoringCase("host") {
                host = String(repairing: line.extracting(parts.value))
            } else {
                request.take(line: line)
            }
        case .requestBody:
            guard isBehindEmptyLine, let statusLine = StatusLine(line) else { return }
            blockCount += 1
            block = HeaderBlock(
                statusLine, at: CapturePlace(source: place.source, entry: blockCount, line: place.line))
            stage = .response
        case .response where line.isEmpty: endResponse(into: &items)
        case .response: block?.take(line, at: place, into: &items)
        case .over: break
        }
    }

    /// A long line of a body is not missed.
    mutating func leaveOutLine(at place: CapturePlace, into items: inout [CaptureItem]) {
        if stage == .request || stage == .response { items.append(.failure(.lineTooLong, at: place)) }
    }

    mutating func finish(at lastPlace: CapturePlace, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: lastPlace.source, entry: max(blockCount, 1), line: lastPlace.line)
        if stage == .request { endRequest(at: lastPlace, into: &items) }
        if stage == .response {
            items.append(.failure(.headersTruncated, at: place))
            endResponse(into: &items)
        }
        guard blockCount == 0, stage == .requestBody else {
            if blockCount == 0, stage == .requestLine {
                items.append(.failure(.noResponses, at: CapturePlace(source: place.source)))
            }
            return
        }
        // A request's header that someone copied.
        var response = CapturedResponse(
            url: url.text ?? "", urlOrigin: .given, method: method, status: 0, setCookie: [],
            evidence: request.evidence, requestCookies: request.cookies.octets, place: place)
        response.isCopiedRequest = true
        items.append(.response(response))
    }

    private mutating func begin(_ line: Span<UInt8>) {
        let words = String(repairing: line).split(separator: " ")
        method = words.first.map { String($0) }
        target = words.count > 1 ? String(words[1]) : "/"
        host = nil
        request = RequestHead()
        stage = .request
    }

    private mutating func endRequest(at linePlace: CapturePlace, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: linePlace.source, entry: blockCount + 1, line: linePlace.line)
        guard let expected = url.text.map({ try? RequestURL($0) }) ?? given else {
            items.append(.failure(.urlMissing, at: place))
            stage = .over
            return
        }
        let text = target.contains("://") ? target : "\(expected.scheme.name)://\(host ?? "")\(target)"
        guard let asked = try? RequestURL(text), url.text == nil || asked == expected else {
            items.append(.failure(.responseSkipped, at: place))
            stage = .over
            return
        }
        url = TranscriptURL(text: asked.description, origin: blockCount == 0 ? .given : .redirect)
        stage = .requestBody
    }

    private mutating func endResponse(into items: inout [CaptureItem]) {
        guard var block else { return }
        self.block = nil
        block.end(at: url, method: method, request: request, into: &items)
        if case .location = block.head.sequel, url.follow(block.head.sequel) {
            stage = .redirectBody
        } else {
            stage = (100...199).contains(block.head.status) ? .requestBody : .over
        }
    }
}
