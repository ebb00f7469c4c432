/// The bytes and byte classes that the grammars of the web name.
///
/// Computed rather than stored, so that another module's scanner sees a constant.
@usableFromInline
package enum ASCII {
    @inlinable package static var tab: UInt8 { 0x09 }
    @inlinable package static var lineFeed: UInt8 { 0x0A }
    @inlinable package static var carriageReturn: UInt8 { 0x0D }
    @inlinable package static var space: UInt8 { 0x20 }
    @inlinable package static var quote: UInt8 { 0x22 }
    @inlinable package static var numberSign: UInt8 { 0x23 }
    @inlinable package static var percent: UInt8 { 0x25 }
    @inlinable package static var ampersand: UInt8 { 0x26 }
    @inlinable package static var apostrophe: UInt8 { 0x27 }
    @inlinable package static var plus: UInt8 { 0x2B }
    @inlinable package static var comma: UInt8 { 0x2C }
    @inlinable package static var hyphen: UInt8 { 0x2D }
    @inlinable package static var dot: UInt8 { 0x2E }
    @inlinable package static var slash: UInt8 { 0x2F }
    @inlinable package static var zero: UInt8 { 0x30 }
    @inlinable package static var colon: UInt8 { 0x3A }
    @inlinable package static var semicolon: UInt8 { 0x3B }
    @inlinable package static var equals: UInt8 { 0x3D }
    @inlinable package static var questionMark: UInt8 { 0x3F }
    @inlinable package static var at: UInt8 { 0x40 }
    @inlinable package static var leftBracket: UInt8 { 0x5B }
    @inlinable package static var backslash: UInt8 { 0x5C }
    @inlinable package static var rightBracket: UInt8 { 0x5D }
    @inlinable package static var underscore: UInt8 { 0x5F }
    @inlinable package static var leftBrace: UInt8 { 0x7B }
    @inlinable package static var rightBrace: UInt8 { 0x7D }

    /// Whether `byte` is a control character other than horizontal tab (rfc6265bis, section 5.6, step 1).
    @inlinable @inline(__always)
    package static func isControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != tab) || byte == 0x7F
    }

    /// Whether `byte` is a space or a tab: WSP in a cookie, optional white space in HTTP.
    @inlinable @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    /// Whether `byte` is a space, a tab, a carriage return or a line feed: white space in JSON.
    @inlinable @inline(__always)
    package static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == lineFeed || byte == carriageReturn || byte == tab
    }

    @inlinable @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool {
        byte &- zero < 10
    }

    @inlinable @inline(__always)
    package static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    @inlinable @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether `byte` may be in a token: a method, a field's name (RFC 9110, section 5.6.2).
    package static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "^")...UInt8(ascii: "z"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"),
            UInt8(ascii: "*"), plus, hyphen, dot, UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The value of a hexadecimal digit, `nil` for any other byte.
    @inlinable @inline(__always)
    package static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- zero }
        let letter = byte | 0x20
        return letter &- 0x61 < 6 ? letter &- 0x57 : nil
    }
}
