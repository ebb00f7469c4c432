import CookieModel

/// Reads the octets of a page or a stylesheet once, from the first to the last.
struct LinkScanner {
    private let octets: ArraySlice<UInt8>
    private var position: Int
    /// How many octets were looked at: the work.
    private(set) var steps = 0

    init(_ octets: ArraySlice<UInt8>) {
        self.octets = octets
        position = octets.startIndex
    }

    /// The next octet; `nil` at the end.
    var next: UInt8? { position < octets.endIndex ? octets[position] : nil }

    /// Passes the next octet, and returns it.
    @discardableResult
    mutating func pass() -> UInt8? {
        guard let octet = next else { return nil }
        position += 1
        steps += 1
        return octet
    }

    /// Passes the next octet if it is `octet`.
    mutating func pass(_ octet: UInt8) -> Bool {
        guard next == octet else { return false }
        pass()
        return true
    }

    /// Passes the octets for which a condition holds, and returns them.
    @discardableResult
    mutating func pass(while holds: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while let octet = next, holds(octet) { pass() }
        return octets[start..<position]
    }

    /// Passes a word, in any case, if it is next. The word is in lower case.
    mutating func pass(_ word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        steps += word.utf8CodeUnitCount
        guard end <= octets.endIndex,
            zip(octets[position..<end], UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
                .allSatisfy({ ASCII.lowercased($0) == $1 })
        else { return false }
        position = end
        return true
    }

    /// Passes everything up to a word and the word, or everything if the word does not come.
    ///
    /// - Parameter back: How many of the last octets may belong to the word.
    mutating func pass(through word: StaticString, back: Int = 0) {
        position = max(octets.startIndex, position - back)
        while next != nil, !pass(word) { pass() }
    }

    /// Passes the text of an element up to its end tag, and returns it.
    mutating func passText(ofElement name: Octets) -> ArraySlice<UInt8> {
        let start = position
        while let octet = pass() {
            guard octet == UInt8(ascii: "<"), next == ASCII.slash else { continue }
            let end = position + 1 + name.count
            steps += name.count
            guard end <= octets.endIndex, Octets(Array(octets[position + 1..<end])).lowercased == name else { continue }
            if end < octets.endIndex, ASCII.isLetter(octets[end]) || ASCII.isDigit(octets[end]) { continue }
            return octets[start..<position - 1]
        }
        return octets[start..<position]
    }
}
