import WebPrimitives

/// Structured fields (RFC 9651): lists and dictionaries. A field with an error anywhere counts as absent (section 4.2).
///
/// Parameters are checked and dropped, since no field that a cache follows has one.
enum StructuredField {
    /// A bare item (section 3.3). Numbers, dates and octets are only recognized.
    enum Item: Sendable, Hashable {
        case string(Octets)
        case token(Octets)
        case boolean(Bool)
        case other
    }

    /// A member of a list or dictionary.
    enum Member: Sendable, Hashable {
        case item(Item)
        case innerList([Item])
    }

    /// The most members of a field, inner ones included.
    static let memberLimit = 1000

    /// Parses a list (section 4.2.1); `nil` if it has an error or too many members.
    static func list(_ values: [Octets]) -> [Member]? {
        var parser = StructuredParser(values)
        var members: [Member] = []
        parser.skipSpaces()
        while !parser.isAtEnd {
            guard let member = parser.member(), parser.endMember() else { return nil }
            members.append(member)
        }
        return members
    }

    /// Parses a dictionary (section 4.2.2); `nil` if it has an error or too many members. The last member of a key counts.
    static func dictionary(_ values: [Octets]) -> [Octets: Member]? {
        var parser = StructuredParser(values)
        var members: [Octets: Member] = [:]
        parser.skipSpaces()
        while !parser.isAtEnd {
            guard let key = parser.key() else { return nil }
            if parser.skip(ASCII.equals) {
                guard let member = parser.member() else { return nil }
                members[key] = member
            } else {
                guard parser.parameters() else { return nil }
                members[key] = .item(.boolean(true))
            }
            guard parser.endMember() else { return nil }
        }
        return members
    }

    /// The strings of a list of strings; empty if the field is absent, has an error, or has another member.
    static func strings(_ values: [Octets]) -> [Octets] {
        let strings = (list(values) ?? []).map { member -> Octets? in
            if case .item(.string(let text)) = member { text } else { nil }
        }
        return strings.contains(nil) ? [] : strings.compactMap { $0 }
    }
}

/// The parsing algorithms of section 4.2.
private struct StructuredParser {
    private let text: Octets
    private var position = 0
    private var memberCount = 0

    /// Field lines are joined by commas (section 4.2).
    init(_ values: [Octets]) {
        text = Octets(Array(values.joined(separator: [ASCII.comma, ASCII.space])))
    }

    var isAtEnd: Bool { position == text.count }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpaces() {
        while next == ASCII.space { position += 1 }
    }

    private mutating func take(while isWanted: (UInt8) -> Bool) -> Octets {
        let start = position
        while let byte = next, isWanted(byte) { position += 1 }
        return text[start..<position]
    }

    /// The end of a member, or its comma with the blanks around it: no comma ends the field.
    mutating func endMember() -> Bool {
        _ = take(while: ASCII.isBlank)
        guard !isAtEnd else { return true }
        guard skip(ASCII.comma) else { return false }
        _ = take(while: ASCII.isBlank)
        return !isAtEnd
    }

    /// Section 4.2.1.1: An item or an inner list.
    mutating func member() -> StructuredField.Member? {
        guard next == UInt8(ascii: "(") else { return item().map { .item($0) } }
        return innerList().map { .innerList($0) }
    }

    /// Section 4.2.1.2: An inner list with its parameters.
    private mutating func innerList() -> [StructuredField.Item]? {
        guard skip(UInt8(ascii: "(")) else { return nil }
        var items: [StructuredField.Item] = []
        while !isAtEnd {
            skipSpaces()
            if skip(UInt8(ascii: ")")) { return parameters() ? items : nil }
            guard let item = item(), next == ASCII.space || next == UInt8(ascii: ")") else { return nil }
            items.append(item)
        }
        return nil
    }

    /// Section 4.2.3: An item with its parameters.
    private mutating func item() -> StructuredField.Item? {
        memberCount += 1
        guard memberCount <= StructuredField.memberLimit, let item = bareItem(), parameters() else { return nil }
        return item
    }

    /// Section 4.2.3.2: Parameters. Returns whether they have no error.
    mutating func parameters() -> Bool {
        while skip(ASCII.semicolon) {
            skipSpaces()
            guard key() != nil else { return false }
            if skip(ASCII.equals), bareItem() == nil { return false }
        }
        return true
    }

    /// Section 4.2.3.3: A key.
    mutating func key() -> Octets? {
        guard let first = next, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return nil }
        return take { Self.isLowercase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
    }

    private static func isLowercase(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }

    /// Section 4.2.3.1: A bare item.
    private mutating func bareItem() -> StructuredField.Item? {
        guard let first = next else { return nil }
        switch first {
        case ASCII.hyphen, UInt8(ascii: "0")...UInt8(ascii: "9"): return number() == nil ? nil : .other
        case ASCII.quote: return string().map { .string($0) }
        case UInt8(ascii: "*"): return token()
        case _ where ASCII.isLetter(first): return token()
        case ASCII.colon: return byteSequence() ? .other : nil
        case ASCII.questionMark: return boolean()
        case ASCII.at:
            // Section 4.2.9: A date is an integer.
            position += 1
            return number() == false ? .other : nil
        case ASCII.percent: return displayString() ? .other : nil
        default: return nil
        }
    }

    /// Section 4.2.4: An integer of at most 15 digits, or a decimal of at most 12 and 3. Returns whether it is a decimal.
    private mutating func number() -> Bool? {
        _ = skip(ASCII.hyphen)
        let whole = take(while: ASCII.isDigit)
        guard !whole.isEmpty else { return nil }
        guard skip(ASCII.dot) else { return whole.count <= 15 ? false : nil }
        let fraction = take(while: ASCII.isDigit)
        return whole.count <= 12 && (1...3).contains(fraction.count) ? true : nil
    }

    /// Section 4.2.5: A string.
    private mutating func string() -> Octets? {
        guard skip(ASCII.quote) else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case ASCII.quote: return Octets(content)
            case ASCII.backslash:
                guard let escaped = next, escaped == ASCII.quote || escaped == ASCII.backslash else { return nil }
                position += 1
                content.append(escaped)
            case 0x20..<0x7F: content.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Section 4.2.6: A token.
    private mutating func token() -> StructuredField.Item? {
        .token(take { ASCII.isTokenCharacter($0) || $0 == ASCII.colon || $0 == ASCII.slash })
    }

    /// Section 4.2.7: A byte sequence. Padding need not be right.
    private mutating func byteSequence() -> Bool {
        guard skip(ASCII.colon) else { return false }
        _ = take { ASCII.isLetter($0) || ASCII.isDigit($0) || "+/=".utf8.contains($0) }
        return skip(ASCII.colon)
    }

    /// Section 4.2.8: A Boolean.
    private mutating func boolean() -> StructuredField.Item? {
        guard skip(ASCII.questionMark) else { return nil }
        if skip(UInt8(ascii: "1")) { return .boolean(true) }
        return skip(ASCII.zero) ? .boolean(false) : nil
    }

    /// Section 4.2.10: A display string.
    private mutating func displayString() -> Bool {
        guard skip(ASCII.percent), skip(ASCII.quote) else { return false }
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case ASCII.quote: return String(validating: content, as: UTF8.self) != nil
            case ASCII.percent:
                guard position + 1 < text.count, let high = lowercaseDigit(text[position]),
                    let low = lowercaseDigit(text[position + 1])
                else { return false }
                position += 2
                content.append(high << 4 | low)
            case 0x20..<0x7F: content.append(byte)
            default: return false
            }
        }
        return false
    }

    private func lowercaseDigit(_ byte: UInt8) -> UInt8? {
        byte &- 0x41 < 26 ? nil : ASCII.hexadecimalValue(byte)
    }
}
