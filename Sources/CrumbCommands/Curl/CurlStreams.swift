import CookieModel
import HTTPMessages
import RequestDecoration

/// Passes on curl's standard error, except for the last error, which waits: the message that curl may not follow a
/// redirect is dropped.
struct CurlStderrFilter {
    private static let errorPrefix = Array("curl: (".utf8)
    /// The remark of curl's --verbose at a redirect.
    private static let remark = Array("* Maximum (0) redirects followed".utf8)

    /// The line so far, if it may be one of those; `nil` if it is another one.
    private var line: [UInt8]? = []
    private var heldBack: [UInt8] = []

    /// Takes bytes; gives back those to print now.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        for byte in bytes {
            // Something comes after it: it was not the last word.
            output += heldBack
            heldBack = []
            let endsLine = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            guard var candidate = line else {
                output.append(byte)
                if endsLine { line = [] }
                continue
            }
            candidate.append(byte)
            if endsLine {
                line = []
                if candidate.starts(with: CurlStderrFilter.errorPrefix) {
                    heldBack = candidate
                } else if !candidate.starts(with: CurlStderrFilter.remark) {
                    output += candidate
                }
            } else if CurlStderrFilter.isBeginning(candidate) {
                line = candidate
            } else {
                output += candidate
                line = nil
            }
        }
        return output
    }

    private static func isBeginning(_ line: [UInt8]) -> Bool {
        errorPrefix.starts(with: line) || remark.starts(with: line) || line.starts(with: errorPrefix)
    }

    /// Ends the stream, and returns the bytes held back: the last error, if there is one.
    consuming func finish() -> [UInt8] {
        heldBack + (line ?? [])
    }
}

/// Reads the output of curl's `--dump-header` while one URL is fetched: header blocks only, no bodies, so that every
/// line is unambiguous. ``Captures`` reads captures from elsewhere, which are less certain.
///
/// There are several blocks if informational responses, challenges or retries came first. Lines outside of a block are
/// the trailer fields of a chunked body, and set nothing.
struct HeaderDumpReader {
    private var lines = LineBuffer(firstNumber: 1)
    private var fields = FieldLines()
    private var block: ResponseHead?

    /// Takes the next bytes and gives out the blocks that are complete with them.
    mutating func read(_ bytes: [UInt8]) -> [ResponseHead] {
        var blocks: [ResponseHead] = []
        var position = 0
        while let line = lines.next(in: bytes.span, from: &position) {
            switch line {
            case .inPiece(let range): take(bytes.span.extracting(range), into: &blocks)
            case .joined(let line): take(line.span, into: &blocks)
            // A line that no server's field is as long as: the one before it is complete.
            case .tooLong: apply(fields.end())
            }
        }
        return blocks
    }

    private mutating func take(_ bytes: Span<UInt8>, into blocks: inout [ResponseHead]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        guard let open = block else {
            block = ResponseHead(statusLine: line.array(0..<line.count))
            return
        }
        guard line.isEmpty else { return apply(fields.take(line, number: lines.number)) }
        apply(fields.end())
        blocks.append(block ?? open)
        block = nil
    }

    private mutating func apply(_ outcome: FieldLines.Outcome) {
        if case .field(let line) = outcome { block?.take(line.octets) }
    }
}

// The head of a response in curl's dump.
extension ResponseHead {
    /// Whether a proxy answers, which sets no cookies for the server. curl leaves out the heads that open a tunnel.
    var isFromProxy: Bool { status == 407 }

    /// Creates a head with a status line; `nil` if the line is not one.
    init?(statusLine line: [UInt8]) {
        guard let statusLine = StatusLine(line.span, allowsBlanks: true) else { return nil }
        self.init(status: statusLine.status)
    }

    /// Takes one field line, folded lines joined. A line that is not a field is ignored.
    mutating func take(_ field: [UInt8]) {
        let line = field.span
        guard let parts = line.fieldParts else { return }
        let name = line.extracting(parts.name)
        let value = Octets(line.array(parts.value))
        if name.equalsIgnoringCase("set-cookie") {
            setCookie.append(value)
        } else if name.equalsIgnoringCase("proxy-status") {
            proxyStatus.append(value)
        } else if name.equalsIgnoringCase("www-authenticate") {
            authenticate.append(value)
        } else if name.equalsIgnoringCase("dpop-nonce") {
            proofNonce = value.utf8String
        } else if name.equalsIgnoringCase("location"), location == nil, !value.isEmpty {
            location = value
        }
    }
}

/// Holds back the output of `--write-out` until it is known whether the response was the last one.
///
/// curl prints it on standard output, after the body. So the format begins with a secret mark, which no body can
/// contain, and the output after the mark waits.
struct WriteOut {
    private let mark: [UInt8]
    /// The bytes at the end that may be the beginning of the mark.
    private var tail: [UInt8] = []
    /// The output from the mark on.
    private var held: [UInt8]?

    init() {
        // The first byte is in text hardly ever, so that the mark is found fast.
        let digits = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }
        mark = [0x01] + Array("crumb\(digits.joined())".utf8)
    }

    /// The format for a hop: the user's, marked, with the redirects that curl does not know of.
    func format(_ format: [UInt8], redirectCount: Int) -> [UInt8] {
        var output = mark + [UInt8(ascii: "o")]
        var rest = format[...]
        while let byte = rest.first {
            if rest.starts(with: Array("%%".utf8)) {
                output += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if let (variable, replacement) = replacement(at: rest, redirectCount) {
                output += replacement
                rest = rest.dropFirst(variable)
            } else {
                output.append(byte)
                rest = rest.dropFirst()
            }
        }
        return output
    }

    private func replacement(at text: ArraySlice<UInt8>, _ redirectCount: Int) -> (Int, [UInt8])? {
        guard text.first == UInt8(ascii: "%") else { return nil }
        let replacements: [(String, [UInt8])] = [
            ("%{stdout}", mark + [UInt8(ascii: "o")]), ("%{stderr}", mark + [UInt8(ascii: "e")]),
            ("%{num_redirects}", Array("\(redirectCount)".utf8)),
        ]
        for (variable, replacement) in replacements where text.starts(with: variable.utf8) {
            return (variable.utf8.count, replacement)
        }
        return nil
    }

    /// Takes bytes of standard output; gives back those that belong to the body.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        if held != nil {
            held?.append(contentsOf: bytes)
            return []
        }
        let text = tail + bytes
        var start = text.startIndex
        while let candidate = text[start...].firstIndex(of: 0x01) {
            let rest = text[candidate...].prefix(mark.count)
            if rest.elementsEqual(mark) {
                held = Array(text[candidate...])
                tail = []
                return Array(text[..<candidate])
            }
            if rest.elementsEqual(mark.prefix(rest.count)) {
                tail = Array(rest)
                return Array(text[..<candidate])
            }
            start = candidate + 1
        }
        tail = []
        return text
    }

    /// Ends a response, and returns the output held back, by its stream. The body's last bytes come first.
    consuming func finish() -> (body: [UInt8], pieces: [(toError: Bool, text: [UInt8])]) {
        guard var rest = held?[...] else { return (tail, []) }
        var pieces: [(toError: Bool, text: [UInt8])] = []
        while rest.starts(with: mark) {
            let toError = rest.dropFirst(mark.count).first == UInt8(ascii: "e")
            rest = rest.dropFirst(mark.count + 1)
            var end = rest.startIndex
            while end < rest.endIndex, !rest[end...].starts(with: mark) { end += 1 }
            pieces.append((toError, Array(rest[..<end])))
            rest = rest[end...]
        }
        return ([], pieces)
    }
}
