/// A text that is to be shown as a QR code on a terminal.
package struct QRCodeQuestion: Codable, Sendable {
    package let text: String
    /// Whether the terminal is to be told the colours of the code, which it then shows as they should be.
    package let usesColor: Bool

    package init(text: String, usesColor: Bool) {
        self.text = text
        self.usesColor = usesColor
    }
}

/// The QR code of a text.
package enum QRCodeAnswer: Codable, Sendable {
    /// Lines for a terminal, and how many columns they take.
    case drawn(lines: [String], columns: Int)
    /// The text fits no QR code.
    case tooLong
}
