import CookieModel
import WebPrimitives

/// Takes the commands of "Copy as PowerShell" apart: `Invoke-WebRequest`, and the session object with its cookies.
///
/// Nothing is run. Strings are read as Chromium writes them: backticks escape, `$([char]233)` is a character.
struct PowerShellCommands {
    private enum Token {
        case string([UInt8])
        /// A run of other bytes.
        case word(String)
        /// One of `=`, `;`, brackets and commas.
        case mark(UInt8)
        case space
        /// A string that is never closed.
        case unclosed
    }

    /// The arguments of a cookie's constructor.
    private struct CookieArguments {
        let name: [UInt8]
        let value: [UInt8]
        var path: [UInt8] = []
        var domain: [UInt8] = []

        /// The cookie as a request to the URL shows it, with the path and the domain as written if such a cookie can
        /// have been sent there.
        func record(for url: RequestURL) -> CookieRecord {
            let text = String(decoding: domain.first == ASCII.dot ? domain.dropFirst() : domain[...], as: UTF8.self)
            let isDomainCookie =
                domain.first == ASCII.dot
                && WebHost(text).map { CookiePolicy.domainMatches(url.host, $0.octets) } ?? false
            return CookieRecord(
                name: Octets(name), value: Octets(value), domain: isDomainCookie ? text : url.host.description,
                isHostOnly: !isDomainCookie,
                path: path.first == ASCII.slash && CookiePolicy.pathMatches(url.path, Octets(path))
                    ? Octets(path) : "/",
                isSecure: url.scheme.isCryptographic, isHTTPOnly: true)
        }
    }

    private var requests: [CopiedRequest?] = []
    private var request = CopiedRequest()
    private var cookies: [CookieArguments] = []
    private var hasCall = false
    /// The parameter or constructor that the next strings are for, and those that came.
    private var target = ""
    private var strings: [[UInt8]] = []

    /// The requests of a text, in order; `nil` for one that cannot be read.
    static func requests(in text: Span<UInt8>) -> [CopiedRequest?] {
        var commands = PowerShellCommands()
        var position = 0
        while position < text.count {
            let token = token(in: text, from: &position)
            if case .unclosed = token { return commands.requests + [nil] }
            commands.take(token)
        }
        commands.finish()
        return commands.requests
    }

    private mutating func take(_ token: Token) {
        switch token {
        case .word(let word): take(word.lowercased())
        case .string(let string): take(string)
        case .mark(UInt8(ascii: "}")), .mark(UInt8(ascii: ")")): (target, strings) = ("", [])
        case .mark, .space, .unclosed: break
        }
    }

    private mutating func take(_ word: String) {
        switch word {
        case "microsoft.powershell.commands.webrequestsession":
            if hasCall { finish() }
        case "invoke-webrequest", "invoke-restmethod":
            if hasCall { finish() }
            hasCall = true
        case _ where word.hasPrefix("-") || word == "system.net.cookie": (target, strings) = (word, [])
        case _ where target == "-uri": take(Array(word.utf8))
        default: break
        }
    }

    private mutating func take(_ string: [UInt8]) {
        strings.append(string)
        switch (target, strings.count) {
        case ("-uri", 1): request.url = String(decoding: string, as: UTF8.self)
        case ("-method", 1): request.method = String(decoding: string, as: UTF8.self)
        case ("system.net.cookie", 2): cookies.append(CookieArguments(name: strings[0], value: string))
        case ("system.net.cookie", 3): cookies[cookies.count - 1].path = string
        case ("system.net.cookie", 4): cookies[cookies.count - 1].domain = string
        case ("-headers", 2):
            let name = Octets(strings[0])
            if let field = name.withSpan({ RequestField($0) }) { request.head.take(field, string.span) }
            strings = []
        default: break
        }
    }

    private mutating func finish() {
        defer { self = PowerShellCommands(requests: requests) }
        guard hasCall || !cookies.isEmpty else { return }
        let pairs = cookies.map { $0.name + [UInt8(ascii: "=")] + $0.value }
        let field = Array(pairs.joined(separator: Array("; ".utf8)))
        if !field.isEmpty { request.head.take(.cookie, field.span) }
        if let url = request.url.flatMap({ try? RequestURL($0) }) {
            request.cookies = cookies.map { $0.record(for: url) }
        }
        requests.append(hasCall && request.url != nil ? request : nil)
    }

    // MARK: - Tokens

    private static func token(in text: Span<UInt8>, from position: inout Int) -> Token {
        let byte = text[position]
        position += 1
        switch byte {
        case ASCII.space, ASCII.tab, ASCII.carriageReturn, ASCII.lineFeed, backtick: return .space
        case ASCII.quote: return expandable(in: text, from: &position).map { .string($0) } ?? .unclosed
        case ASCII.apostrophe: return literal(in: text, from: &position).map { .string($0) } ?? .unclosed
        case _ where isMark(byte): return .mark(byte)
        default:
            let start = position - 1
            while position < text.count, !ASCII.isWhiteSpace(text[position]), !isMark(text[position]),
                text[position] != ASCII.quote, text[position] != ASCII.apostrophe
            {
                position += 1
            }
            return .word(String(repairing: text.extracting(start..<position)))
        }
    }

    private static let backtick = UInt8(ascii: "`")

    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case ASCII.comma, ASCII.semicolon, ASCII.leftBrace, ASCII.rightBrace, UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "="), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    /// The rest of a string in double quotes.
    private static func expandable(in text: Span<UInt8>, from position: inout Int) -> [UInt8]? {
        var string: [UInt8] = []
        var units: [UInt16] = []
        func flush() {
            string += Array(String(decoding: units, as: UTF16.self).utf8)
            units = []
        }
        while position < text.count {
            let byte = text[position]
            if let unit = character(in: text, from: &position) {
                units.append(unit)
                continue
            }
            flush()
            position += 1
            switch byte {
            case ASCII.quote:
                guard position < text.count, text[position] == ASCII.quote else { return string }
                string.append(byte)
                position += 1
            case backtick where position < text.count:
                string.append(text[position])
                position += 1
            default: string.append(byte)
            }
        }
        return nil
    }

    /// The unit of UTF-16 in `$([char]233)`.
    private static func character(in text: Span<UInt8>, from position: inout Int) -> UInt16? {
        guard text.extracting(position..<text.count).hasPrefix("$([char]") else { return nil }
        var end = position + 8
        var number: UInt32 = 0
        while end < text.count, ASCII.isDigit(text[end]), number <= 0xFFFF {
            number = number * 10 + UInt32(text[end] - ASCII.zero)
            end += 1
        }
        guard end > position + 8, end < text.count, text[end] == UInt8(ascii: ")"), let unit = UInt16(exactly: number)
        else { return nil }
        position = end + 1
        return unit
    }

    /// The rest of a string in single quotes.
    private static func literal(in text: Span<UInt8>, from position: inout Int) -> [UInt8]? {
        var string: [UInt8] = []
        while position < text.count {
            let byte = text[position]
            position += 1
            if byte == ASCII.apostrophe {
                guard position < text.count, text[position] == ASCII.apostrophe else { return string }
                position += 1
            }
            string.append(byte)
        }
        return nil
    }
}
