import WebPrimitives

/// Reads logs of the Chrome DevTools Protocol: an array of messages, alone or as the `value` that a WebDriver answers, or
/// a message in JSON on each line. See ``DevToolsLog``.
struct DevToolsLogReader: FormatReader {
    private let start: CaptureStart
    /// The bytes before those that tell a document from lines.
    private var prefix: [UInt8] = []
    /// The reader of the document or of the lines, once that is known.
    private var reader: (any FormatReader)?

    init(_ start: CaptureStart) {
        self.start = start
    }

    var bufferedByteCount: Int { reader?.bufferedByteCount ?? prefix.capacity }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard reader == nil else {
            reader?.read(bytes, into: &items)
            return
        }
        prefix.append(bytes)
        if let isDocument = DevToolsLogReader.isDocument(prefix) { begin(isDocument, into: &items) }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        if reader == nil { begin(false, into: &items) }
        reader?.finish(into: &items)
    }

    private mutating func begin(_ isDocument: Bool, into items: inout [CaptureItem]) {
        let log = DevToolsLog(source: start.source)
        reader =
            isDocument
            ? JSONOutlineReader(DevToolsLogOutline(log: log), start) : LineReader(DevToolsLogLines(log: log), start)
        let bytes = prefix
        prefix = []
        reader?.read(bytes.span, into: &items)
    }

    /// Whether the log is one document: an array, or an object that begins with `value`; `nil` before that is known.
    private static func isDocument(_ prefix: [UInt8]) -> Bool? {
        let text = prefix.filter { !ASCII.isWhiteSpace($0) }
        guard let first = text.first else { return nil }
        if first == ASCII.leftBracket { return true }
        let mark = Array(#"{"value":["#.utf8)
        return text.count >= mark.count ? text.starts(with: mark) : mark.starts(with: text) ? nil : false
    }
}

/// The messages of a log that is an array, or of a WebDriver's answer.
private struct DevToolsLogOutline: JSONEntryOutline {
    var log: DevToolsLog
    var entryCount = 0

    var source: String { log.source }
    var bufferedByteCount: Int { log.byteCount }

    static func holdsEntries(_ name: Span<UInt8>) -> Bool { name.isEmpty || name.equals("value") }

    mutating func takeEntry(_ value: JSONValue, at place: CapturePlace, into items: inout [CaptureItem]) {
        if !log.take(value, at: place, into: &items) { items.append(.failure(.notEvent, at: place)) }
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        log.finish(into: &items)
    }
}

/// The messages of a log that has one on each line.
private struct DevToolsLogLines: LineContent {
    var log: DevToolsLog
    var entryCount = 0

    var bufferedByteCount: Int { log.byteCount }

    mutating func take(_ line: Span<UInt8>, at linePlace: CapturePlace, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        entryCount += 1
        let place = CapturePlace(source: linePlace.source, entry: entryCount, line: linePlace.line)
        guard let value = JSONValue(parsing: line), log.take(value, at: place, into: &items) else {
            return items.append(.failure(.notEvent, at: place))
        }
    }

    mutating func finish(at place: CapturePlace, into items: inout [CaptureItem]) {
        log.finish(into: &items)
    }
}
