import ArgumentParser
import Foundation
import NetworkHelper

/// Where the program begins.
@main
enum Program {
    static func main() {
        let words = ProcessArguments.texts
        // `crumb` starts an exchange with these signals blocked; a thread of the runtime is about to let them in.
        if words.first == ExchangeCommand.configuration.commandName {
            for number in ExchangeQuestion.deferredSignals { signal(number, SIG_IGN) }
        }
        Task.detached {
            await CrumbNetwork.main(words)
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }
}

/// What `crumb` has another program do, so that it is quick to start itself: whatever speaks HTTP or checks
/// signatures, with the libraries that takes.
struct CrumbNetwork: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crumb-network",
        abstract: "The part of crumb that speaks HTTP. Used by 'crumb', which finds it beside itself.",
        subcommands: [
            ExchangeCommand.self, CallCommand.self, VerifyCommand.self, QRCodeCommand.self, RunServiceCommand.self,
        ])
}

/// The pipes to `crumb`.
enum StandardStreams {
    /// Everything on standard input, up to a limit.
    static func input(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try FileHandle.standardInput.read(upToCount: 1 << 16), !chunk.isEmpty {
            bytes += chunk
            guard bytes.count <= limit else { throw ValidationError("The message is longer than \(limit) bytes.") }
        }
        return bytes
    }

    static func write(_ bytes: [UInt8]) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            // `crumb` has gone, and the terminal is its own: Foundation's error says nothing to a user.
            throw ExitCode.failure
        }
    }
}
