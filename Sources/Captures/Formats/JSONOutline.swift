import CookieModel
import WebPrimitives

/// The places of the values that a reader needs in a document of one format.
///
/// Each value is skipped, entered or taken whole. Values that are taken are small: a cookie, an event, a message.
protocol JSONOutline: Sendable {
    /// The role of a container that is entered, or of a value that is taken.
    associatedtype Context: Sendable

    /// The context of the document's own value.
    static var start: Context { get }

    /// Decides whether to skip, enter or take a value, before it is read.
    ///
    /// - Parameter name: the member's name; empty in an array.
    mutating func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: Context
    ) -> JSONPart<Context>

    /// Whether surrogates without their pair stay in the strings of a value that is taken.
    static func keepsLoneSurrogates(in context: Context) -> Bool

    /// Takes a value. Of one that is larger than the limit a part is missing.
    mutating func take(
        _ value: JSONValue, as context: Context, named name: Octets, isWhole: Bool, into items: inout [CaptureItem])

    /// Takes the end of the document, which may be its break.
    mutating func finish(isWhole: Bool, into items: inout [CaptureItem])

    /// How many entries were read: places count them from 1.
    var entryCount: Int { get }

    /// How many bytes of the document are held.
    var bufferedByteCount: Int { get }
}

extension JSONOutline {
    static func keepsLoneSurrogates(in context: Context) -> Bool { false }
    var bufferedByteCount: Int { 0 }
}

/// An outline of a document whose entries are in one array: the document itself, or a member of it.
protocol JSONEntryOutline: JSONOutline where Context == JSONEntryContext {
    /// The capture's name in places.
    var source: String { get }
    /// How many entries were read.
    var entryCount: Int { get set }

    /// Whether a member of this name may hold the entries; an empty name is that of the document itself.
    static func holdsEntries(_ name: Span<UInt8>) -> Bool

    /// Takes an entry, which is whole.
    mutating func takeEntry(_ value: JSONValue, at place: CapturePlace, into items: inout [CaptureItem])
}

/// The role of a value on the way to an entry.
enum JSONEntryContext: Sendable {
    case document
    case members
    case entries
    case entry
}

extension JSONEntryOutline {
    static var start: JSONEntryContext { .document }

    func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: JSONEntryContext
    ) -> JSONPart<JSONEntryContext> {
        switch (context, container) {
        case (.document, .object): .enter(.members)
        case (.document, .array), (.members, .array): Self.holdsEntries(name) ? .enter(.entries) : .skip
        case (.entries, _): .take(.entry)
        default: .skip
        }
    }

    mutating func take(
        _ value: JSONValue, as context: JSONEntryContext, named name: Octets, isWhole: Bool,
        into items: inout [CaptureItem]
    ) {
        entryCount += 1
        let place = CapturePlace(source: source, entry: entryCount)
        guard isWhole else { return items.append(.failure(.entryTooLarge, at: place)) }
        takeEntry(value, at: place, into: &items)
    }
}

/// The decision on a value.
enum JSONPart<Context: Sendable>: Sendable {
    case skip
    case enter(Context)
    case take(Context)
}

/// Follows an outline through a document.
struct JSONOutlineHandler<Outline: JSONOutline>: JSONHandler, Sendable {
    var outline: Outline
    /// The items found and not yet taken away.
    var items: [CaptureItem] = []
    private var contexts: [Outline.Context] = []
    private var name: [UInt8] = []
    private var builder = JSONValueBuilder()
    private var taken: Outline.Context?

    init(outline: Outline) {
        self.outline = outline
    }

    var bufferedByteCount: Int { outline.bufferedByteCount + builder.byteCount }
    var keepsLoneSurrogates: Bool { taken.map(Outline.keepsLoneSurrogates) ?? false }

    private mutating func part(_ container: JSONContainer?) -> JSONPart<Outline.Context> {
        let context = contexts.last ?? Outline.start
        let name = name
        return outline.part(named: name.span, holding: container, in: context)
    }

    private mutating func take(_ value: JSONValue) {
        guard let context = taken else { return }
        taken = nil
        let isWhole = !builder.isOverfull
        builder.reset()
        outline.take(value, as: context, named: Octets(name), isWhole: isWhole, into: &items)
    }

    mutating func key(_ name: Span<UInt8>) {
        if builder.isOpen { return builder.key(name) }
        self.name.removeAll(keepingCapacity: true)
        self.name.append(name)
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        if builder.isOpen { return builder.begin(container) }
        switch part(container) {
        case .skip: return false
        case .enter(let context):
            contexts.append(context)
            name.removeAll(keepingCapacity: true)
        case .take(let context):
            taken = context
            return builder.begin(container)
        }
        return true
    }

    mutating func end() {
        if builder.isOpen {
            if let value = builder.end() { take(value) }
        } else {
            contexts.removeLast()
            name.removeAll(keepingCapacity: true)
        }
    }

    mutating func beginString() -> Bool {
        if builder.isOpen { return true }
        guard case .take(let context) = part(nil) else { return false }
        taken = context
        return true
    }

    mutating func string(_ text: Span<UInt8>) {
        add(.string(text.withUnsafeBufferPointer { Octets($0) }))
    }

    mutating func stringTooLong() {
        add(.tooLong)
    }

    mutating func scalar(_ scalar: JSONScalar) {
        if !builder.isOpen, case .take(let context) = part(nil) { taken = context }
        add(JSONValue(scalar))
    }

    private mutating func add(_ value: JSONValue) {
        if let value = builder.add(value) { take(value) }
    }
}

/// Reads a JSON document and takes the values that an outline selects.
struct JSONOutlineReader<Outline: JSONOutline>: FormatReader {
    private var stream: JSONStream<JSONOutlineHandler<Outline>>
    private let source: String
    private var hasFailed = false

    init(_ outline: Outline, _ start: CaptureStart) {
        source = start.source
        stream = JSONStream(handler: JSONOutlineHandler(outline: outline), line: start.line, column: start.column)
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
        items.append(.failure(.documentTruncated(afterEntry: count), at: place))
    }

    private mutating func takeItems(into items: inout [CaptureItem]) {
        items.append(contentsOf: stream.handler.items)
        stream.handler.items.removeAll(keepingCapacity: true)
    }
}
