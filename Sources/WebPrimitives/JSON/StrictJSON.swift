/// Checks JSON that a program or a person writes for Crumb: request bodies, scenarios, configuration.
///
/// RFC 8259 lets readers differ on the texts that this rejects, and an attacker can exploit two readers that differ:
/// names that an object has twice, however they are escaped; octets that are not UTF-8; a byte order mark; escapes for
/// half of a surrogate pair. Trailing commas and control characters in strings are not JSON at all.
///
/// Linear in the length of the text, whatever it contains.
package struct StrictJSON {
    /// How many members one object may have.
    package static let memberLimit = 10_000
    /// How deep arrays and objects may lie in each other.
    package static let depthLimit = 32

    /// The reason why a text is rejected, and the place.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// One clause that names the place and never repeats a value.
        package let description: String
    }

    /// How many names were compared with each other.
    private(set) var comparisonCount = 0

    init() {}

    /// Checks one JSON text.
    ///
    /// - Throws: The first fault.
    package static func check(_ bytes: [UInt8]) throws(Fault) {
        var checker = StrictJSON()
        try checker.check(bytes)
    }

    mutating func check(_ bytes: [UInt8]) throws(Fault) {
        try StrictJSON.checkEncoding(bytes)
        var stream = JSONStream(handler: StrictMembers(), dialect: .interoperable)
        stream.read(bytes.span)
        // A number is complete only when another byte follows.
        stream.read([ASCII.lineFeed].span)
        comparisonCount += stream.handler.comparisonCount
        if let fault = stream.handler.fault { throw fault }
        switch stream.problem {
        case .malformed(let line, let column)?:
            throw Fault(description: "line \(line), column \(column): this is not JSON")
        case .tooDeep(let line, let column)?:
            throw Fault(description: "line \(line), column \(column): the nesting is too deep")
        case .halfPair(let line, let column)?:
            throw Fault(description: "line \(line), column \(column): this escape is half of a surrogate pair")
        case nil: break
        }
        guard stream.isComplete else {
            throw Fault(description: bytes.isEmpty ? "the JSON is missing" : "the JSON ends too early")
        }
    }

    private static func checkEncoding(_ bytes: [UInt8]) throws(Fault) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw Fault(description: "the JSON begins with a byte order mark; send it without one")
        }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) || bytes.prefix(4).contains(0) {
            throw Fault(description: "the JSON is not in UTF-8; UTF-16 and UTF-32 are not read")
        }
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        var line = 1
        var column = 1
        var parser = UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        while case .valid(let scalar) = parser.parseScalar(from: &rest) {
            let isLineEnd = scalar.first == ASCII.lineFeed
            line += isLineEnd ? 1 : 0
            column = isLineEnd ? 1 : column + scalar.count
        }
        throw Fault(description: "line \(line), column \(column): this is not UTF-8")
    }
}

/// Looks at the names of all members, and at how deep they lie.
private struct StrictMembers: JSONHandler, Sendable {
    /// An open array or object.
    private struct Level {
        let container: JSONContainer
        /// The names so far, by a hash that cannot be foreseen outside this process.
        var names: [Int: [Octets]] = [:]
        /// The number of members or elements so far.
        var count = 0
        /// The name of the last member.
        var name: Octets = []
    }

    private var levels: [Level] = []
    private(set) var fault: StrictJSON.Fault?
    private(set) var comparisonCount = 0

    mutating func key(_ name: Span<UInt8>) {
        guard fault == nil, let last = levels.indices.last else { return }
        let name = name.withUnsafeBufferPointer { Octets($0) }
        levels[last].name = name
        levels[last].count += 1
        let namesakes = levels[last].names[name.hashValue, default: []]
        comparisonCount += namesakes.count
        if namesakes.contains(name) {
            fail("this member occurs twice")
        } else if levels[last].count > StrictJSON.memberLimit {
            levels.removeLast()
            fail("an object has at most \(StrictJSON.memberLimit) members")
        } else {
            levels[last].names[name.hashValue] = namesakes + [name]
        }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        guard fault == nil else { return false }
        countElement()
        guard levels.count < StrictJSON.depthLimit else {
            fail("arrays and objects are nested deeper than \(StrictJSON.depthLimit)")
            return false
        }
        levels.append(Level(container: container))
        return true
    }

    mutating func end() { _ = levels.popLast() }

    mutating func beginString() -> Bool {
        countElement()
        return false
    }

    mutating func string(_ text: Span<UInt8>) {}
    mutating func stringTooLong() {}
    mutating func scalar(_ scalar: JSONScalar) { countElement() }

    private mutating func countElement() {
        guard let last = levels.indices.last, levels[last].container == .array else { return }
        levels[last].count += 1
    }

    /// Notes a fault of the current token.
    private mutating func fail(_ detail: String) {
        let steps = levels.prefix(8).map { level in
            level.container == .array ? "[\(max(level.count - 1, 0))]" : level.name.description
        }
        let place = String(steps.joined(separator: ".").prefix(100))
        fault = StrictJSON.Fault(description: place.isEmpty ? detail : "\(place): \(detail)")
    }
}

extension Decoder {
    /// A member of the decoded object with a name other than these, the first in the order of names; `nil` if it has none.
    package func firstMember(besides known: Set<String>) throws -> (any CodingKey)? {
        try container(keyedBy: AnyMember.self).allKeys
            .filter { !known.contains($0.stringValue) }.min { $0.stringValue < $1.stringValue }
    }
}

/// The name of any member.
package struct AnyMember: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) {
        self.stringValue = stringValue
    }

    package init?(intValue: Int) {
        nil
    }
}
