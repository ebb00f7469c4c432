/// Reads a JSON document (RFC 8259) that comes in pieces, in memory that does not grow with it.
///
/// Strict in its syntax except for the extensions of a ``JSONDialect``; bytes within a string need not be UTF-8.
/// Nesting is counted in an array, never on the machine's stack.
@usableFromInline
package struct JSONStream<Handler: JSONHandler & Sendable>: Sendable {
    /// The kind of bytes that may come next.
    @usableFromInline enum State: UInt8, Sendable {
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

    @usableFromInline package var handler: Handler
    @usableFromInline let dialect: JSONDialect
    @usableFromInline let depthLimit: Int
    /// Why reading stopped, if it did.
    @usableFromInline package internal(set) var problem: JSONProblem?

    @usableFromInline var state = State.value
    @usableFromInline var text = JSONStringBuffer()
    /// Whether the current string is a member's name.
    @usableFromInline var isKey = false
    @usableFromInline var escapeDigits = 0
    @usableFromInline var escapeUnit: UInt16 = 0
    /// Whether the last thing in the string was an escape for the first half of a surrogate pair.
    @usableFromInline var hasHalfPair = false
    @usableFromInline var number = JSONNumber()
    @usableFromInline var literal: StaticString = "null"
    @usableFromInline var literalCount = 0

    @usableFromInline var containers: [JSONContainer] = []
    /// How many containers were open when one was skipped, that one counted; 0 while nothing is skipped.
    @usableFromInline var skipDepth = 0

    @usableFromInline var line: Int
    /// How many bytes came before the current piece, and before the current line.
    @usableFromInline var offset: Int
    @usableFromInline var lineOffset = 0

    /// A document whose first byte is at `line` and `column`.
    @inlinable
    package init(
        handler: Handler, line: Int = 1, column: Int = 1, dialect: JSONDialect = .capture,
        depthLimit: Int = JSONLimits.nestingDepth
    ) {
        self.handler = handler
        self.dialect = dialect
        self.depthLimit = depthLimit
        self.line = line
        offset = column - 1
    }

    /// Whether the document is complete.
    @inlinable package var isComplete: Bool { state == .end }
    /// Whether the stream reports the next value to the handler.
    @inlinable var isReporting: Bool { skipDepth == 0 }
    /// How many bytes of the document are held.
    @inlinable package var bufferedByteCount: Int { text.bytes.capacity + containers.capacity }

    /// Takes the next bytes.
    @inlinable
    package mutating func read(_ piece: Span<UInt8>) {
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
    @inlinable
    mutating func readStructure(_ piece: Span<UInt8>, from start: Int) -> Int {
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
                beginString(isKey: true, at: position)
                return position + 1
            case ASCII.quote where state == .value || state == .valueOrEnd:
                beginString(isKey: false, at: position)
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
                end(at: position)
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

    @inlinable
    mutating func begin(_ container: JSONContainer, at position: Int) -> Bool {
        guard containers.count < depthLimit else {
            state = .failed
            problem = .tooDeep(line: line, column: column(of: position))
            return false
        }
        containers.append(container)
        state = container == .object ? .keyOrEnd : .valueOrEnd
        if isReporting {
            handler.at(offset + position)
            if !handler.begin(container) { skipDepth = containers.count }
        }
        return true
    }

    @inlinable
    mutating func end(at position: Int) {
        if skipDepth == containers.count {
            skipDepth = 0
        } else if isReporting {
            handler.at(offset + position)
            handler.end()
        }
        containers.removeLast()
        endValue()
    }

    @inlinable
    mutating func beginScalar(_ byte: UInt8) -> Bool {
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

    @inlinable
    mutating func readNumber(_ piece: Span<UInt8>, from start: Int) -> Int {
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

    @inlinable
    mutating func readLiteral(_ piece: Span<UInt8>, from start: Int) -> Int {
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
    @inlinable
    mutating func endValue() {
        state = containers.isEmpty ? .end : .commaOrEnd
    }

    /// Stops at a byte that the syntax does not allow.
    @inlinable
    mutating func fail(at position: Int) {
        state = .failed
        problem = .malformed(line: line, column: column(of: position))
    }

    /// Stops at an escape whose other half is missing.
    @inlinable
    mutating func failPair(at position: Int) {
        state = .failed
        problem = .halfPair(line: line, column: column(of: position))
    }

    /// Counts the line that the line feed at `position` ends.
    @inlinable
    mutating func countLine(endingAt position: Int) {
        line += 1
        lineOffset = offset + position + 1
    }

    @inlinable
    func column(of position: Int) -> Int {
        offset + position - lineOffset + 1
    }
}
