import WebPrimitives

/// Reads HAR 1.2 (HTTP Archive) as a stream.
///
/// - `response.headers` is the truth. `response.cookies` is ignored: writers rebuild it and lose attributes.
/// - A value that joins several Set-Cookie lines with line feeds (Chromium, Firefox, WebDriver BiDi) is split at them.
///   mitmproxy 8 joins them with `", "`, which cannot be undone: that is one line here.
/// - Writers turned the octets of the wire into text. Chromium's take them for windows-1252, which is undone
///   (``HARTextEncoding``). What was not ASCII comes back as UTF-8 from others; whether it was UTF-8 or Latin-1 on the
///   wire is lost. Bytes that mitmproxy could not decode, which it writes as lone surrogates from
///   U+DC80 to U+DCFF, come back as those bytes; other lone surrogates become U+FFFD.
/// - Members may come in any order. Of several with one name in one object the last counts, except `log` and `entries`:
///   their entries are emitted while they are read, so all of them count.
/// - An entry needs `request.url` as a string; a `response` that is an object, null or absent; `headers` that are an
///   array of objects with `name`, null or absent; and a string as each Set-Cookie value. An entry that lacks one of
///   these is one failure. A `method`, `status` or `startedDateTime` of another type than it should be counts as
///   absent.
/// - Every entry is emitted, whatever its status and whether or not it sets cookies.
struct HARReader: FormatReader {
    private var stream: JSONStream<HARDocument>
    private let source: String
    private var hasFailed = false

    /// A document whose first byte is at `line` and `column` of `source`.
    init(source: String, line: Int, column: Int) {
        self.source = source
        stream = JSONStream(handler: HARDocument(source: source), line: line, column: column)
    }

    var bufferedByteCount: Int {
        stream.bufferedByteCount + stream.handler.bufferedByteCount
    }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !hasFailed else { return }
        stream.read(bytes)
        takeItems(into: &items)
        guard let problem = stream.problem else { return }
        hasFailed = true
        let entry = stream.handler.begunCount > stream.handler.endedCount ? stream.handler.begunCount : nil
        items.append(
            .failure(.json(problem, source: source, entry: entry, afterEntry: stream.handler.endedCount)))
    }

    mutating func finish(into items: inout [CaptureItem]) {
        guard !hasFailed else { return }
        let count = stream.handler.endedCount
        if !stream.isComplete {
            let place = CapturePlace(source: source, entry: count > 0 ? count : nil)
            items.append(.failure(.documentTruncated(afterEntry: count, at: place)))
        } else if !stream.handler.hasEntries {
            items.append(.failure(.notHAR(at: CapturePlace(source: source))))
        } else if stream.handler.headerlessCount > 0 {
            let (count, place) = (stream.handler.headerlessCount, CapturePlace(source: source))
            items.append(.failure(.headersSanitized(count, by: stream.handler.creator, at: place)))
        } else if stream.handler.mayBeSanitized {
            items.append(.failure(.cookiesSanitized(by: stream.handler.creator, at: CapturePlace(source: source))))
        }
    }

    private mutating func takeItems(into items: inout [CaptureItem]) {
        items.append(contentsOf: stream.handler.items)
        stream.handler.items.removeAll(keepingCapacity: true)
    }
}

/// The names in the `cookies` of a response. They only show where a line begins: their values and attributes are not
/// read.
///
/// mitmproxy up to version 8 joins all Set-Cookie lines of a response with a comma and a space, which values and dates
/// may contain as well. Its `cookies` still has one member for each line, in order, so that the lines can be split
/// before each name.
struct HARCookieNames {
    /// More names than any response has; a list that is longer is of no use.
    private static let limit = 1000

    private var names: [[UInt8]] = []

    /// How many bytes are held.
    var bufferedByteCount: Int { names.reduce(0) { $0 + $1.capacity } }

    /// Whether one Set-Cookie value can only be several lines joined.
    var hasMultiple: Bool { names.count > 1 }

    /// How many there are, as far as they are counted.
    var count: Int { names.count }

    mutating func append(_ name: Span<UInt8>) {
        guard names.count <= HARCookieNames.limit else { return }
        var bytes: [UInt8] = []
        if name.count <= 4096 { bytes.append(name) }
        names.append(bytes)
    }

    /// Notes a name that is too long to be one: nothing can be cut in front of it.
    mutating func appendUnusable() {
        names.append([])
    }

    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
    }

    /// Where each line begins and ends in a joined value; `nil` if not every name is found in its turn.
    func lines(in value: Span<UInt8>) -> [Range<Int>]? {
        guard names.count <= HARCookieNames.limit, let first = names.first, isPair(first, in: value, at: 0)
        else { return nil }
        var lines: [Range<Int>] = []
        var start = 0
        for name in names.dropFirst() {
            var comma = value.firstIndex(of: ASCII.comma, from: start)
            while let found = comma, !(isSpace(value, at: found + 1) && isPair(name, in: value, at: found + 2)) {
                comma = value.firstIndex(of: ASCII.comma, from: found + 1)
            }
            guard let comma else { return nil }
            lines.append(start..<comma)
            start = comma + 2
        }
        return lines + [start..<value.count]
    }

    private func isSpace(_ value: Span<UInt8>, at position: Int) -> Bool {
        position < value.count && value[position] == ASCII.space
    }

    /// Whether the value has `name=` at `position`. An empty name never matches, because it could be anywhere.
    private func isPair(_ name: [UInt8], in value: Span<UInt8>, at position: Int) -> Bool {
        guard !name.isEmpty, position + name.count < value.count, value[position + name.count] == UInt8(ascii: "=")
        else { return false }
        for offset in name.indices where value[position + offset] != name[offset] { return false }
        return true
    }
}
