import CookieModel

/// Reads the messages of a web view's capture script, one in JSON on each line.
///
/// What they tell was done by a script of the page that they name, and can do no more than one: it is received through
/// the script interface.
struct CaptureMessagesReader: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var entryCount = 0

    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    mutating func take(_ line: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        entryCount += 1
        let place = CapturePlace(source: source, entry: entryCount, line: lines.number)
        guard let message = JSONValue(parsing: line)?.object, message["crumb"]?.octets == "capture",
            let kind = message["kind"]?.octets, let url = message["url"]?.text
        else {
            items.append(.failure(.entryMalformed("It is no message of a capture script.", at: place)))
            return
        }
        var setCookie: [Octets] = []
        var isTold = true
        switch kind {
        case "cookie":
            guard let line = message["line"]?.octets else {
                items.append(.failure(.entryMalformed("It has no line.", at: place)))
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
        default: items.append(.failure(.entryMalformed("It is of a kind that is not known.", at: place)))
        }
        if !isTold { items.append(.failure(.cookiesUntold(at: place))) }
        guard !setCookie.isEmpty else { return }
        items.append(
            .response(
                CapturedResponse(url: url, interface: .script, status: 0, setCookie: setCookie, place: place)))
    }
}

/// A cookie as a `change` event of the Cookie Store API shows it.
private enum ScriptCookie {
    /// The set-cookie-string that comes to this cookie, or ends it; `nil` where the engine told too little, or what no
    /// such string can say.
    static func line(_ value: JSONValue, isDeleted: Bool) -> Octets? {
        guard let cookie = value.object, let name = cookie["name"]?.octets, let path = cookie["path"]?.octets,
            path.first == ASCII.slash, !name.contains(UInt8(ascii: "=")),
            let content = isDeleted ? Octets([]) : cookie["value"]?.octets
        else { return nil }
        let domain = cookie["domain"]?.octets ?? []
        guard ![name, content, path, domain].contains(where: breaksOut) else { return nil }
        var line = Array(name) + [UInt8(ascii: "=")] + Array(content) + Array("; Path=".utf8) + Array(path)
        if !domain.isEmpty { line += Array("; Domain=".utf8) + Array(domain) }
        if isDeleted {
            line += Array("; Max-Age=0".utf8)
        } else if case .number(let milliseconds) = cookie["expires"] {
            line += Array("; Expires=\(Timestamp(microseconds: milliseconds.millionths / 1000).httpDate)".utf8)
        }
        if cookie["secure"]?.boolean == true { line += Array("; Secure".utf8) }
        switch cookie["sameSite"]?.octets {
        case "strict": line += Array("; SameSite=Strict".utf8)
        case "lax": line += Array("; SameSite=Lax".utf8)
        case "none": line += Array("; SameSite=None".utf8)
        default: break
        }
        if cookie["partitioned"]?.boolean == true { line += Array("; Partitioned".utf8) }
        return Octets(line)
    }

    private static func breaksOut(_ octets: Octets) -> Bool {
        octets.contains { $0 == ASCII.semicolon || $0 < 0x20 || $0 == 0x7F }
    }
}
