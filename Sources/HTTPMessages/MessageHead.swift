package import WebPrimitives

/// The head of an HTTP/1.1 message: its first line and its field lines, as octets in the order in which they came
/// (RFC 9112, section 2.1).
///
/// A proxy forwards fields that it does not own octet for octet. So a head keeps its octets, and the place of each
/// line, name and value.
package struct MessageHead: Sendable {
    /// The sender of the message, which decides how strict the parser is.
    package enum Sender: Sendable {
        /// A client. Anything that two parsers could read differently is refused.
        case client
        /// A server. Errors that RFC 9112 lets a proxy repair are repaired: a bare line feed ends a line (section 2.2),
        /// a folded line joins the one before it (section 5.2), and white space before the colon is removed (section
        /// 5.1). A line that is no field is left out, as browsers do, unless it may be meant to frame the message.
        case server
    }

    /// The place of one field.
    package struct Field: Sendable {
        /// The name, which is a token.
        package let name: Range<Int>
        /// The value, without the blanks around it.
        package let value: Range<Int>
        /// The line, without its line end.
        package let line: Range<Int>
    }

    /// How many octets a head has at most.
    package static let byteLimit = 1 << 18
    /// How many fields a head has at most.
    package static let fieldLimit = 500

    /// The octets of the head. Ranges refer to them.
    package let octets: [UInt8]
    /// The first line, without its line end.
    package let startLine: Range<Int>
    /// The fields, in order.
    package let fields: [Field]

    /// Parses a head that ends with an empty line.
    ///
    /// - Parameter octets: The head with its empty line, as ``end(in:from:)`` delimits it.
    package init(_ octets: [UInt8], from sender: Sender) throws(MessageError) {
        var lines = HeadLines(octets, from: sender)
        guard let first = try lines.next(), !first.isEmpty else { throw .startLineInvalid }
        var fields: [Field] = []
        while let line = try lines.next(), !line.isEmpty {
            guard fields.count < MessageHead.fieldLimit else { throw .headTooLong }
            if let field = MessageHead.field(lines.octets, line, from: sender) {
                fields.append(field)
            } else if sender == .client || MessageHead.namesFraming(lines.octets[line]) {
                throw .fieldInvalid
            }
        }
        self.octets = lines.octets
        self.fields = fields
        startLine = first
    }

    /// The end of the head that begins `bytes`: the position after its empty line; `nil` if it has not arrived.
    ///
    /// - Parameter start: A position before which no line ends that an empty line follows.
    package static func end(in bytes: Span<UInt8>, from start: Int) -> Int? {
        var position = start
        while let lineFeed = bytes.firstIndex(of: ASCII.lineFeed, from: position) {
            position = lineFeed + 1
            guard position < bytes.count else { return nil }
            if bytes[position] == ASCII.lineFeed { return position + 1 }
            guard bytes[position] == ASCII.carriageReturn else { continue }
            guard position + 1 < bytes.count else { return nil }
            if bytes[position + 1] == ASCII.lineFeed { return position + 2 }
        }
        return nil
    }

    /// The field of a line; `nil` if it has none.
    ///
    /// NB: A value may have control characters. Programs send them, and a cookie with one is for the cookie rules to reject.
    private static func field(_ octets: [UInt8], _ line: Range<Int>, from sender: Sender) -> Field? {
        let bytes = octets.span
        guard let colon = bytes.firstIndex(of: ASCII.colon, in: line) else { return nil }
        var nameEnd = colon
        if sender == .server { nameEnd = bytes.trimmingBlanks(line.lowerBound..<colon).upperBound }
        let name = line.lowerBound..<nameEnd
        guard !name.isEmpty, bytes.isToken(name) else { return nil }
        return Field(name: name, value: bytes.trimmingBlanks((colon + 1)..<line.upperBound), line: line)
    }

    /// Whether a line that is no field has the name of one that frames a message, in whatever disguise: another parser may
    /// read it as one.
    private static func namesFraming(_ line: ArraySlice<UInt8>) -> Bool {
        let letters = String(decoding: line.lazy.map(ASCII.lowercased).filter(ASCII.isLetter), as: UTF8.self)
        return letters.contains("contentlength") || letters.contains("transferencoding")
    }
}

extension MessageHead {
    /// Whether the field's name is `name`, which is in lower case.
    package func isNamed(_ name: StaticString, _ field: Field) -> Bool {
        octets.span.extracting(field.name).equalsIgnoringCase(name)
    }

    /// The values of the fields of that name, in order. `name` is in lower case.
    package func values(_ name: StaticString) -> [Octets] {
        fields.filter { isNamed(name, $0) }.map { Octets(octets, in: $0.value) }
    }

    /// Whether there is a field of that name, which is in lower case.
    package func has(_ name: StaticString) -> Bool {
        fields.contains { isNamed(name, $0) }
    }

    /// The field's name in lower case.
    package func lowercasedName(_ field: Field) -> String {
        // A token is ASCII.
        String(unsafeUninitializedCapacity: field.name.count) { buffer in
            for (offset, position) in field.name.enumerated() { buffer[offset] = ASCII.lowercased(octets[position]) }
            return field.name.count
        }
    }

    /// The members of the lists in the fields of that name, in lower case and without the blanks around them
    /// (RFC 9110, section 5.6.1). Only for lists of tokens.
    package func members(_ name: StaticString) -> [String] {
        fields.filter { isNamed(name, $0) }.flatMap { field in
            octets[field.value].split(separator: ASCII.comma).map { member in
                String(decoding: Octets(Array(member)).trimmingBlanks.lowercased, as: UTF8.self)
            }
        }.filter { !$0.isEmpty }
    }
}

/// The lines of a head, one after the other.
private struct HeadLines {
    /// The head. Where lines are folded, a line end is replaced by spaces.
    private(set) var octets: [UInt8]
    private let sender: MessageHead.Sender
    private var position = 0

    init(_ octets: [UInt8], from sender: MessageHead.Sender) {
        self.octets = octets
        self.sender = sender
    }

    /// The next line without its line end, the lines folded onto it included; `nil` at the end.
    mutating func next() throws(MessageError) -> Range<Int>? {
        let start = position
        guard var line = try plainLine() else { return nil }
        guard !line.isEmpty, start > 0 else { return line }
        // Before the first field, there is nothing that it could belong to. It has no name, so a server's is left out.
        if ASCII.isBlank(octets[line.lowerBound]), sender == .client { throw .foldedLine }
        while position < octets.count, ASCII.isBlank(octets[position]) {
            guard sender == .server else { throw .foldedLine }
            for index in line.upperBound..<position { octets[index] = ASCII.space }
            guard let folded = try plainLine() else { break }
            line = line.lowerBound..<folded.upperBound
        }
        return line
    }

    /// The octets up to the next line end.
    private mutating func plainLine() throws(MessageError) -> Range<Int>? {
        let start = position
        guard let lineFeed = octets.span.firstIndex(of: ASCII.lineFeed, from: start) else { return nil }
        position = lineFeed + 1
        var end = lineFeed
        if end > start, octets[end - 1] == ASCII.carriageReturn {
            end -= 1
        } else if sender == .client {
            throw .bareLineFeed
        }
        for octet in octets[start..<end] where octet == ASCII.carriageReturn || octet == 0 {
            throw octet == 0 ? .nullOctet : .bareCarriageReturn
        }
        return start..<end
    }
}

extension Span<UInt8> {
    /// Whether the octets in `range` are those of a token (RFC 9110, section 5.6.2).
    func isToken(_ range: Range<Int>) -> Bool {
        for index in range where !ASCII.isTokenCharacter(self[index]) { return false }
        return true
    }
}
