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
    private var block: ResponseBlock?

    /// Takes the next bytes and gives out the blocks that are complete with them.
    mutating func read(_ bytes: [UInt8]) -> [ResponseBlock] {
        var blocks: [ResponseBlock] = []
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

    private mutating func take(_ bytes: Span<UInt8>, into blocks: inout [ResponseBlock]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        guard let open = block else {
            block = ResponseBlock(statusLine: line.array(0..<line.count))
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

/// The parts of one header block in curl's dump that concern cookies and redirects.
struct ResponseBlock: Equatable {
    let status: Int
    /// The field values of the Set-Cookie lines, in order.
    var setCookie: [Octets] = []
    /// The values of the WWW-Authenticate fields, in order.
    var authenticate: [Octets] = []
    /// The values of the Proxy-Status fields, in order.
    var proxyStatus: [Octets] = []
    /// The nonce that the server wants in proofs.
    var proofNonce: String?
    /// The first Location that is not empty.
    var location: Octets?

    /// Whether a proxy answers, which sets no cookies for the server. curl leaves out the heads that open a tunnel.
    var isFromProxy: Bool { status == 407 }

    /// The same, as the rules read it.
    var head: ResponseHead {
        ResponseHead(
            status: status, location: location, authenticate: authenticate, proofNonce: proofNonce,
            proxyStatus: proxyStatus, setCookie: setCookie)
    }

    /// Creates a block with a status line; `nil` if the line is not one.
    init?(statusLine line: [UInt8]) {
        guard let statusLine = StatusLine(line.span, allowsBlanks: true) else { return nil }
        status = statusLine.status
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
