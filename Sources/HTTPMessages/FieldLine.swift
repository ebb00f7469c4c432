import WebPrimitives

extension Span<UInt8> {
    /// The places of name and value in a field line (RFC 9112, section 5): the parts before and after the first colon,
    /// without the spaces and tabs around them. `nil` if there is no colon or no name.
    ///
    /// NB: The recipient of a response has to remove white space before the colon (section 5.1). White space within a
    /// name makes it another name.
    package var fieldParts: (name: Range<Int>, value: Range<Int>)? {
        guard let colon = firstIndex(of: ASCII.colon, from: 0) else { return nil }
        let name = trimmingBlanks(0..<colon)
        return name.isEmpty ? nil : (name, trimmingBlanks((colon + 1)..<count))
    }
}

/// A field line of a head, folded lines joined.
package struct FieldLine: Sendable {
    /// The line, without its line end.
    package let octets: [UInt8]
    /// The number of its first line.
    package let number: Int
}

/// Puts the field lines of one head together: joins folded lines with a space (RFC 9112, section 5.2).
///
/// Holds one field line, of at most ``LineBuffer/byteLimit`` bytes.
package struct FieldLines: Sendable {
    /// The result of a line.
    package enum Outcome: Sendable {
        /// The line before may go on.
        case none
        /// The field line before is complete.
        case field(FieldLine)
        /// A folded line without a field line that it could belong to.
        case misplaced(line: Int)
        /// The field line that began there is longer than the limit and is left out.
        case tooLong(line: Int)
    }

    /// The field line that a folded line may still extend; `nil` if there is none.
    private var field: [UInt8]?
    private var number = 0

    package init() {}

    /// How many bytes are held.
    package var bufferedByteCount: Int { field?.capacity ?? 0 }

    /// Takes a line that is not empty, without its line end.
    package mutating func take(_ line: Span<UInt8>, number: Int) -> Outcome {
        if ASCII.isBlank(line[0]) { return fold(line, number: number) }
        let complete = end()
        var bytes: [UInt8] = []
        bytes.append(line)
        field = bytes
        self.number = number
        return complete
    }

    /// Takes the end of the head, or a line that was left out: folded lines after it belong to nothing.
    package mutating func end() -> Outcome {
        guard let octets = field else { return .none }
        field = nil
        return .field(FieldLine(octets: octets, number: number))
    }

    private mutating func fold(_ line: Span<UInt8>, number: Int) -> Outcome {
        guard let length = field?.count else { return .misplaced(line: number) }
        let text = line.trimmingBlanks(0..<line.count)
        guard length + 1 + text.count <= LineBuffer.byteLimit else {
            field = nil
            return .tooLong(line: self.number)
        }
        field?.append(ASCII.space)
        field?.append(line.extracting(text))
        return .none
    }
}
