// MARK: - Strings, which are nearly all of a capture

extension JSONStream {
    @inlinable
    mutating func beginString(isKey: Bool, at position: Int) {
        self.isKey = isKey
        state = .string
        if isReporting, !isKey { handler.at(offset + position) }
        let isKept = isReporting && (isKey || handler.beginString())
        text.begin(
            isKept: isKept,
            loneSurrogates: handler.keepsLoneSurrogates ? .kept : dialect == .capture ? .octets : .replaced)
    }

    /// Reads within a string up to its end, an escape that the piece does not hold whole, or the piece's end.
    @inlinable
    mutating func readString(_ piece: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while true {
            if hasHalfPair, position < piece.count, piece[position] != ASCII.backslash {
                return failHalfPair(piece, position)
            }
            let runEnd = piece.endOfPlainText(from: position)
            if text.isKept { text.append(piece.extracting(position..<runEnd)) }
            guard runEnd < piece.count else { return runEnd }
            position = runEnd &+ 1
            switch piece[runEnd] {
            case ASCII.quote:
                endString()
                return position
            case ASCII.backslash:
                // The common escapes of one letter are done here, without a change of state.
                guard position < piece.count, let byte = unescaped(piece[position]) else {
                    state = .escape
                    return position
                }
                if hasHalfPair { return failHalfPair(piece, position) }
                text.append(byte)
                position &+= 1
            case let control:
                guard dialect == .capture else {
                    fail(at: runEnd)
                    return piece.count
                }
                // Not allowed, but unmistakable.
                if control == ASCII.lineFeed { countLine(endingAt: runEnd) }
                text.append(control)
            }
        }
    }

    @inlinable
    mutating func readEscape(_ piece: Span<UInt8>, from position: Int) -> Int {
        if let byte = unescaped(piece[position]) {
            if hasHalfPair { return failHalfPair(piece, position) }
            text.append(byte)
            state = .string
        } else if piece[position] == 0x75 {
            escapeDigits = 0
            escapeUnit = 0
            state = .unicodeEscape
        } else {
            fail(at: position)
            return piece.count
        }
        return position + 1
    }

    @inlinable
    mutating func readUnicodeEscape(_ piece: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while position < piece.count, escapeDigits < 4 {
            guard let digit = ASCII.hexadecimalValue(piece[position]) else {
                fail(at: position)
                return piece.count
            }
            escapeUnit = escapeUnit << 4 | UInt16(digit)
            escapeDigits += 1
            position += 1
        }
        if escapeDigits == 4 {
            if dialect == .interoperable {
                // The second half follows a first half, and nothing else does.
                guard hasHalfPair == (0xDC00...0xDFFF).contains(escapeUnit) else {
                    return failHalfPair(piece, position - 1)
                }
                hasHalfPair = (0xD800...0xDBFF).contains(escapeUnit)
            }
            text.append(unit: escapeUnit)
            state = .string
        }
        return position
    }

    @inlinable
    mutating func failHalfPair(_ piece: Span<UInt8>, _ position: Int) -> Int {
        failPair(at: position)
        return piece.count
    }

    @inlinable
    mutating func endString() {
        if isKey {
            state = .colon
        } else {
            endValue()
        }
        guard text.isKept else { return }
        text.end()
        let bytes = text.bytes
        if isKey {
            // A name that is too long is empty here, and none that anyone asks for.
            handler.key(bytes.span)
        } else if text.isTooLong {
            handler.stringTooLong()
        } else {
            handler.string(bytes.span)
        }
    }

    /// The byte for a backslash and `letter`; `nil` for `u` and for an invalid escape.
    @inlinable @inline(__always)
    func unescaped(_ letter: UInt8) -> UInt8? {
        switch letter {
        case ASCII.quote, ASCII.backslash, ASCII.slash: letter
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: ASCII.lineFeed
        case 0x72: ASCII.carriageReturn
        case 0x74: ASCII.tab
        default: nil
        }
    }
}
