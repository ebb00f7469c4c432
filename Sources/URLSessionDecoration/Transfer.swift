import Foundation
import Platform
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The response to one task: its head, then its body in pieces, which wait for the reader.
///
/// The request is cancelled together with the Swift task that waits for it, and when its transfer is released.
final class Transfer: Sendable {
    /// How many bytes wait for the reader before the request is suspended.
    private static let limit = 1 << 20

    private struct State {
        var head: HTTPURLResponse?
        var pending = Data()
        var end: Result<Void, any Error>?
        var isSuspended = false
        /// Whether the whole file that is the request's body has been sent.
        var isFileSent = false
        /// How many bytes were sent before the request was repeated with a credential.
        var sentBefore: Int64 = 0
        /// The response whose challenge the credential answers. It is not that of the request.
        var challenge: HTTPURLResponse?
        /// Watches the file that is the request's body.
        var watch: Task<Void, Never>?
        var readers: [CheckedContinuation<Void, Never>] = []

        var hasHead: Bool {
            #if canImport(FoundationNetworking)
                // It asks for a password after the response with the challenge, and then goes on with another response.
                end != nil || head.map { $0.statusCode != 401 } ?? false
            #else
                end != nil || head != nil
            #endif
        }
        var hasPiece: Bool { end != nil || hasHead && !pending.isEmpty }
    }

    private let task: URLSessionTask
    private let session: OpenSession
    private let state = Mutex(State())

    /// Creates the transfer of a task that is not resumed yet. The session stays open until the transfer is released.
    init(_ task: URLSessionTask, in session: OpenSession) {
        self.task = task
        self.session = session
    }

    deinit {
        let (end, watch) = state.withLock { ($0.end, $0.watch) }
        watch?.cancel()
        if end == nil { task.cancel() }
    }

    // MARK: - The reader

    /// The head of the response.
    func head() async throws -> HTTPURLResponse {
        await wait(until: \.hasHead)
        return try state.withLock { state in
            // After the head, a failure is that of the body.
            if let head = state.head { return head }
            try state.end?.get()
            throw URLError(.badServerResponse)
        }
    }

    /// What has come of the body since the last call; `nil` at its end.
    func next() async throws -> Data? {
        // A reader that never has to wait would not notice.
        if Task.isCancelled {
            cancel()
            throw URLError(.cancelled)
        }
        await wait(until: \.hasPiece)
        return try state.withLock { state in
            guard !state.pending.isEmpty else {
                try state.end?.get()
                return nil
            }
            if state.isSuspended { task.resume() }
            state.isSuspended = false
            defer { state.pending = Data() }
            return state.pending
        }
    }

    /// The rest of the body; `nil` if it is longer than a limit.
    func data(upTo limit: Int = .max) async throws -> Data? {
        var data = Data()
        while let piece = try await next() {
            data.append(piece)
            if data.count > limit { return nil }
        }
        return data
    }

    private func wait(until isReady: (State) -> Bool) async {
        while !state.withLock({ isReady($0) }) {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        if isReady(state) { return false }
                        state.readers.append(continuation)
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                cancel()
            }
        }
    }

    // MARK: - The session

    /// Takes the head of a response, in place of an earlier one.
    func receive(_ response: URLResponse) {
        // Not an interim response, such as 103.
        guard let head = response as? HTTPURLResponse, head.statusCode >= 200 else { return }
        change { state in
            state.head = head
            state.pending = Data()
        }
    }

    /// Takes a piece of the body.
    func receive(_ data: Data) {
        change { state in
            state.pending.append(data)
            #if !canImport(FoundationNetworking)
                if state.pending.count > Transfer.limit, state.hasHead, !state.isSuspended {
                    state.isSuspended = true
                    task.suspend()
                }
            #endif
        }
    }

    /// Ends the body. Only the first end counts.
    ///
    /// - Parameter response: The response, if it has not been received.
    func end(_ error: (any Error)?, response: URLResponse? = nil) {
        change { state in
            // Foundation on Linux has an interim response here, or that with the challenge, if no other followed.
            if state.head == nil, let head = response as? HTTPURLResponse, head.statusCode >= 200,
                head !== state.challenge
            {
                state.head = head
            }
            state.end = error.map { .failure($0) } ?? .success(())
        }
    }

    /// Ends the body with what has come, and the request with it.
    ///
    /// - Parameter error: The error of the request.
    func stop(_ error: (any Error)? = nil) {
        end(error)
        task.cancel()
    }

    #if canImport(FoundationNetworking)
        /// Notes how much of the body has been sent, together with what was sent before a challenge.
        func noteSent(_ count: Int64, of size: Int64) {
            state.withLock { if count - $0.sentBefore == size { $0.isFileSent = true } }
        }

        /// Answers a challenge with a credential, with which Foundation sends the request again.
        func repeatUnlessEnded(_ answer: () -> Void) {
            state.withLock { state in
                guard state.end == nil else { return }
                (state.challenge, state.head, state.pending) = (state.head, nil, Data())
                (state.isFileSent, state.sentBefore) = (false, task.countOfBytesSent)
                answer()
            }
        }

        /// Stops the request if its file becomes too short before it is sent. Foundation on Linux waits for the rest of the
        /// file until the timeout.
        fileprivate func watch(_ file: URL) {
            // Opening a pipe must not wait for its writer.
            guard let file = try? Descriptor(opening: file.path, O_RDONLY | O_NONBLOCK) else { return }
            let size = lseek(file.number, 0, SEEK_END)
            let watch = Task.detached { [weak self] in
                defer { file.close() }
                while !Task.isCancelled {
                    // After a challenge, it is sent again.
                    if lseek(file.number, 0, SEEK_END) < size, self?.state.withLock({ !$0.isFileSent }) == true {
                        self?.stop(URLError(.requestBodyStreamExhausted))
                        return
                    }
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            state.withLock { $0.watch = watch }
        }
    #endif

    /// Cancels the request.
    func cancel() {
        change { state in
            // The cookies of a head that its reader has not taken yet are stored.
            if !state.hasHead { state.head = nil }
            state.pending = Data()
            state.end = .failure(URLError(.cancelled))
        }
        task.cancel()
    }

    /// Answers a question of the session. Foundation on Linux stops the program at an answer that comes after the
    /// cancellation, or after another answer.
    func unlessEnded(_ answer: () -> Void) {
        state.withLock { if $0.end == nil { answer() } }
    }

    /// Changes the state, unless the body has ended, and wakes the readers.
    private func change(_ update: (inout State) -> Void) {
        let readers = state.withLock { state in
            if state.end == nil { update(&state) }
            if state.end != nil { state.watch?.cancel() }
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resume() }
    }
}

/// A URLSession that ends with its last user. A validation in the background is one, and a body that is being read.
final class OpenSession: Sendable {
    private let session: URLSession
    private let delegate: SessionDelegate

    init(_ configuration: URLSessionConfiguration, delegate app: (any URLSessionDelegate)?) {
        delegate = SessionDelegate(app)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends a request.
    ///
    /// - Parameter file: The file that is its body; `nil` for the body of the request.
    func begin(_ request: URLRequest, file: URL? = nil) -> Transfer {
        let task: URLSessionTask =
            if let file { session.uploadTask(with: request, fromFile: file) } else { session.dataTask(with: request) }
        let transfer = Transfer(task, in: self)
        delegate.add(transfer, for: task)
        #if canImport(FoundationNetworking)
            if let file { transfer.watch(file) }
        #endif
        task.resume()
        return transfer
    }
}
