import CookieModel

/// Reads the messages of a web view's capture script, one in JSON on each line.
///
/// A script of the named page made each change, so a change is received through the script interface and can do no more
/// than a script can.
struct CaptureMessagesReader: LineContent {
    private var entryCount = 0

    mutating func take(_ line: Span<UInt8>, at linePlace: CapturePlace, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        entryCount += 1
        let place = CapturePlace(source: linePlace.source, entry: entryCount, line: linePlace.line)
        guard let message = JSONValue(parsing: line)?.object, message["crumb"]?.octets == "capture",
            let kind = message["kind"]?.octets, let url = message["url"]?.text
        else {
            items.append(.failure(.entryMalformed("It is not a message of a capture script."), at: place))
            return
        }
        var setCookie: [Octets] = []
        var isTold = true
        switch kind {
        case "cookie":
            guard let line = message["line"]?.octets else {
                items.append(.failure(.entryMalformed("It has no line."), at: place))
                return
            }
            setCookie = [line]
        case "change":
            let changed = (message["changed"]?.elements ?? []).map { ScriptCookie.line($0, isDeleted: false) }
            let deleted = (message["deleted"]?.elements ?? []).map { ScriptCookie.line($0, isDeleted: true) }
            setCookie = (changed + deleted).compactMap(\.self)
            isTold = setCookie.count == changed.count + deleted.count
        case "response":
            // Whatever the answer set, the engine has kept to itself.
            break
        case "touched": isTold = false
        default: items.append(.failure(.entryMalformed("Its kind is unknown."), at: place))
        }
        if !isTold { items.append(.failure(.cookiesUntold, at: place)) }
        guard !setCookie.isEmpty else { return }
        items.append(
            .response(
                CapturedResponse(url: url, interface: .script, status: 0, setCookie: setCookie, place: place)))
    }
}

/// A cookie as a `change` event of the Cookie Store API shows it.
private enum ScriptCookie {
    /// The set-cookie-string that stores this cookie, or deletes it; `nil` if the engine gave too little, or if no such
    /// string can express the cookie.
    static func line(_ value: JSONValue, isDeleted: Bool) -> Octets? {
        guard let cookie = value.object, let name = cookie["name"]?.octets, let path = cookie["path"]?.octets,
            let content = isDeleted ? [] : cookie["value"]?.octets
        else { return nil }
        let domain = cookie["domain"]?.octets ?? []
        var expiry: Timestamp?
        if case .number(let milliseconds)? = cookie["expires"] {
            expiry = Timestamp(microseconds: milliseconds.millionths / 1000)
        }
        let sameSite: SameSite =
            switch cookie["sameSite"]?.octets {
            case "strict": .strict
            case "lax": .lax
            case "none": .none
            default: .default
            }
        return CookieRecord.scriptLine(
            name: name, value: content, path: path, domain: domain.isEmpty ? nil : domain, expiry: expiry,
            isSecure: cookie["secure"]?.boolean == true, sameSite: sameSite,
            isPartitioned: cookie["partitioned"]?.boolean == true, deleting: isDeleted)
    }
}

/// Reads strings of `document.cookie`, one page's on each line: `a=1; b=2`, or the same in quotes, as a console prints
/// it.
///
/// The string holds only names and values. Each cookie is received as if a script of the URL that the caller gives had
/// set it: host-only, for that URL's default path, until the session ends. A name that begins with `__Secure-` or
/// `__Host-` implies more: no browser has such a cookie without the attributes that the prefix requires.
struct DocumentCookieReader: LineContent {
    private let url: String?

    init(_ start: CaptureStart) {
        url = start.url
    }

    mutating func take(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        var text = bytes.extracting(bytes.trimmingBlanks(bytes.droppingCarriageReturn))
        if text.count >= 2, text[0] == text[text.count - 1], text[0] == ASCII.quote || text[0] == ASCII.apostrophe {
            text = text.extracting(1..<(text.count - 1))
        }
        guard !text.isEmpty else { return }
        guard let url else { return items.append(.failure(.urlMissing, at: place)) }
        var pairs = SetCookieLines()
        var start = 0
        while start <= text.count {
            let end = text.firstIndex(of: ASCII.semicolon, from: start) ?? text.count
            let pair = text.extracting(text.trimmingBlanks(start..<end))
            if !pair.isEmpty { DocumentCookieReader.append(pair, to: &pairs) }
            start = end + 1
        }
        items.append(
            .response(
                CapturedResponse(
                    url: url, urlOrigin: .given, interface: .script, status: 0, setCookie: pairs.octets, place: place)))
    }

    private static func append(_ pair: Span<UInt8>, to lines: inout SetCookieLines) {
        func begins(_ prefix: StaticString) -> Bool {
            let length = prefix.utf8CodeUnitCount
            return pair.count > length && pair.extracting(0..<length).equalsIgnoringCase(prefix)
        }
        let isHost = begins("__host-")
        guard isHost || begins("__secure-") else { return lines.append(pair) }
        var line: [UInt8] = []
        line.append(pair)
        line += Array((isHost ? "; Secure; Path=/" : "; Secure").utf8)
        lines.append(line.span)
    }
}
