import HTTPMessages
import WebPrimitives

/// Reads HAR 1.2 (HTTP Archive) as a stream.
///
/// - `response.headers` is the truth. Of `response.cookies` only the names are read: writers rebuild it and lose
///   attributes.
/// - A value that joins several Set-Cookie lines with line feeds (Chromium, Firefox, WebDriver BiDi) is split at them.
///   mitmproxy 8 joins them with `", "`; the names in `cookies` tell them apart (``HARCookieNames``).
/// - Writers turned the octets of the wire into text. Chromium's take them for windows-1252, which is undone
///   (``HARTextEncoding``). What was not ASCII comes back as UTF-8 from others; whether it was UTF-8 or Latin-1 on the
///   wire is lost. Bytes that mitmproxy could not decode, which it writes as lone surrogates from
///   U+DC80 to U+DCFF, come back as those bytes; other lone surrogates become U+FFFD.
/// - Members may come in any order (``HAREntries``).
/// - An entry needs `request.url` as a string; a `response` that is an object, null or absent; `headers` that are an
///   array of objects with `name`, null or absent; and a string as each Set-Cookie value. An entry that lacks one of
///   these is one failure. A `method`, `status` or `startedDateTime` of another type than it should be counts as
///   absent.
/// - Every entry is emitted, whatever its status and whether or not it sets cookies.
struct HARReader: FormatReader {
    private var entries: HAREntries
    private var capture: HARCapture
    private var hasFailed = false

    init(_ start: CaptureStart) {
        entries = HAREntries(HARCapture.selection, line: start.line, column: start.column)
        capture = HARCapture(source: start.source)
    }

    var bufferedByteCount: Int { entries.bufferedByteCount }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !hasFailed else { return }
        for entry in entries.read(bytes) { capture.take(entry, into: &items) }
        guard let problem = entries.problem else { return }
        hasFailed = true
        let entry = entries.begunCount > entries.endedCount ? entries.begunCount : nil
        items.append(.failure(.json(problem, source: capture.source, entry: entry, afterEntry: entries.endedCount)))
    }

    mutating func finish(into items: inout [CaptureItem]) {
        guard !hasFailed else { return }
        let place = CapturePlace(source: capture.source)
        let creator = HARCapture.Program(entries.creator)
        let count = entries.endedCount
        if !entries.isComplete {
            let place = CapturePlace(source: capture.source, entry: count > 0 ? count : nil)
            items.append(.failure(.documentTruncated(afterEntry: count), at: place))
        } else if !entries.hasEntries {
            items.append(.failure(.notHAR, at: place))
        } else if capture.headerlessCount > 0 {
            items.append(.failure(.headersSanitized(capture.headerlessCount, by: creator), at: place))
        } else if count > 0, !capture.hasCookies, creator == .chromiumDeveloperTools || creator == .crumb {
            // Both leave the cookies out by default.
            items.append(.failure(.cookiesSanitized(by: creator), at: place))
        }
    }
}
