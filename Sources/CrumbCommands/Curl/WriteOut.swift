/// Holds back the output of `--write-out` until it is known whether the response was the last one.
///
/// curl prints it on standard output, after the body. So the format begins with a secret mark, which no body can
/// contain, and the output after the mark waits.
struct WriteOut {
    private let mark: [UInt8]
    /// The bytes at the end that may be the beginning of the mark.
    private var tail: [UInt8] = []
    /// The output from the mark on.
    private var held: [UInt8]?

    init() {
        // The first byte is in text hardly ever, so that the mark is found fast.
        let digits = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }
        mark = [0x01] + Array("crumb\(digits.joined())".utf8)
    }

    /// The format for a hop: the user's, marked, with the redirects that curl does not know of.
    func format(_ format: [UInt8], redirectCount: Int) -> [UInt8] {
        var output = mark + [UInt8(ascii: "o")]
        var rest = format[...]
        while let byte = rest.first {
            if rest.starts(with: Array("%%".utf8)) {
                output += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if let (variable, replacement) = replacement(at: rest, redirectCount) {
                output += replacement
                rest = rest.dropFirst(variable)
            } else {
                output.append(byte)
                rest = rest.dropFirst()
            }
        }
        return output
    }

    private func replacement(at text: ArraySlice<UInt8>, _ redirectCount: Int) -> (Int, [UInt8])? {
        guard text.first == UInt8(ascii: "%") else { return nil }
        let replacements: [(String, [UInt8])] = [
            ("%{stdout}", mark + [UInt8(ascii: "o")]), ("%{stderr}", mark + [UInt8(ascii: "e")]),
            ("%{num_redirects}", Array("\(redirectCount)".utf8)),
        ]
        for (variable, replacement) in replacements where text.starts(with: variable.utf8) {
            return (variable.utf8.count, replacement)
        }
        return nil
    }

    /// Whether a format writes to files, which nothing could hold back.
    static func writesFiles(_ format: [UInt8]) -> Bool {
        String(decoding: format, as: UTF8.self).contains("%output{")
    }

    /// Takes bytes of standard output; gives back those that belong to the body.
    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        if held != nil {
            held?.append(contentsOf: bytes)
            return []
        }
        let text = tail + bytes
        var start = text.startIndex
        while let candidate = text[start...].firstIndex(of: 0x01) {
            let rest = text[candidate...].prefix(mark.count)
            if rest.elementsEqual(mark) {
                held = Array(text[candidate...])
                tail = []
                return Array(text[..<candidate])
            }
            if rest.elementsEqual(mark.prefix(rest.count)) {
                tail = Array(rest)
                return Array(text[..<candidate])
            }
            start = candidate + 1
        }
        tail = []
        return text
    }

    /// Ends a response, and returns the output held back, by its stream. The body's last bytes come first.
    consuming func finish() -> (body: [UInt8], pieces: [(toError: Bool, text: [UInt8])]) {
        guard var rest = held?[...] else { return (tail, []) }
        var pieces: [(toError: Bool, text: [UInt8])] = []
        while rest.starts(with: mark) {
            let toError = rest.dropFirst(mark.count).first == UInt8(ascii: "e")
            rest = rest.dropFirst(mark.count + 1)
            var end = rest.startIndex
            while end < rest.endIndex, !rest[end...].starts(with: mark) { end += 1 }
            pieces.append((toError, Array(rest[..<end])))
            rest = rest[end...]
        }
        return ([], pieces)
    }
}
