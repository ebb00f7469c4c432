import Foundation
import OAuth2
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request to an authorization server, as the delegate of its session.
final class EndpointExchange: NSObject, URLSessionDataDelegate {
    /// A response, with its body as far as it has come: a new refresh token in it is nowhere else, and the old one is
    /// over.
    struct Answer {
        let head: HTTPURLResponse
        let body: [UInt8]
    }

    /// The time to send a request was over before its body was sent.
    struct TooLate: Error {}

    /// How many bytes of a body are passed on.
    private static let bodyLimit = EndpointResponse.maximumBodySize + 1

    private struct State {
        var head: HTTPURLResponse?
        var body: [UInt8] = []
        var hasBegunSending = false
        /// Whether it was cancelled because the time to send the body was over.
        var isLate = false
        var result: Result<Answer, any Error>?
        var continuation: CheckedContinuation<Answer, any Error>?
    }

    private let state = Mutex(State())

    /// Whether the body of the request has been handed to the connection, so that the server may have received it.
    var hasBegunSending: Bool { state.withLock { $0.hasBegunSending } }

    /// Sends the request of a task.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for all of the answer.
    ///   - latestSending: The first moment that is too late for sending the body; `nil` for none.
    /// - Throws: Why nothing has come.
    func answer(
        of task: URLSessionTask, within timeout: Duration, by clock: any Clock<Duration>,
        sentBefore latestSending: ContinuousClock.Instant?
    ) async throws -> Answer {
        if let latestSending, ContinuousClock.now >= latestSending { throw TooLate() }
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.received(from: task) }
            group.addTask {
                try await clock.sleep(for: timeout)
                self.end(task, URLError(.timedOut))
                return nil
            }
            if let latestSending {
                group.addTask {
                    try await ContinuousClock().sleep(until: latestSending)
                    // The session may be handing the body over at this moment. Its last event tells.
                    let isLate = self.state.withLock { state in
                        if !state.hasBegunSending { state.isLate = true }
                        return state.isLate
                    }
                    if isLate { task.cancel() }
                    return nil
                }
            }
            while let answer = try await group.next() {
                if let answer { return answer }
            }
            throw CancellationError()
        }
    }

    private func received(from task: URLSessionTask) async throws -> Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { return continuation.resume(with: result) }
                task.resume()
            }
        } onCancel: {
            end(task, CancellationError())
        }
    }

    /// Ends the exchange with what has come so far, or with an error if nothing has. Only the first end counts.
    private func end(_ task: URLSessionTask, _ error: (any Error)?) {
        let ended = state.withLock { state -> (CheckedContinuation<Answer, any Error>?, Result<Answer, any Error>)? in
            guard state.result == nil else { return nil }
            let result: Result<Answer, any Error> =
                if let head = state.head, error == nil || !state.body.isEmpty {
                    .success(Answer(head: head, body: Array(state.body.prefix(EndpointExchange.bodyLimit))))
                } else {
                    .failure(error ?? URLError(.badServerResponse))
                }
            state.result = result
            return (state.continuation.take(), result)
        }
        guard let ended else { return }
        task.cancel()
        ended.0?.resume(with: ended.1)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        state.withLock { $0.hasBegunSending = true }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.head = response as? HTTPURLResponse }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isFull = state.withLock { state in
            if state.result == nil { state.body += data }
            return state.body.count >= EndpointExchange.bodyLimit
        }
        if isFull { end(dataTask, nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let isTooLate = error != nil && state.withLock { $0.isLate && !$0.hasBegunSending }
        end(task, isTooLate ? TooLate() : error)
    }
}
