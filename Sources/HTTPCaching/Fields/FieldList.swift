import WebPrimitives

/// Lists in field values (RFC 9110, section 5.6.1).
enum FieldList {
    /// The most members of a list whose members are compared one by one.
    static let memberLimit = 1000

    /// The members of the list in field lines, in order, without the blanks around them and without empty members.
    ///
    /// A comma within a quoted string separates nothing. A quoted string without an end reaches to the end of its line.
    /// Linear in the number of octets.
    static func members(_ values: [Octets]) -> [Octets] { values.flatMap(parts).filter { !$0.isEmpty } }

    /// What is between the commas of a field line, without the blanks around it.
    private static func parts(_ value: Octets) -> [Octets] {
        var parts: [Octets] = []
        var start = 0
        while start <= value.count {
            let end = memberEnd(value, from: start)
            parts.append(value[start..<end].trimmingBlanks)
            start = end + 1
        }
        return parts
    }

    /// The position of the comma that ends a member, or the end of the value.
    private static func memberEnd(_ value: Octets, from start: Int) -> Int {
        value.withSpan { bytes in
            var position = start
            var isQuoted = false
            while position < bytes.count {
                switch bytes[position] {
                case ASCII.quote: isQuoted.toggle()
                case ASCII.backslash where isQuoted: position += 1
                case ASCII.comma where !isQuoted: return position
                default: break
                }
                position += 1
            }
            return bytes.count
        }
    }

    /// The position after the quotation mark that ends a quoted string whose content begins at `start`; `nil` if none does.
    static func quotedEnd(_ value: Octets, from start: Int) -> Int? {
        var position = start
        while position < value.count {
            if value[position] == ASCII.quote { return position + 1 }
            position += value[position] == ASCII.backslash ? 2 : 1
        }
        return nil
    }

    /// The octets that a quoted string stands for (RFC 9110, section 5.6.4); `nil` if it is not one.
    static func unquoted(_ text: Octets) -> Octets? {
        text.withSpan { bytes in
            guard bytes.count >= 2, bytes[0] == ASCII.quote, bytes[bytes.count - 1] == ASCII.quote else { return nil }
            var content: [UInt8] = []
            content.reserveCapacity(bytes.count - 2)
            var position = 1
            while position < bytes.count - 1 {
                if bytes[position] == ASCII.quote { return nil }
                if bytes[position] == ASCII.backslash { position += 1 }
                // A backslash before the last quotation mark leaves the string open.
                guard position < bytes.count - 1 else { return nil }
                content.append(bytes[position])
                position += 1
            }
            return Octets(content)
        }
    }

    /// Whether octets are a token (RFC 9110, section 5.6.2).
    static func isToken(_ text: Octets) -> Bool { !text.isEmpty && text.allSatisfy(ASCII.isTokenCharacter) }

    /// A value with one space after each comma outside of quotation marks, and no other blank beside one.
    ///
    /// Empty members stay: the field may be no list.
    static func normalized(_ values: [Octets]) -> Octets { joined(values.flatMap(parts)) }

    /// A list as one value.
    static func joined(_ members: [Octets]) -> Octets {
        Octets(Array(members.joined(separator: [ASCII.comma, ASCII.space])))
    }
}

/// Numbers of seconds (RFC 9111, section 1.2.2).
enum DeltaSeconds {
    /// The greatest number that is told apart, 2^31: 68 years. Sums of a few of them cannot overflow.
    static let limit: Int64 = 1 << 31

    /// Parses digits; a number beyond ``limit`` is the limit. `nil` for anything else.
    static func parse(_ text: Octets) -> Int64? { DecimalNumber.parse(text, limit: limit) }
}

/// Numbers without a sign.
enum DecimalNumber {
    /// Parses digits; a number beyond the limit is the limit. `nil` for anything else.
    static func parse(_ text: some Collection<UInt8>, limit: Int64) -> Int64? {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard ASCII.isDigit(byte) else { return nil }
            let digit = Int64(byte - ASCII.zero)
            number = number > (limit - digit) / 10 ? limit : number * 10 + digit
        }
        return number
    }
}
