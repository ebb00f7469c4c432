/// The name under which a web view hears messages of a script: `window.webkit.messageHandlers.NAME.postMessage` in
/// WKWebView and WebKitGTK, a function `NAME` of the page in other engines.
public struct MessageHandlerName: Sendable, Hashable, CustomStringConvertible {
    /// The longest name, in characters.
    public static let limit = 64

    /// The name.
    public let description: String

    /// A name of ASCII letters, digits, `_` and `$` that does not begin with a digit; `nil` for any other text.
    public init?(_ text: String) {
        guard (1...MessageHandlerName.limit).contains(text.utf8.count),
            text.utf8.allSatisfy({ MessageHandlerName.isLetter($0) || MessageHandlerName.isDigit($0) }),
            text.utf8.first.map(MessageHandlerName.isDigit) == false
        else { return nil }
        description = text
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"):
            true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
