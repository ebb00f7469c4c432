import ArgumentParser
import NetworkHelper
import OAuth2

struct ExchangeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exchange",
        abstract: "Send the request on standard input; its answer goes to standard output.",
        shouldDisplay: false)

    /// More than any request to an authorization server has.
    private static let inputLimit = 4 << 20

    func run() async throws {
        guard
            let request = HelperMessage<HelperRequest>(
                parsing: try StandardStreams.input(limit: ExchangeCommand.inputLimit))
        else { throw ValidationError("There is no request on standard input.") }
        let exchange = HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1)
        try StandardStreams.write(try await exchange.answer(request).bytes)
    }
}
