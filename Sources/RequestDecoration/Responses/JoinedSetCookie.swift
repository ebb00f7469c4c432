package import CookieModel

/// Set-Cookie lines that a client has joined into one with a comma and a space, as Foundation does, cut apart again.
///
/// A comma ends a line if a space and `name=` follow it. Within attributes, unless they are quoted, that is certain:
/// the comma of a date is not followed by them. Within a value it is ambiguous: `a=1` and `b=2` look the same as the
/// value `1, b=2`. Such a comma is taken for the end of a line, as the grammar requires of servers, and the doubt is
/// reported. Any other comma and space is part of a line. If a line without a name could follow it, that doubt is
/// reported as well.
package struct JoinedSetCookie: Sendable {
    /// The lines, in order.
    package private(set) var lines: [Octets] = []
    /// The ambiguities.
    package private(set) var doubts: [SetCookieDoubt] = []

    /// Cuts a joined value.
    package init(_ value: Octets) {
        var start = 0
        var place = Place()
        for index in value.indices {
            guard value[index] == UInt8(ascii: ","), index + 1 < value.count, value[index + 1] == 0x20 else {
                place.advance(over: value[index])
                continue
            }
            switch place.comma(before: value[(index + 2)..<value.count]) {
            case .partOfLine:
                place.advance(over: value[index])
            case .perhapsPartOfLine:
                doubts.append(SetCookieDoubt(.commaKept, line: lines.count))
                place.advance(over: value[index])
            case .end:
                lines.append(value[start..<index])
                start = index + 2
                place = Place()
            case .perhapsEnd:
                lines.append(value[start..<index])
                doubts.append(SetCookieDoubt(.splitWithinValue, line: lines.count))
                start = index + 2
                place = Place()
            }
        }
        lines.append(value[start..<value.count])
    }
}

extension JoinedSetCookie {
    /// A note on a line that a client has certainly joined of several: it counts as one cookie. `nil` for any other line.
    package static func note(on line: Octets) -> String? {
        // Nearly all commas are those of dates.
        let mayBeJoined = line.indices.dropLast(2).contains { (index: Int) -> Bool in
            guard line[index] == UInt8(ascii: ","), line[index + 1] == 0x20 else { return false }
            return line[(index + 2)..<line.count].beginsWithPair
        }
        guard mayBeJoined else { return nil }
        let joined = JoinedSetCookie(line)
        let count = joined.lines.count - joined.doubts.count { $0.kind == .splitWithinValue }
        guard count > 1 else { return nil }
        return
            "The line looks like \(count) Set-Cookie lines that a client joined with commas. It counts as one cookie, as in "
            + "browsers. Record the response with a tool that keeps the lines apart, such as curl -i."
    }
}

/// Where in a line one is.
private struct Place {
    enum Comma {
        case partOfLine
        case perhapsPartOfLine
        case end
        case perhapsEnd
    }

    private enum Section {
        case pair
        case attributeName
        case attributeValue
    }

    private var section = Section.pair
    /// The text of the current section, without leading blanks, and the name of an attribute in lower case.
    private var text: [UInt8] = []
    private var attribute: [UInt8] = []
    private var isQuoted = false
    private var hasEquals = false

    mutating func advance(over byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""):
            isQuoted = isQuoted ? false : section != .attributeName && text.isEmpty && (hasEquals || section != .pair)
            text.append(byte)
        case UInt8(ascii: ";"):
            // Section 5.6 of the draft knows no quotes: a semicolon ends whatever there is.
            section = .attributeName
            text = []
            attribute = []
            isQuoted = false
        case UInt8(ascii: "=") where section == .attributeName:
            attribute = text
            while let last = attribute.last, last == 0x20 || last == 0x09 { attribute.removeLast() }
            text = []
            section = .attributeValue
        case UInt8(ascii: "=") where section == .pair && !hasEquals:
            hasEquals = true
            text = []
        case 0x20, 0x09:
            if !text.isEmpty { text.append(byte) }
        default:
            text.append(section == .attributeName && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
    }

    func comma(before rest: Octets) -> Comma {
        if isQuoted { return rest.beginsWithPair ? .perhapsPartOfLine : .partOfLine }
        // `Expires=Wed, 21 Oct 2037 07:28:00 GMT`
        let isDate = section == .attributeValue && attribute == Array("expires".utf8) && text.isWeekday
        guard rest.beginsWithPair else { return isDate ? .partOfLine : .perhapsPartOfLine }
        return section == .pair ? .perhapsEnd : .end
    }
}

extension [UInt8] {
    /// Whether these are nothing but letters, and not so few that no language calls a day so.
    fileprivate var isWeekday: Bool {
        count >= 2 && allSatisfy { (0x41...0x5A).contains($0 & 0xDF) }
    }
}

extension Octets {
    /// Whether this begins with a token and an equals sign (RFC 9110, section 5.6.2).
    fileprivate var beginsWithPair: Bool {
        guard let equals = firstIndex(of: UInt8(ascii: "=")), equals > 0 else { return false }
        return self[0..<equals].allSatisfy(ASCII.isTokenCharacter)
    }
}
