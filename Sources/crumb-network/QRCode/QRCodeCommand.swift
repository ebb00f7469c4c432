import ArgumentParser
import NetworkHelper

struct QRCodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "qr-code",
        abstract: "Draw the text on standard input as a QR code for a terminal.",
        shouldDisplay: false)

    /// More than fits any code.
    private static let inputLimit = 1 << 16

    func run() async throws {
        guard
            let question = HelperMessage<QRCodeQuestion>(
                parsing: try StandardStreams.input(limit: QRCodeCommand.inputLimit))?.head
        else { throw ValidationError("There is no text on standard input.") }
        let code = QRCode(question.text)
        let answer: QRCodeAnswer =
            code.map { .drawn(lines: $0.lines(usesColor: question.usesColor), columns: $0.columns) } ?? .tooLong
        try StandardStreams.write(try HelperMessage(answer).bytes)
    }
}
