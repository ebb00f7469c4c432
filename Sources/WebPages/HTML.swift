/// Markup of a page, in which a text cannot become markup.
///
/// The words of a literal are markup. Interpolated values are text: they appear on the page as they are, between tags and
/// in quoted attributes. Another `HTML` value is interpolated as markup.
///
/// ```swift
/// let name = "<b>"
/// let item: HTML = "<li title=\"\(name)\">\(name)</li>"
/// // <li title="&lt;b&gt;">&lt;b&gt;</li>
/// ```
///
/// Quote each attribute that contains a value. Escaping does not make an address safe to open: build one for `href`,
/// `src` and `action` from a path of the server's own.
package struct HTML: Sendable, Equatable {
    /// The markup, for the body of a response.
    package let markup: String

    /// Markup from a file of this library, such as a style sheet. No value of a request belongs in it.
    init(trusted markup: String) {
        self.markup = markup
    }
}

extension HTML: ExpressibleByStringInterpolation {
    /// A literal is a `StaticString`, so that no string of run time can take its place.
    package init(stringLiteral markup: StaticString) {
        self.markup = markup.description
    }

    package init(stringInterpolation parts: StringInterpolation) {
        markup = parts.markup
    }

    /// The parts of a literal, joined as they come.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ markup: StaticString) {
            self.markup += markup.description
        }

        /// Appends a text, with the five characters of syntax as character references.
        ///
        /// Goes by octets: a quotation mark with a combining accent is one `Character`, but it ends an attribute.
        package mutating func appendInterpolation(_ text: String) {
            var rest = text.utf8[...]
            while let position = rest.firstIndex(where: { HTML.reference(to: $0) != nil }) {
                markup += Substring(rest[..<position])
                markup += HTML.reference(to: rest[position]) ?? ""
                rest = rest[rest.index(after: position)...]
            }
            markup += Substring(rest)
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) {
            markup += String(number)
        }

        /// Appends markup; nothing for `nil`.
        package mutating func appendInterpolation(_ html: HTML?) {
            markup += html?.markup ?? ""
        }

        /// Appends the parts of a list.
        package mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { markup += part.markup }
        }
    }

    /// The reference to a character that is syntax between tags or in a quoted attribute; `nil` for all others.
    private static func reference(to character: UInt8) -> String? {
        switch character {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}

extension HTML {
    /// A whole document, as all pages of Crumb have it.
    ///
    /// - Parameters:
    ///   - head: The style, and what else is loaded.
    ///   - body: The content of the element `body`.
    package static func document(title: String, head: HTML, body: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        \(head)
        </head>
        <body>
        \(body)
        </body>
        </html>

        """
    }
}
