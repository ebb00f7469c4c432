/// Reads a JSON document (RFC 8259) that comes in pieces, in memory that does not grow with it.
///
/// Strict in its syntax but for two things that captures have: unless `isStrict` is set, a control character within a
/// string is taken as it is; and bytes within a string need not be UTF-8. Nesting is counted in an array, never on the
/// machine's stack.
struct JSONStream<Handler: JSONHandler & Sendable>: Sendable {
    /// What the bytes that come next may be.
    enum State: UInt8 {
        case value
        case valueOrEnd
        case key
        case keyOrEnd
        case colon
        case commaOrEnd
        /// Within a string, after a backslash, or within a `\u` escape.
        case string, escape, unicodeEscape
        case number
        case literal
        /// After the document: only white space.
        case end
        /// Nothing more is read; see ``JSONStream/problem``.
        case failed
    }

    var handler: Handler
    /// Whether a control character within a string ends the reading, or half of a surrogate pair (RFC 8259, section 8.2).
    let isStrict: Bool
    /// Why reading stopped, where it did.
    private(set) var problem: JSONProblem?

    var state = State.value
    var text = JSONText()
    /// Whether the string at hand is a member's name.
    var isKey = false
    var escapeDigits = 0
    var escapeUnit: UInt16 = 0
    /// Whether the last thing in the string was an escape for the first half of a surrogate pair.
    var hasHalfPair = false
    var number = JSONNumber()
    private var literal: StaticString = "null"
    private var literalCount = 0

    private var containers: [JSONContainer] = []
    /// How many containers were open when one was skipped, that one counted; 0 while nothing is skipped.
    private var skipDepth = 0

    private var line: Int
    /// How many bytes came before the piece at hand, and before the line at hand.
    private var offset: Int
    private var lineOffset = 0

    /// A document whose first byte is at `line` and `column`.
    init(handler: Handler, line: Int, column: Int, isStrict: Bool = false) {
        self.handler = handler
        self.isStrict = isStrict
        self.line = line
        offset = column - 1
    }

    /// Whether the document is complete.
    var isComplete: Bool { state == .end }
    /// Whether the handler hears of what comes next.
    var isReporting: Bool { skipDepth == 0 }
    /// How many bytes of the document are held.
    var bufferedByteCount: Int { text.bytes.capacity + containers.capacity }

    /// Takes the next bytes.
    mutating func read(_ piece: Span<UInt8>) {
        var position = 0
        while position < piece.count {
            switch state {
            case .string: position = readString(piece, from: position)
            case .escape: position = readEscape(piece, from: position)
            case .unicodeEscape: position = readUnicodeEscape(piece, from: position)
            case .number: position = readNumber(piece, from: position)
            case .literal: position = readLiteral(piece, from: position)
            case .failed: return
            default: position = readStructure(piece, from: position)
            }
        }
        offset += piece.count
    }

    /// Reads white space and punctuation up to the first byte of a string, number or literal, and that byte.
    private mutating func readStructure(_ piece: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while position < piece.count {
            let byte = piece[position]
            switch byte {
            case ASCII.space:
                position = piece.endOfSpaces(from: position)
                continue
            case ASCII.lineFeed:
                countLine(endingAt: position)
            case ASCII.carriageReturn, ASCII.tab:
                break
            case ASCII.quote where state == .key || state == .keyOrEnd:
                beginString(isKey: true)
                return position + 1
            case ASCII.quote where state == .value || state == .valueOrEnd:
                beginString(isKey: false)
                return position + 1
            case ASCII.colon where state == .colon:
                state = .value
            case ASCII.comma where state == .commaOrEnd:
                state = containers.last == .object ? .key : .value
            case ASCII.leftBrace where state == .value || state == .valueOrEnd:
                guard begin(.object, at: position) else { return piece.count }
            case ASCII.leftBracket where state == .value || state == .valueOrEnd:
                guard begin(.array, at: position) else { return piece.count }
            case ASCII.rightBrace where state == .keyOrEnd || state == .commaOrEnd && containers.last == .object,
                ASCII.rightBracket where state == .valueOrEnd || state == .commaOrEnd && containers.last == .array:
                end()
            default:
                guard state == .value || state == .valueOrEnd, beginScalar(byte) else {
                    fail(at: position)
                    return piece.count
                }
                // The scalar's reader takes this byte.
                return position
            }
            position &+= 1
        }
        return position
    }

    private mutating func begin(_ container: JSONContainer, at position: Int) -> Bool {
        guard containers.count < CaptureLimits.nestingDepth else {
            state = .failed
            problem = .tooDeep(line: line, column: column(of: position))
            return false
        }
        containers.append(container)
        state = container == .object ? .keyOrEnd : .valueOrEnd
        if isReporting, !handler.begin(container) { skipDepth = containers.count }
        return true
    }

    private mutating func end() {
        if skipDepth == containers.count {
            skipDepth = 0
        } else if isReporting {
            handler.end()
        }
        containers.removeLast()
        endValue()
    }

    private mutating func beginScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case ASCII.hyphen, ASCII.zero...(ASCII.zero + 9):
            number = JSONNumber()
            state = .number
            return true
        case 0x74: literal = "true"
        case 0x66: literal = "false"
        case 0x6E: literal = "null"
        default: return false
        }
        literalCount = 0
        state = .literal
        return true
    }

    private mutating func readNumber(_ piece: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while position < piece.count, number.take(piece[position]) { position += 1 }
        guard position < piece.count else { return position }
        guard number.isComplete else {
            fail(at: position)
            return piece.count
        }
        if isReporting { handler.scalar(.number(number)) }
        endValue()
        return position
    }

    private mutating func readLiteral(_ piece: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while position < piece.count, literalCount < literal.utf8CodeUnitCount {
            guard piece[position] == literal.utf8Start[literalCount] else {
                fail(at: position)
                return piece.count
            }
            literalCount += 1
            position += 1
        }
        if literalCount == literal.utf8CodeUnitCount {
            let first = literal.utf8Start[0]
            if isReporting { handler.scalar(first == 0x6E ? .null : .boolean(first == 0x74)) }
            endValue()
        }
        return position
    }

    /// A value is complete.
    mutating func endValue() {
        state = containers.isEmpty ? .end : .commaOrEnd
    }

    /// Stops at a byte that the syntax does not allow.
    mutating func fail(at position: Int) {
        state = .failed
        problem = .malformed(line: line, column: column(of: position))
    }

    /// Stops at an escape whose other half is missing.
    mutating func failPair(at position: Int) {
        state = .failed
        problem = .halfPair(line: line, column: column(of: position))
    }

    /// Counts the line that the line feed at `position` ends.
    mutating func countLine(endingAt position: Int) {
        line += 1
        lineOffset = offset + position + 1
    }

    private func column(of position: Int) -> Int {
        offset + position - lineOffset + 1
    }
}
