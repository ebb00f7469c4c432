import Dispatch
import OAuth2
import Platform
import SessionClient
import SessionOperations
import SessionStore
import Synchronization

/// A running service, for commands that wait for its answers.
struct ServiceConnection {
    /// The most bytes of a file with certificates.
    private static let certificateLimit = 512 << 10

    let address: SessionAddress
    private let client: SessionClient

    init(address: SessionAddress, token: ServiceTokenFile?, over transport: any SessionTransport) {
        self.address = address
        client = SessionClient(address, token: token?.exposedToken, over: transport)
    }

    /// The certificates in a file, in PEM.
    static func certificates(in path: String) throws -> String {
        let text = String(decoding: try InputFile(path).contents(limit: certificateLimit), as: UTF8.self)
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw CommandFailure(
                .inputUnrecognized, "\(path): this file contains no certificate in PEM; name another --service-ca")
        }
        return text
    }

    /// The answer to a request, in JSON.
    ///
    /// - Throws: `SessionClientError` if the service answers with a problem.
    func answer<Answer: Decodable & Sendable>(to request: SessionRequest<Answer>) throws -> Answer {
        try waiting { [client] in try await client.answer(to: request) }
    }

    /// Sends a request whose answer is empty.
    ///
    /// - Throws: `SessionClientError` if the service answers with a problem.
    func send(_ request: SessionRequest<Void>) throws {
        try waiting { [client] in try await client.send(request) }
    }

    /// A document of an answer.
    func decoded<Answer: Decodable>(_ bytes: [UInt8], as type: Answer.Type = Answer.self) throws -> Answer {
        try SessionRequest<Answer>.decode(bytes, from: address)
    }

    private func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        do {
            return try Blocking.run(body)
        } catch let error as SessionClientError where error.code == .unreachable {
            throw CommandFailure(error)
        }
    }

    /// Sends a request and reads the response piece by piece.
    ///
    /// - Parameters:
    ///   - upload: Gives the next bytes of the request's body, `nil` at its end; `nil` for the request's own body.
    ///   - interruption: Is called regularly and returns the reason why the caller no longer waits; `nil` as long as it
    ///     waits.
    ///   - consume: Receives the body of the response as it arrives.
    /// - Throws: The error of one of the closures, or `SessionClientError` if the service responds with a problem.
    func stream(
        _ request: SessionRequest<SessionBytes>, upload: (() throws -> [UInt8]?)? = nil,
        interruption: (() -> (any Error)?)? = nil, consume: ([UInt8]) throws -> Void
    ) throws {
        let exchange = StreamedExchange()
        let hasUpload = upload != nil
        let task = Task.detached { [client, address] in
            let result: Result<Void, any Error>
            do {
                let answer = try await client.stream(request, body: hasUpload ? exchange.upload : nil)
                do {
                    for try await bytes in answer { try await exchange.deliver(bytes) }
                } catch let error where !(error is CancellationError) {
                    throw CommandFailure(.serviceUnavailable, "\(address): \(error)")
                }
                result = .success(())
            } catch let error as SessionClientError where error.code == .unreachable {
                result = .failure(CommandFailure(error))
            } catch {
                result = .failure(error)
            }
            exchange.end(result)
        }
        try exchange.wait(upload: upload, interruption: interruption, consume: consume) { task.cancel() }
    }
}

/// The requests of a task to the thread that waits for it: to provide the next bytes of a request, and to take those of
/// a response.
///
/// The thread's closures run on the thread only, and not after its wait.
private final class StreamedExchange: Sendable {
    private enum Event {
        case wanted(CheckedContinuation<[UInt8]?, any Error>)
        case arrived([UInt8], CheckedContinuation<Void, any Error>)
        case ended(Result<Void, any Error>)

        /// Tells the waiting side that no one listens any more.
        func refuse() {
            switch self {
            case .wanted(let continuation): continuation.resume(throwing: CancellationError())
            case .arrived(_, let continuation): continuation.resume(throwing: CancellationError())
            case .ended: break
            }
        }
    }

    private struct State {
        var events: [Event] = []
        var isOver = false
    }

    /// How often an interruption is looked for, in milliseconds.
    private static let pause = 100

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// The request's body, as the thread gives it.
    var upload: SessionBytes { Upload(exchange: self) }

    private struct Upload: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let exchange: StreamedExchange

        func makeAsyncIterator() -> Upload { self }

        func next() async throws -> [UInt8]? {
            try await withCheckedThrowingContinuation { exchange.add(.wanted($0)) }
        }
    }

    /// Gives the thread bytes of the answer, and returns when it is done with them.
    func deliver(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { add(.arrived(bytes, $0)) }
    }

    /// Ends the wait.
    func end(_ result: Result<Void, any Error>) {
        add(.ended(result))
    }

    private func add(_ event: Event) {
        let isOver = state.withLock { state in
            if !state.isOver { state.events.append(event) }
            return state.isOver
        }
        if isOver { event.refuse() } else { arrivals.signal() }
    }

    /// Serves the task's requests until it has ended. A closure that throws cancels the task.
    func wait(
        upload: (() throws -> [UInt8]?)?, interruption: (() -> (any Error)?)?, consume: ([UInt8]) throws -> Void,
        cancel: () -> Void
    ) throws {
        var failure: (any Error)?
        func fail(_ error: any Error) {
            failure = error
            cancel()
        }
        while true {
            let timeout: DispatchTime = interruption == nil ? .distantFuture : .now() + .milliseconds(Self.pause)
            guard arrivals.wait(timeout: timeout) == .success else {
                if failure == nil, let error = interruption?() { fail(error) }
                continue
            }
            let event = state.withLock { $0.events.removeFirst() }
            if case .ended(let result) = event {
                finish()
                if let failure { throw failure }
                return try result.get()
            }
            guard failure == nil else {
                event.refuse()
                continue
            }
            do {
                switch event {
                case .wanted(let continuation): continuation.resume(returning: try upload?())
                case .arrived(let bytes, let continuation):
                    try consume(bytes)
                    continuation.resume()
                case .ended: break
                }
            } catch {
                event.refuse()
                fail(error)
            }
        }
    }

    /// Rejects all requests from now on.
    private func finish() {
        let rest = state.withLock { state in
            defer { state = State(events: [], isOver: true) }
            return state.events
        }
        for event in rest { event.refuse() }
    }
}

/// The access token by which a service recognizes the caller, from a file that only its owner can read.
struct ServiceTokenFile {
    /// More than any access token has.
    private static let sizeLimit = 4096

    private let secret: Secret

    /// Reads the token.
    init(_ path: String) throws {
        var bytes = try InputFile(path).contents(limit: ServiceTokenFile.sizeLimit)
        // A pipe has no modes that matter.
        guard PrivateFile.isPrivate(path) || FileSystem.isSpecial(path) else {
            throw CommandFailure(
                .keyExposed, "\(path): other users can read the access token; run: chmod 600 '\(path)'")
        }
        while let last = bytes.last, InputFile.isWhiteSpace(last) { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure(.tokenInputInvalid, "\(path): this file contains no access token")
        }
        secret = Secret(bytes)
    }

    /// The access token, which is no longer protected.
    var exposedToken: String { secret.exposedText ?? "" }
}

extension SessionClientError {
    /// Whether the service answered with the problem of a failure.
    func has(_ failure: FailureKind) -> Bool { problem?.code == failure.code }
}

extension CommandFailure {
    /// Converts a service's problem to that of the command: a failure that can also occur on a file has the same
    /// sentence and status.
    init(_ error: SessionClientError) {
        guard let problem = error.problem else {
            switch error.code {
            case .addressInvalid: self.init(.urlInvalid, error.description)
            case .incompatible: self.init(.serviceIncompatible, error.description)
            case .unreachable, .refused: self.init(.serviceUnavailable, error.description)
            }
            return
        }
        let place = error.address.map { "\($0): " } ?? ""
        if problem.code == FailureKind.tokenMissing.code {
            self.init(
                .serviceRefused,
                "\(place)the service requires an access token; name its file with --service-token-file or "
                    + "CRUMB_SERVICE_TOKEN_FILE")
            return
        }
        // An internal error of the service is not one of the command.
        let known = FailureKind(rawValue: problem.code)
        let failure = known == .internalError ? .serviceUnavailable : known ?? .serviceUnavailable
        switch failure.exitStatus {
        case FailureKind.serviceRefused.exitStatus: self.init(.serviceRefused, error.description)
        case FailureKind.serviceUnavailable.exitStatus: self.init(.serviceUnavailable, error.description)
        case FailureKind.serviceIncompatible.exitStatus:
            self.init(
                .serviceIncompatible, "\(place)the service has another version of crumb: \(problem.detail)")
        default: self.init(advising: failure, problem.detail)
        }
    }
}
