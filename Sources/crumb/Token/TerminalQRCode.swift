import Foundation
import NetworkHelper

/// A QR code for the terminal that standard error is, which the program beside `crumb` draws.
struct TerminalQRCode {
    enum Style {
        /// In black and white, whatever the terminal's own colours are.
        case colored
        /// In the terminal's own colours, for whoever wants no others.
        case plain
    }

    private let lines: [String]

    /// - Returns: `nil` where there is no terminal, it is too narrow, or there is nobody to draw: a code is a convenience,
    ///   the address is told all the same.
    init?(_ text: String, _ style: Style) {
        guard isatty(STDERR_FILENO) == 1, let program = try? NetworkProgram() else { return nil }
        let question = QRCodeQuestion(text: text, usesColor: style == .colored)
        guard let answer: HelperMessage<QRCodeAnswer> = try? program.ask("qr-code", HelperMessage(question)),
            case .drawn(let lines, let columns) = answer.head, columns <= TerminalQRCode.width
        else { return nil }
        self.lines = lines
    }

    func show() {
        try? Console.write(lines.flatMap { Array("\($0)\n".utf8) }, to: STDERR_FILENO)
    }

    /// How many columns the terminal has; as many as anyone needs where it does not say.
    private static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return .max }
        return Int(size.ws_col)
    }
}
