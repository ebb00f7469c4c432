package import CookieModel

/// Reads Firefox's session store (`sessionstore.jsonlz4`, `recovery.jsonlz4`), which holds session cookies: `mozLz40`,
/// the unpacked length, and one LZ4 block of JSON.
///
/// One container is read, or the cookies of none; those of others, of private windows and of first-party isolation are
/// counted.
struct FirefoxSessionReader: FormatReader {
    private static let headByteCount = 12
    private static let sliceByteCount = 1 << 16

    private let source: String
    private var head: [UInt8] = []
    private var block = LZ4Block()
    private var document: JSONOutlineReader<FirefoxSessionOutline>
    private var isOver = false

    init(_ start: CaptureStart) {
        source = start.source
        document = JSONOutlineReader(
            FirefoxSessionOutline(source: source, container: start.container), CaptureStart(source: source))
    }

    var bufferedByteCount: Int { document.bufferedByteCount + Self.sliceByteCount }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var output: [UInt8] = []
        for index in 0..<bytes.count where !isOver {
            if head.count < Self.headByteCount {
                takeHead(bytes[index], into: &items)
                continue
            }
            block.take(bytes[index], into: &output)
            if block.isBroken {
                document.read(output.span, into: &items)
                return fail(into: &items)
            }
            if output.count >= Self.sliceByteCount {
                document.read(output.span, into: &items)
                output.removeAll(keepingCapacity: true)
            }
        }
        if !isOver { document.read(output.span, into: &items) }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        guard !isOver else { return }
        document.finish(into: &items)
    }

    private mutating func takeHead(_ byte: UInt8, into items: inout [CaptureItem]) {
        head.append(byte)
        guard head.count == Self.headByteCount else { return }
        block.limit = (8..<12).reversed().reduce(0) { $0 << 8 | Int(head[$1]) }
        guard !head.span.hasPrefix("mozLz40\u{0}") else { return }
        items.append(.failure(.inputUnrecognized("The input does not begin like Firefox's session store."), at: place))
        isOver = true
    }

    private mutating func fail(into items: inout [CaptureItem]) {
        items.append(.failure(.packedMalformed, at: place))
        isOver = true
    }

    private var place: CapturePlace { CapturePlace(source: source) }
}

/// The place of the cookies in Firefox's session store: an array called `cookies`.
struct FirefoxSessionOutline: JSONEntryOutline {
    let source: String
    /// The number of the container that is read; 0 for cookies in no container.
    private let container: Int
    var entryCount = 0
    private var otherCount = 0

    init(source: String, container: Int) {
        self.source = source
        self.container = container
    }

    static func holdsEntries(_ name: Span<UInt8>) -> Bool { name.equals("cookies") }

    mutating func takeEntry(_ value: JSONValue, at place: CapturePlace, into items: inout [CaptureItem]) {
        guard let cookie = value.object, let host = cookie["host"]?.text, !host.isEmpty,
            let content = cookie["value"]?.octets
        else { return items.append(.failure(.entryMalformed("It lacks a required field."), at: place)) }
        let attributes = cookie["originAttributes"]?.object
        guard isMeant(attributes) else {
            otherCount += 1
            return
        }
        let hasDot = host.hasPrefix(".")
        let path = cookie["path"]?.octets ?? "/"
        var record = CookieRecord(
            name: cookie["name"]?.octets ?? [], value: content, domain: hasDot ? String(host.dropFirst()) : host,
            isHostOnly: !hasDot, path: path.isEmpty ? "/" : path, isSecure: cookie["secure"]?.boolean ?? false,
            isHTTPOnly: cookie["httponly"]?.boolean ?? false)
        record.sameSite =
            cookie["sameSite"]?.integer.map {
                SameSite(browserNumber: $0, isSecure: record.isSecure)
            } ?? .default
        items.append(.cookie(record, place))
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        guard otherCount > 0 else { return }
        items.append(.failure(.otherSessionCookies(otherCount), at: CapturePlace(source: source)))
    }

    /// Whether the cookie belongs to the container, and to no private window, isolation or partition.
    private func isMeant(_ attributes: JSONObject?) -> Bool {
        guard let attributes else { return container == 0 }
        return Int(attributes["userContextId"]?.integer ?? 0) == container
            && (attributes["privateBrowsingId"]?.integer ?? 0) == 0
            && (attributes["firstPartyDomain"]?.octets ?? []).isEmpty
            && (attributes["partitionKey"]?.octets ?? []).isEmpty
    }
}

extension SameSite {
    /// The same-site-flag that Firefox and Chromium store as a number. An insecure cookie without the attribute has the
    /// number of None, too.
    package init(browserNumber number: Int, isSecure: Bool) {
        self =
            switch number {
            case 0 where isSecure: .none
            case 1: .lax
            case 2: .strict
            default: .default
            }
    }
}
