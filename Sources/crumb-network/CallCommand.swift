import ArgumentParser
import Foundation
import NIOCore
import NetworkHelper

struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Send the request on standard input to a service of crumb's; its answer goes to standard output.",
        shouldDisplay: false)

    /// Longer than any line that describes a request.
    private static let lineLimit = 1 << 20

    func run() async throws {
        var input = StandardInput()
        var line: [UInt8] = []
        while !line.contains(UInt8(ascii: "\n")) {
            guard line.count <= CallCommand.lineLimit, let chunk = try await input.next() else {
                throw ValidationError("There is no request on standard input.")
            }
            line += chunk.readableBytesView
        }
        guard let message = HelperMessage<ServiceCall>(parsing: line) else {
            throw ValidationError("There is no request on standard input.")
        }
        input.beginning = ByteBuffer(bytes: message.body)
        try await ServiceExchange.run(message.head, body: input)
    }
}
