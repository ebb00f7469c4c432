import WebPrimitives

/// Reads a JSON document of which an outline says what to take.
struct JSONOutlineReader<Outline: JSONOutline>: FormatReader {
    private var stream: JSONStream<JSONOutlineHandler<Outline>>
    private let source: String
    private var hasFailed = false

    /// A document whose first byte is at `line` and `column` of `source`.
    init(_ outline: Outline, source: String, line: Int, column: Int) {
        self.source = source
        stream = JSONStream(handler: JSONOutlineHandler(outline: outline), line: line, column: column)
    }

    var bufferedByteCount: Int { stream.bufferedByteCount + stream.handler.bufferedByteCount }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        guard !hasFailed else { return }
        stream.read(bytes)
        takeItems(into: &items)
        guard let problem = stream.problem else { return }
        hasFailed = true
        stream.handler.outline.finish(isWhole: false, into: &stream.handler.items)
        takeItems(into: &items)
        items.append(.failure(.json(problem, source: source, afterEntry: stream.handler.outline.entryCount)))
    }

    mutating func finish(into items: inout [CaptureItem]) {
        guard !hasFailed else { return }
        stream.handler.outline.finish(isWhole: stream.isComplete, into: &stream.handler.items)
        takeItems(into: &items)
        guard !stream.isComplete else { return }
        let count = stream.handler.outline.entryCount
        let place = CapturePlace(source: source, entry: count > 0 ? count : nil)
        items.append(.failure(.documentTruncated(afterEntry: count, at: place)))
    }

    private mutating func takeItems(into items: inout [CaptureItem]) {
        items.append(contentsOf: stream.handler.items)
        stream.handler.items.removeAll(keepingCapacity: true)
    }
}
