import WebPrimitives

/// Finds the entries of a HAR in the events of its JSON. An entry is one value, but for the text of its response's body,
/// which may be long.
struct ReplayEntries: JSONHandler {
    /// The text of a response's body.
    enum Text {
        case missing
        case empty
        case recorded
    }

    private enum Level {
        case root
        case document
        case log
        case creator
        case entries
        case entry
    }

    /// The names that matter of the members on the way to a body.
    private enum Name {
        case log, creator, name, entries, response, content, text, unused, other

        init(_ name: Span<UInt8>) {
            self =
                switch () {
                case _ where name.equals("log"): .log
                case _ where name.equals("creator"): .creator
                case _ where name.equals("name"): .name
                case _ where name.equals("entries"): .entries
                case _ where name.equals("response"): .response
                case _ where name.equals("content"): .content
                case _ where name.equals("text"): .text
                case _
                where name.equals("cookies") || name.equals("queryString") || name.equals("timings")
                    || name.equals("cache") || name.equals("_initiator") || name.equals("_webSocketMessages"):
                    .unused
                default: .other
                }
        }
    }

    private var level: Level
    private var name = Name.other
    /// The names of the containers of the current entry that are open.
    private var path: [Name] = []
    private var builder = JSONValueBuilder()
    /// The program that wrote the HAR.
    private(set) var creator = ""
    /// Whether there is an array of entries.
    private(set) var hasEntries = false
    /// How many entries have begun.
    private(set) var begunCount = 0
    /// The entry that has ended last, until it is taken.
    private var ended: JSONValue?
    /// How many texts of bodies have begun in the current entry: one, or none.
    private(set) var textCount = 0
    /// How much of the response's body the current entry has.
    private(set) var text = Text.missing
    private var isInText = false

    /// - Parameter isWithin: Whether the text begins with an entry, and not with the document.
    init(withinEntries isWithin: Bool = false) {
        level = isWithin ? .entries : .root
    }

    /// The entry that has ended, once.
    mutating func take() -> JSONValue? {
        defer { ended = nil }
        return ended
    }

    mutating func key(_ name: Span<UInt8>) {
        self.name = Name(name)
        if level == .entry { builder.key(name) }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        switch (level, container) {
        case (.root, .object): level = .document
        case (.document, .object) where name == .log: level = .log
        case (.log, .object) where name == .creator: level = .creator
        case (.log, .array) where name == .entries:
            hasEntries = true
            level = .entries
        case (.entries, .object):
            begunCount += 1
            (textCount, text) = (0, .missing)
            builder.reset()
            path = []
            level = .entry
            return open(.other, container)
        case (.entry, _):
            return name != .unused && open(name, container)
        default: return false
        }
        return true
    }

    private mutating func open(_ name: Name, _ container: JSONContainer) -> Bool {
        guard builder.begin(container) else { return false }
        path.append(name)
        self.name = .other
        return true
    }

    mutating func end() {
        switch level {
        case .root, .document: level = .root
        case .log: level = .document
        case .creator, .entries: level = .log
        case .entry:
            path.removeLast()
            ended = builder.end()
            name = .other
            if path.isEmpty { level = .entries }
        }
    }

    mutating func beginString() -> Bool {
        switch level {
        case .creator: return name == .name
        case .entry:
            guard name == .text, path.count == 3, path[1] == .response, path[2] == .content else { return true }
            textCount += 1
            isInText = true
            return true
        default: return false
        }
    }

    mutating func string(_ text: Span<UInt8>) {
        if isInText {
            (self.text, isInText) = (text.isEmpty ? .empty : .recorded, false)
        } else if level == .creator {
            creator = String(repairing: text)
        } else {
            _ = builder.add(.string(text.withUnsafeBufferPointer { Octets($0) }))
        }
    }

    mutating func stringTooLong() {
        if isInText {
            (text, isInText) = (.recorded, false)
        } else if level == .entry {
            _ = builder.add(.tooLong)
        }
    }

    mutating func scalar(_ scalar: JSONScalar) {
        if level == .entry { _ = builder.add(JSONValue(scalar)) }
    }
}

/// Reads a HAR piece by piece, and knows where its entries and the texts of their bodies begin: a piece ends behind each
/// octet that may begin or end one.
struct ReplayScanner {
    private(set) var stream: JSONStream<ReplayEntries>
    private let cuts: [UInt8]
    private var position: Int64
    private var entryStart: Int64 = 0
    /// Where the text of the body in the current entry begins, behind its quote; `nil` if there is none.
    private(set) var textStart: Int64?

    /// A scanner of a whole document.
    init() {
        stream = JSONStream(handler: ReplayEntries())
        cuts = [ASCII.leftBrace, ASCII.rightBrace]
        position = 0
    }

    /// A scanner of one entry, which begins at `position`.
    init(entryAt position: Int64) {
        stream = JSONStream(handler: ReplayEntries(withinEntries: true))
        cuts = [ASCII.quote, ASCII.rightBrace]
        self.position = position
    }

    /// Reads octets.
    ///
    /// - Parameter found: Gets each entry that has ended, where it stands, and the text of the response's body.
    mutating func read(
        _ octets: Span<UInt8>, _ found: (JSONValue, Range<Int64>, ReplayEntries.Text) throws -> Void
    ) rethrows {
        var start = 0
        for index in 0..<octets.count where octets[index] == cuts[0] || octets[index] == cuts[1] {
            try read(octets.extracting(start..<(index + 1)), upTo: found)
            start = index + 1
        }
        try read(octets.extracting(start..<octets.count), upTo: found)
    }

    private mutating func read(
        _ piece: Span<UInt8>, upTo found: (JSONValue, Range<Int64>, ReplayEntries.Text) throws -> Void
    ) rethrows {
        let (entries, texts) = (stream.handler.begunCount, stream.handler.textCount)
        stream.read(piece)
        position += Int64(piece.count)
        if stream.handler.begunCount > entries {
            entryStart = position - 1
            textStart = nil
        } else if stream.handler.textCount > texts {
            textStart = position
        }
        if let entry = stream.handler.take() {
            try found(entry, entryStart..<position, stream.handler.text)
        }
    }
}
