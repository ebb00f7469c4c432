import ArgumentParser
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import NetworkHelper
import OAuth2
import OpenIDConnect

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
        CallerMonitor.watch()
        let exchange = HTTPExchange(bodyLimit: EndpointResponse.maximumBodySize + 1, by: .shared) {
            CallerMonitor.isWaiting
        }
        try StandardStreams.write(try await exchange.answer(message).bytes)
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify-id-token",
        abstract: "Check the signature of the ID token on standard input by the keys that are there, too.",
        shouldDisplay: false)

    /// A key set and a token at their largest, in base64.
    private static let inputLimit = 4 << 20

    func run() async throws {
        guard
            let question = HelperMessage<SignatureQuestion>(
                parsing: try StandardStreams.input(limit: VerifyCommand.inputLimit))?.head
        else { throw ValidationError("There is no ID token on standard input.") }
        try StandardStreams.write(try HelperMessage(await VerifyCommand.answer(question)).bytes)
    }

    private static func answer(_ question: SignatureQuestion) async -> SignatureAnswer {
        let response = EndpointResponse(
            status: HTTPResponse.Status(code: question.keysStatus), body: Array(question.keys))
        do {
            _ = try await IDTokenVerifier(keys: response).claims(in: Secret(Array(question.token)))
            return .verified
        } catch {
            return .refused(error.description)
        }
    }
}

/// What comes on standard input, read where waiting for it holds nobody up.
struct StandardInput: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = ByteBuffer

    private static let chunkByteCount = 1 << 17

    /// What was read already and comes first.
    var beginning = ByteBuffer()

    func makeAsyncIterator() -> StandardInput { self }

    mutating func next() async throws -> ByteBuffer? {
        guard beginning.readableBytes == 0 else {
            defer { beginning = ByteBuffer() }
            return beginning
        }
        return try await NIOThreadPool.singleton.runIfActive { try StandardInput.chunk() }
    }

    private static func chunk() throws -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: chunkByteCount)
        let count = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: chunkByteCount) { bytes in
            while true {
                let count = read(STDIN_FILENO, bytes.baseAddress, chunkByteCount)
                if count >= 0 { return count }
                guard errno == EINTR else { throw IOError(errnoCode: errno, reason: "reading standard input") }
            }
        }
        return count > 0 ? buffer : nil
    }
}

/// The program that waits for an answer, and keeps standard input open for as long as it does.
enum CallerMonitor {
    /// Ends this program as soon as nobody waits for its answer any more: one that was killed stores nothing, and what a
    /// server would still be asked in its name could only do harm.
    static func watch() {
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { _exit(1) }
            }
        }
    }

    /// Whether somebody still waits, as of this moment.
    static var isWaiting: Bool {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) >= 0 else { return errno == EINTR }
        return input.revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0
    }
}
