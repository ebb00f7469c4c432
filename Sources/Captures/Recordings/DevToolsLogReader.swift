import CookieModel

/// Reads logs of the Chrome DevTools Protocol: an array of messages, alone or as the `value` that a WebDriver answers, or
/// a message in JSON on each line. See ``DevToolsLog``.
struct DevToolsLogReader: FormatReader {
    private enum Stage {
        /// Before the bytes that tell a document from lines.
        case undecided
        case document(JSONOutlineReader<DevToolsLogOutline>)
        case lines(DevToolsLogLines)
    }

    private let source: String
    private let line: Int
    private let column: Int
    private var stage = Stage.undecided
    private var prefix: [UInt8] = []

    init(source: String, line: Int, column: Int) {
        self.source = source
        self.line = line
        self.column = column
    }

    var bufferedByteCount: Int {
        switch stage {
        case .undecided: prefix.capacity
        case .document(let reader): reader.bufferedByteCount
        case .lines(let reader): reader.bufferedByteCount
        }
    }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard case .undecided = stage else { return pass(bytes, into: &items) }
        prefix.append(bytes)
        guard let isDocument = DevToolsLogReader.isDocument(prefix) else { return }
        begin(isDocument, into: &items)
    }

    mutating func finish(into items: inout [CaptureItem]) {
        if case .undecided = stage { begin(false, into: &items) }
        switch stage {
        case .undecided: break
        case .document(var reader):
            reader.finish(into: &items)
            stage = .document(reader)
        case .lines(var reader):
            reader.finish(into: &items)
            stage = .lines(reader)
        }
    }

    private mutating func begin(_ isDocument: Bool, into items: inout [CaptureItem]) {
        stage =
            isDocument
            ? .document(
                JSONOutlineReader(DevToolsLogOutline(source: source), source: source, line: line, column: column))
            : .lines(DevToolsLogLines(source: source, firstLine: line))
        let bytes = prefix
        prefix = []
        pass(bytes.span, into: &items)
    }

    private mutating func pass(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        switch stage {
        case .undecided: break
        case .document(var reader):
            stage = .undecided
            reader.read(bytes, into: &items)
            stage = .document(reader)
        case .lines(var reader):
            stage = .undecided
            reader.read(bytes, into: &items)
            stage = .lines(reader)
        }
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
struct DevToolsLogOutline: JSONEntryOutline {
    private var log: DevToolsLog
    var entryCount = 0

    init(source: String) {
        log = DevToolsLog(source: source)
    }

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
private struct DevToolsLogLines: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var log: DevToolsLog
    private var entryCount = 0

    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
        log = DevToolsLog(source: source)
    }

    var bufferedByteCount: Int { lines.bufferedByteCount + log.byteCount }

    mutating func take(_ line: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !line.trimmingBlanks(line.droppingCarriageReturn).isEmpty else { return }
        entryCount += 1
        let place = CapturePlace(source: source, entry: entryCount, line: lines.number)
        guard let value = JSONValue(parsing: line), log.take(value, at: place, into: &items) else {
            return items.append(.failure(.notEvent, at: place))
        }
    }

    mutating func finishLines(into items: inout [CaptureItem]) {
        log.finish(into: &items)
    }
}
