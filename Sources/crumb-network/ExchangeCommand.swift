import ArgumentParser
import NIOCore
import NetworkHelper
import OAuth2

struct ExchangeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: "Send the request on standard input; its answer goes to standard output.",
        discussion: "It ends when standard input does: then nobody waits for the answer any more.",
        shouldDisplay: false)

    /// More than any request to an authorization server has.
    private static let inputLimit = 4 << 20

    func run() async throws {
        var input = StandardInput()
        var bytes: [UInt8] = []
        var message: HelperMessage<ExchangeQuestion>?
        while message.map({ $0.body.count < $0.head.bodyByteCount }) ?? true {
            guard bytes.count <= ExchangeCommand.inputLimit, let chunk = try await input.next() else {
                throw ValidationError("There is no request on standard input.")
            }
            bytes += chunk.readableBytesView
            message = HelperMessage(parsing: bytes)
        }
        guard let message else { return }
        Asker.watch()
        let exchange = HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1, by: .shared) { Asker.isWaiting }
        try StandardStreams.write(try await exchange.answer(message).bytes)
    }
}
