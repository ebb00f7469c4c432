internal import CookieModel

/// JavaScript source under construction, all of it ASCII: octets, since a page with many cookies wants its script now.
struct JavaScript {
    private(set) var octets: [UInt8] = []

    /// A string literal for any text, in ASCII, that is safe within a `<script>` element and an HTML attribute too.
    static func stringLiteral(_ text: String) -> String {
        var script = JavaScript()
        script.writeLiteral(Octets(text))
        return script.text
    }

    /// What was written.
    var text: String { String(decoding: octets, as: UTF8.self) }

    /// Makes room for so many octets.
    mutating func reserve(_ count: Int) {
        octets.reserveCapacity(count)
    }

    /// Writes code as it is.
    mutating func write(_ code: StaticString) {
        octets.append(contentsOf: UnsafeBufferPointer(start: code.utf8Start, count: code.utf8CodeUnitCount))
    }

    /// Writes code as it is.
    mutating func write(_ code: some Sequence<UInt8>) {
        octets.append(contentsOf: code)
    }

    /// Writes code as it is.
    mutating func write(_ code: [UInt8]) {
        // An array as such would be kept and given back.
        code.withUnsafeBufferPointer { octets.append(contentsOf: $0) }
    }

    /// Writes a whole number.
    mutating func write(_ number: Int64) {
        write(String(number).utf8)
    }

    /// Writes a moment as `Expires` has it.
    mutating func write(date moment: Timestamp) {
        moment.appendHTTPDate(to: &octets)
    }

    /// Writes a string literal of text or a string of a web page (``WebString``); what is neither becomes U+FFFD.
    mutating func writeLiteral(_ text: Octets) {
        write("\"")
        text.withContiguousStorageIfAvailable { writeWithinLiteral($0) }
        write("\"")
    }

    /// Writes a part of a string literal.
    mutating func writeWithinLiteral(_ text: UnsafeBufferPointer<UInt8>) {
        guard !text.allAre(JavaScript.standsForItself) else {
            octets.append(contentsOf: text)
            return
        }
        WebString.forEachPart(of: text) {
            for unit in String(decoding: $0, as: UTF8.self).utf16 { write(unit) }
        } surrogate: {
            write($0)
        }
    }

    /// Writes a UTF-16 code unit of a string literal.
    private mutating func write(_ unit: UInt16) {
        if let byte = UInt8(exactly: unit), JavaScript.standsForItself(byte) {
            octets.append(byte)
        } else {
            write("\\u")
            for shift in [12, 8, 4, 0] { octets.append(JavaScript.digit(UInt8(unit >> UInt16(shift) & 15))) }
        }
    }

    /// What means something to JavaScript or HTML, or is not ASCII, does not.
    @inline(__always)
    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x26 && byte != 0x27 && byte != 0x3C && byte != 0x3E
            && byte != 0x5C && byte != 0x60
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
