import CookieModel

/// Reads what a script reads from `document.cookie`, a page's string on each line: `a=1; b=2`, or the same in quotes, as
/// a console prints it.
///
/// The string tells names and values and nothing else. Each cookie is received as if a script of the URL that the caller
/// gives had set it: host-only, for that URL's default path, until the session ends. A name that begins with `__Secure-`
/// or `__Host-` tells more: no browser has such a cookie without what the prefix asks for.
struct DocumentCookieReader: LineFormatReader {
    let source: String
    private let url: String?
    var lines: LineBuffer
    private var entryCount = 0

    init(source: String, url: String?, firstLine: Int) {
        self.source = source
        self.url = url
        lines = LineBuffer(firstNumber: firstLine)
    }

    mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var text = bytes.extracting(bytes.trimmingBlanks(bytes.droppingCarriageReturn))
        if text.count >= 2, text[0] == text[text.count - 1], text[0] == ASCII.quote || text[0] == ASCII.apostrophe {
            text = text.extracting(1..<(text.count - 1))
        }
        guard !text.isEmpty else { return }
        entryCount += 1
        guard let url else { return items.append(.failure(.urlMissing(at: place))) }
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
