import WebPrimitives

/// Tells the formats apart that are JSON, by the names of members.
///
/// The first member that only one format has decides. An object of strings alone is one of names and values. Another
/// object that ends early or is malformed is taken for a HAR, whose reader tells where.
struct JSONFormatDetector: Sendable {
    private var stream = JSONStream(handler: JSONFormatSigns(), line: 1, column: 1)
    private var readCount = 0

    /// Returns the finding for `prefix`; `nil` if more bytes are needed. Each call's prefix begins with that of the
    /// call before.
    mutating func finding(in prefix: Span<UInt8>, isWhole: Bool) -> FormatDetector.Finding? {
        stream.read(prefix.extracting(readCount..<prefix.count))
        readCount = prefix.count
        if let format = stream.handler.format { return .format(format) }
        // Not `isComplete`: how much of what follows the document has been read depends on the pieces.
        let hasEnded = stream.handler.hasEnded
        guard isWhole || hasEnded || stream.problem != nil else { return nil }
        let isObject = prefix[0] == ASCII.leftBrace
        if isObject, !hasEnded { return .format(.har) }
        return .unknown("Format not recognized: the input is a JSON \(isObject ? "object" : "array") of another kind.")
    }
}

/// The members that tell formats apart, as the events of a document show them.
private struct JSONFormatSigns: JSONHandler, Sendable {
    private enum Context {
        case document
        /// An object around the lists: the document itself, or the `result` of a protocol's answer.
        case members
        /// A list of cookies, of that format unless its cookies show another.
        case list(CaptureFormat)
        case cookie(CaptureFormat)
        /// An array of strings under a name that is no other format's.
        case values
    }

    /// The members of a document that only one format has, and those of a cookie or event.
    private static let documentSigns: [(StaticString, CaptureFormat)] = [
        ("method", .devToolsLog), ("params", .devToolsLog), ("message", .devToolsLog), ("storeType", .toughCookie),
        ("rejectPublicSuffixes", .toughCookie),
    ]
    private static let cookieSigns: [(StaticString, CaptureFormat)] = [
        ("hostOnly", .cookieEditor), ("expirationDate", .cookieEditor), ("storeId", .cookieEditor),
        ("sourceScheme", .devTools), ("sourcePort", .devTools), ("priority", .devTools), ("sameParty", .devTools),
        ("method", .devToolsLog), ("params", .devToolsLog), ("message", .devToolsLog), ("key", .toughCookie),
        ("expiry", .webDriver), ("_index", .tsharkJSON), ("_source", .tsharkJSON),
    ]

    private(set) var format: CaptureFormat?
    private(set) var hasEnded = false
    /// Whether the document is an object whose members are strings, and at least one is there.
    private var isMap: Bool?
    private var contexts: [Context] = []
    private var name: [UInt8] = []

    private var context: Context { contexts.last ?? .document }

    private func isNamed(_ text: StaticString) -> Bool {
        name.span.equals(text)
    }

    private mutating func decide(_ format: CaptureFormat) {
        self.format = self.format ?? format
    }

    mutating func key(_ name: Span<UInt8>) {
        self.name.removeAll(keepingCapacity: true)
        self.name.append(name)
        let signs: [(StaticString, CaptureFormat)] =
            switch context {
            case .members: Self.documentSigns
            case .cookie: Self.cookieSigns
            case .document, .list, .values: []
            }
        for (sign, format) in signs where isNamed(sign) { decide(format) }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        guard format == nil else { return false }
        if !contexts.isEmpty { isMap = false }
        switch (context, container) {
        case (.document, .object): contexts.append(.members)
        case (.document, .array): contexts.append(.list(.webDriver))
        case (.members, .object): return beginObject()
        case (.members, .array): return beginArray()
        case (.list(let format), .object): contexts.append(.cookie(format))
        case (.cookie, .object) where isNamed("value"):
            decide(.webDriver)
            return false
        case (.list, .array), (.cookie, _), (.values, _): return false
        }
        return true
    }

    private mutating func beginObject() -> Bool {
        if isNamed("log") { decide(.har) }
        if isNamed("constants") { decide(.netLog) }
        if isNamed("__meta__") || isNamed("cookies") { decide(.httpieSession) }
        guard isNamed("result") else { return false }
        contexts.append(.members)
        return true
    }

    private mutating func beginArray() -> Bool {
        if isNamed("origins") { decide(.storageState) }
        if isNamed("cookies") {
            contexts.append(.list(.storageState))
        } else if isNamed("value") {
            contexts.append(.list(.webDriver))
        } else {
            contexts.append(.values)
        }
        return true
    }

    mutating func end() {
        guard let context = contexts.popLast() else { return }
        switch context {
        // A cookie that says nothing more is one of its list's own format, and so is an empty list.
        case .cookie(let format), .list(let format): decide(format)
        case .document, .members, .values: break
        }
        guard contexts.isEmpty else { return }
        hasEnded = true
        if isMap == true { decide(.cookieHeader) }
    }

    mutating func beginString() -> Bool {
        isMap = isMap ?? true
        if case .values = context { decide(.headerJSON) }
        if case .members = context, isNamed("crumb") { decide(.captureMessages) }
        return false
    }

    mutating func string(_ text: Span<UInt8>) {}
    mutating func stringTooLong() {}

    mutating func scalar(_ scalar: JSONScalar) {
        isMap = false
        // The version of a line of our own; a capture script's message has a word there.
        if case .members = context, isNamed("crumb") { decide(.json) }
        // A list that is Playwright's rather than WebDriver's, unless something after it shows the opposite.
        guard case .cookie = context, isNamed("expires"), let last = contexts.indices.last else { return }
        contexts[last] = .cookie(.storageState)
    }
}
