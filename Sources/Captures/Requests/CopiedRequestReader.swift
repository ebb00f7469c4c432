import CookieModel

/// Reads requests that a person copied out of a browser: "Copy as cURL" (bash and cmd), "Copy as fetch", "Copy as
/// PowerShell", or a `Cookie:` line. They hold no response; only their `Cookie` fields are of use.
struct CopiedRequestReader: FormatReader {
    private let format: CaptureFormat
    private let source: String
    private let url: String?
    private let line: Int
    private var text: [UInt8] = []
    private var isTooLong = false

    init(_ format: CaptureFormat, _ start: CaptureStart) {
        self.format = format
        (source, url, line) = (start.source, start.url, start.line)
    }

    var bufferedByteCount: Int { text.capacity }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !isTooLong else { return }
        isTooLong = text.count + bytes.count > CaptureLimits.responseByteCount
        if isTooLong { text = [] } else { text.append(bytes) }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        guard !isTooLong else { return items.append(.failure(.entryTooLarge, at: CapturePlace(source: source))) }
        switch format {
        case .curlCommand:
            let (commands, unclosedQuote) = ShellWords.commands(in: text)
            let unclosed = unclosedQuote.map { quotePlace($0, entry: commands.count + 1) }
            append(commands.map { CopiedRequest(curl: $0) }, unclosedQuote: unclosed, into: &items)
        case .fetchCall:
            append(
                FetchCall.all(in: text.span).map { $0.flatMap { CopiedRequest(fetch: $0) } }, into: &items)
        case .powerShell: append(PowerShellCommands.requests(in: text.span), into: &items)
        default:
            append(
                CopiedRequest(fields: text.span, url: url), at: CapturePlace(source: source, line: line), into: &items)
        }
    }

    private func quotePlace(_ offset: Int, entry: Int) -> CapturePlace {
        let before = text[..<offset]
        let start = before.lastIndex(of: ASCII.lineFeed).map { $0 + 1 } ?? 0
        return CapturePlace(
            source: source, entry: entry, line: line + before.count { $0 == ASCII.lineFeed }, column: offset - start + 1
        )
    }

    private func append(
        _ requests: [CopiedRequest?], unclosedQuote: CapturePlace? = nil, into items: inout [CaptureItem]
    ) {
        for (index, request) in requests.enumerated() {
            append(request, at: CapturePlace(source: source, entry: index + 1), into: &items)
        }
        if let unclosedQuote {
            items.append(.failure(.quoteUnclosed, at: unclosedQuote))
        } else if requests.isEmpty {
            items.append(.failure(.noRequests, at: CapturePlace(source: source)))
        }
    }

    private func append(_ request: CopiedRequest?, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard let request else {
            return items.append(
                .failure(.entryMalformed("It does not have the form in which browsers copy requests."), at: place))
        }
        guard let url = request.url ?? url else { return items.append(.failure(.urlMissing, at: place)) }
        var response = CapturedResponse(
            url: url, urlOrigin: request.url == nil ? .given : .recorded, method: request.method, status: 0,
            setCookie: [], evidence: request.head.evidence, requestCookies: request.head.cookies.octets, place: place)
        response.isCopiedRequest = true
        response.requestRecords = request.cookies
        items.append(.response(response))
    }
}

/// One request, as a browser copies it.
struct CopiedRequest {
    var url: String?
    var method: String?
    var head = RequestHead()
    /// The cookies, if the request gives more than names and values.
    var cookies: [CookieRecord] = []

    /// curl's other options with a value that copied commands have.
    private static let valueOptions: Set<String> = [
        "-d", "-o", "-u", "-x", "-F", "-m", "-T", "-w", "-E", "--data", "--data-raw", "--data-binary", "--data-ascii",
        "--data-urlencode", "--json", "--output", "--user", "--proxy", "--form", "--form-string", "--max-time",
        "--upload-file", "--write-out", "--cert", "--key", "--cacert", "--resolve", "--connect-to", "--retry",
        "--connect-timeout", "-c", "--cookie-jar", "--oauth2-bearer", "--aws-sigv4", "--interface",
    ]

    /// A request of which nothing is known yet.
    init() {}

    /// The request that a curl or wget command makes; `nil` if the words are not such a command.
    init?(curl words: [[UInt8]]) {
        // A prompt may have been copied with the command.
        let words = words.first == [UInt8(ascii: "$")] ? Array(words.dropFirst()) : words
        let names = words.map { String(decoding: $0, as: UTF8.self) }
        guard let program = names.first, ["curl", "curl.exe", "wget"].contains(program) else { return nil }
        if program == "wget" {
            takeWget(words.dropFirst())
            guard url != nil else { return nil }
            return
        }
        var index = 1
        while index < words.count {
            var option = names[index]
            var value: [UInt8]?
            if option.hasPrefix("-"), !option.hasPrefix("--"), option.utf8.count > 2,
                "HbXeAduoxFm".utf8.contains(words[index][1])
            {
                // The value may directly follow the letter.
                value = Array(words[index].dropFirst(2))
                option = String(option.prefix(2))
            } else if index + 1 < words.count {
                value = words[index + 1]
            }
            let isBehind =
                value.map { index + 1 < words.count && words[index + 1] == $0 && option == names[index] } ?? false
            guard option.hasPrefix("-") else {
                if url == nil { url = CopiedRequest.url(option) }
                index += 1
                continue
            }
            let hasValue = take(option, value) || CopiedRequest.valueOptions.contains(option)
            index += hasValue && isBehind ? 2 : 1
        }
        guard url != nil else { return nil }
    }

    /// wget's options with a value.
    private static let wgetValueOptions: Set<String> = [
        "--header", "-U", "--user-agent", "--referer", "--method",
        "-O", "-o", "-a", "-e", "-l", "-A", "-R", "-D", "-P", "-t", "-T", "-w", "-Q", "--execute", "--output-document",
        "--output-file", "--post-data", "--body-data",
        "--load-cookies", "--save-cookies", "--ca-certificate", "--timeout", "--tries", "--directory-prefix",
    ]

    /// Takes the words of a wget command, whose long options have their value after an equals sign or in the next word.
    private mutating func takeWget(_ words: ArraySlice<[UInt8]>) {
        var rest = words
        while let word = rest.popFirst() {
            let name = String(decoding: word.prefix { $0 != ASCII.equals }, as: UTF8.self)
            guard name.hasPrefix("-") else {
                if url == nil { url = CopiedRequest.url(String(decoding: word, as: UTF8.self)) }
                continue
            }
            let own = word.firstIndex(of: ASCII.equals).map { Array(word[($0 + 1)...]) }
            guard CopiedRequest.wgetValueOptions.contains(name), let value = own ?? rest.popFirst() else { continue }
            switch name {
            case "--header": head.take(line: value.span)
            case "-U", "--user-agent": head.take(.userAgent, value.span)
            case "--referer": head.take(.referrer, value.span)
            case "--method": method = String(decoding: value, as: UTF8.self)
            default: break
            }
        }
    }

    /// Takes an option that matters; false for any other.
    private mutating func take(_ option: String, _ value: [UInt8]?) -> Bool {
        let value = value ?? []
        switch option {
        case "-H", "--header": head.take(line: value.span)
        case "-b", "--cookie":
            // Anything else is a file's name.
            if value.contains(UInt8(ascii: "=")) { head.take(.cookie, value.span) }
        case "-e", "--referer": head.take(.referrer, value.span)
        case "-A", "--user-agent": head.take(.userAgent, value.span)
        case "-X", "--request": method = String(decoding: value, as: UTF8.self)
        case "--url": url = url ?? CopiedRequest.url(String(decoding: value, as: UTF8.self))
        default: return false
        }
        return true
    }

    private static func url(_ text: String) -> String {
        text.contains("://") ? text : "http://\(text)"
    }

    /// The request that a call of `fetch` makes.
    init?(fetch call: FetchCall) {
        url = call.url
        guard let options = call.options else { return }
        method = options["method"]?.text
        if let referrer = options["referrer"]?.octets { referrer.withSpan { head.take(.referrer, $0) } }
        head.take(options["headers"]?.object)
    }

    /// Whether a text is the value of a `Cookie` field and nothing else: pairs of a name and a value on one line, none of
    /// which is an attribute of a `Set-Cookie` line.
    static func isCookieValue(_ text: Span<UInt8>) -> Bool {
        let end = end(of: text)
        var start = 0
        guard end > 0, text.extracting(0..<end).firstIndex(of: ASCII.lineFeed, from: 0) == nil else { return false }
        while start < end {
            let next = text.extracting(0..<end).firstIndex(of: ASCII.semicolon, from: start) ?? end
            let pair = text.extracting(text.trimmingBlanks(start..<next))
            start = next + 1
            guard let equals = pair.firstIndex(of: UInt8(ascii: "="), from: 0), equals > 0 else { return false }
            let name = pair.extracting(0..<equals)
            for index in 0..<name.count where !isTokenByte(name[index]) { return false }
            for attribute in ["path", "domain", "expires", "max-age", "samesite"]
            where name.count == attribute.utf8.count && String(repairing: name).lowercased() == attribute {
                return false
            }
        }
        return true
    }

    /// The value of the `Cookie` field with the names and values of a JSON object; `nil` if one of them cannot be in it.
    private static func cookieValue(ofJSON text: Span<UInt8>) -> [UInt8]? {
        guard let object = JSONValue(parsing: text)?.object else { return nil }
        var field: [UInt8] = []
        for (name, value) in zip(object.names, object.values) {
            guard let value = value.octets, !name.isEmpty, !name.contains(ASCII.equals),
                !(name.bytes + value.bytes).contains(where: { $0 == ASCII.semicolon || $0 < ASCII.space })
            else { return nil }
            field += (field.isEmpty ? [] : Array("; ".utf8)) + name.bytes + [ASCII.equals] + value.bytes
        }
        return field
    }

    /// Where a text ends, but for white space.
    private static func end(of text: Span<UInt8>) -> Int {
        var end = text.count
        while end > 0, ASCII.isWhiteSpace(text[end - 1]) { end -= 1 }
        return end
    }

    /// A character of names: no white space, colon, quote or bracket, which other texts have.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte > ASCII.space && byte < 0x7F && !"()<>@,;:\\\"/[]?={}#".utf8.contains(byte)
    }

    /// The request whose header has these lines.
    init?(fields text: Span<UInt8>, url: String?) {
        self.url = nil
        if text.hasPrefix("{") {
            let object = text.extracting(0..<CopiedRequest.end(of: text))
            guard let value = CopiedRequest.cookieValue(ofJSON: object) else { return nil }
            head.take(.cookie, value.span)
            return
        }
        guard !CopiedRequest.isCookieValue(text) else {
            head.take(.cookie, text.extracting(text.trimmingBlanks(0..<CopiedRequest.end(of: text))))
            return
        }
        var start = 0
        while start < text.count {
            let end = text.firstIndex(of: ASCII.lineFeed, from: start) ?? text.count
            let line = text.extracting(start..<end)
            head.take(line: line.extracting(line.trimmingBlanks(line.droppingCarriageReturn)))
            start = end + 1
        }
    }
}

/// A call of `fetch` with a URL and, in JSON, its options, as DevTools of Chromium and Firefox copy it.
struct FetchCall {
    let url: String
    let options: JSONObject?

    /// The calls in a text, in order; `nil` for one that cannot be read.
    static func all(in text: Span<UInt8>) -> [FetchCall?] {
        var calls: [FetchCall?] = []
        var position = 0
        while let start = FetchCall.start(in: text, from: position) {
            position = start
            calls.append(call(in: text, from: &position))
        }
        return calls
    }

    /// Where the arguments of the next call begin.
    private static func start(in text: Span<UInt8>, from start: Int) -> Int? {
        var position = start
        while let found = text.firstIndex(of: UInt8(ascii: "("), from: position) {
            if found >= 5, text.extracting((found - 5)..<found).equals("fetch") { return found + 1 }
            position = found + 1
        }
        return nil
    }

    private static func call(in text: Span<UInt8>, from position: inout Int) -> FetchCall? {
        guard let address = value(in: text, from: &position), let url = JSONValue(parsing: address.span)?.text
        else { return nil }
        skipSpace(in: text, from: &position)
        guard position < text.count, text[position] == ASCII.comma else { return FetchCall(url: url, options: nil) }
        position += 1
        guard let options = value(in: text, from: &position), let object = JSONValue(parsing: options.span)?.object
        else { return nil }
        return FetchCall(url: url, options: object)
    }

    private static func skipSpace(in text: Span<UInt8>, from position: inout Int) {
        while position < text.count, ASCII.isWhiteSpace(text[position]) { position += 1 }
    }

    /// The octets of one string or object, up to where its quotes and brackets close.
    private static func value(in text: Span<UInt8>, from position: inout Int) -> [UInt8]? {
        skipSpace(in: text, from: &position)
        let start = position
        var depth = 0
        var isString = false
        while position < text.count {
            let byte = text[position]
            position += 1
            switch byte {
            case ASCII.backslash where isString: position += 1
            case ASCII.quote: isString.toggle()
            case ASCII.leftBrace where !isString, ASCII.leftBracket where !isString: depth += 1
            case ASCII.rightBrace where !isString, ASCII.rightBracket where !isString: depth -= 1
            default: break
            }
            if !isString, depth <= 0, byte != ASCII.backslash {
                guard byte == ASCII.quote || byte == ASCII.rightBrace, depth == 0, position <= text.count else {
                    return nil
                }
                var bytes: [UInt8] = []
                bytes.append(text.extracting(start..<position))
                return bytes
            }
        }
        return nil
    }
}
