import CookieModel

/// A call of `fetch` with a URL and, in JSON, its options: what DevTools of Chromium and Firefox copy.
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
