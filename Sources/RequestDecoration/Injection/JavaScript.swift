internal import CookieModel

/// JavaScript source under construction, all of it ASCII: octets, since a page with many cookies wants its script now.
struct JavaScript {
    var octets: [UInt8] = []

    /// A string literal for any text, in ASCII, that is safe within a `<script>` element and an HTML attribute too.
    static func stringLiteral(_ text: String) -> String {
        var script = JavaScript()
        script.writeLiteral(Octets(text))
        return script.text
    }

    /// The text written so far.
    var text: String { String(decoding: octets, as: UTF8.self) }

    /// Writes code as it is.
    mutating func write(_ code: String) {
        write(code.utf8)
    }

    /// Writes code as it is.
    mutating func write(_ code: some Collection<UInt8>) {
        // Octets as a collection would be copied one by one.
        let whole: Void? = code.withContiguousStorageIfAvailable { octets.append(contentsOf: $0) }
        if whole == nil { octets.append(contentsOf: code) }
    }

    /// Writes a string literal for text or a string of a web page (``WebString``). Octets that are neither become
    /// U+FFFD.
    mutating func writeLiteral(_ text: Octets) {
        write("\"")
        writeWithinLiteral(text)
        write("\"")
    }

    /// Writes a part of a string literal.
    mutating func writeWithinLiteral(_ text: Octets) {
        if text.allAre(JavaScript.standsForItself) { return write(text) }
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
            for shift in stride(from: UInt16(12), through: 0, by: -4) {
                octets.append(Hexadecimal.upperCaseDigit(UInt8(unit >> shift & 15)))
            }
        }
    }

    /// Whether the byte needs no escape: it is printable ASCII and has no meaning to JavaScript or HTML.
    @inline(__always)
    private static func standsForItself(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != 0x22 && byte != 0x26 && byte != 0x27 && byte != 0x3C && byte != 0x3E
            && byte != 0x5C && byte != 0x60
    }
}

extension Octets {
    /// Whether all octets are of a kind. The loop always goes to the end, so that the compiler can test many at a time.
    @inline(__always)
    func allAre(_ isOfKind: (UInt8) -> Bool) -> Bool {
        withSpan { octets in
            var areAll = true
            for index in octets.indices { areAll = isOfKind(octets[index]) && areAll }
            return areAll
        }
    }
}

/// A script of this module in the form of its source file, with comments for its readers and places for the parts that
/// vary.
struct ScriptTemplate: Sendable {
    /// Code, and the name of the place after it.
    private let pieces: [(code: [UInt8], place: String)]
    private let octetCount: Int

    /// Takes a file apart: a line `//{name}` is a place, other lines that begin with `//` are comments.
    init(_ bytes: [UInt8]) {
        var pieces: [(code: [UInt8], place: String)] = []
        var code: [UInt8] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let indentation = line.prefix { $0 == UInt8(ascii: " ") }
            let text = line.dropFirst(indentation.count)
            guard text.starts(with: "//".utf8) else {
                code += line + [UInt8(ascii: "\n")]
                continue
            }
            guard text.starts(with: "//{".utf8) else { continue }
            pieces.append((code + indentation, String(decoding: text.dropFirst(3).dropLast(), as: UTF8.self)))
            code = [UInt8(ascii: "\n")]
        }
        self.pieces = pieces + [(code, "")]
        octetCount = bytes.count
    }

    /// Returns the script with code in its places and without comments.
    ///
    /// - Parameter parts: the code for each place, by name.
    func source(_ parts: [String: [UInt8]]) -> String {
        var script = JavaScript()
        script.octets.reserveCapacity(octetCount + parts.reduce(0) { $0 + $1.value.count })
        for (code, place) in pieces {
            script.write(code)
            script.write(parts[place] ?? [])
        }
        return script.text
    }
}

/// The name of the message handler of a web view: `window.webkit.messageHandlers.NAME.postMessage` in
/// WKWebView and WebKitGTK, a function `NAME` of the page in other engines.
public struct MessageHandlerName: Sendable, Hashable, CustomStringConvertible {
    /// The longest name, in characters.
    package static let limit = 64

    /// The name.
    public let description: String

    /// A name of ASCII letters, digits, `_` and `$` that does not begin with a digit; `nil` for any other text.
    public init?(_ text: String) {
        let isLetter = { (byte: UInt8) in ASCII.isLetter(byte) || byte == ASCII.underscore || byte == UInt8(ascii: "$")
        }
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= MessageHandlerName.limit,
            text.utf8.allSatisfy({ isLetter($0) || ASCII.isDigit($0) })
        else { return nil }
        description = text
    }
}
