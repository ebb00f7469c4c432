import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a ``DecoratedURLSession``'s URLSession: passes what comes to the transfers, and asks and informs the
/// app's delegate. No redirect is followed: each is a response.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private struct Entry {
        weak var transfer: Transfer?
    }

    private let app: (any URLSessionDelegate)?
    private let transfers = Mutex<[Int: Entry]>([:])

    init(_ app: (any URLSessionDelegate)?) {
        self.app = app
    }

    /// Passes the response of a task to its transfer from now on.
    func add(_ transfer: Transfer, for task: URLSessionTask) {
        transfers.withLock { $0[task.taskIdentifier] = Entry(transfer: transfer) }
    }

    /// The transfer of a task; `nil` if it is gone and the task is cancelled.
    private func transfer(of task: URLSessionTask) -> Transfer? {
        transfers.withLock { $0[task.taskIdentifier]?.transfer }
    }

    // MARK: - What comes

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            transfer(of: task)?.unlessEnded { completionHandler(nil) }
        #else
            completionHandler(nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
        #if canImport(FoundationNetworking)
            (app as? any URLSessionDataDelegate)?.urlSession(session, dataTask: dataTask, didReceive: data)
        #else
            (app as? any URLSessionDataDelegate)?.urlSession?(session, dataTask: dataTask, didReceive: data)
        #endif
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let entry = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        // Foundation on Linux reports no response with the status of a redirect that has no Location.
        entry?.transfer?.end(error, response: task.response)
    }

    // MARK: - The app's delegate

    private var taskDelegate: (any URLSessionTaskDelegate)? { app as? any URLSessionTaskDelegate }

    #if canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let transfer = transfer(of: task) else { return }
            // Foundation stops the program at a credential for another method.
            let takesCredential = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
            let answer: @Sendable (URLCredential?) -> Void = { credential in
                // It asks after the body, and waits forever if there is no credential.
                guard let credential, takesCredential else { return transfer.stop() }
                transfer.repeatUnlessEnded { completionHandler(.useCredential, credential) }
            }
            // That of the configuration's storage, unless it was used last.
            let stored = challenge.proposedCredential
            guard let taskDelegate else { return answer(stored) }
            taskDelegate.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
                switch disposition {
                case .useCredential: answer(credential)
                case .performDefaultHandling: answer(stored)
                case .cancelAuthenticationChallenge: transfer.cancel()
                case .rejectProtectionSpace: transfer.stop()
                }
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            transfer(of: task)?.noteSent(totalBytesSent, of: totalBytesExpectedToSend)
            taskDelegate?.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            taskDelegate?.urlSession(session, task: task, didFinishCollecting: metrics)
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            app?.urlSession(session, didBecomeInvalidWithError: error)
        }
    #else
        /// The methods that a session asks its own delegate about, before that of a task.
        private static let sessionMethods = [
            NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodNTLM,
        ]

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            if SessionDelegate.sessionMethods.contains(challenge.protectionSpace.authenticationMethod),
                app?.urlSession?(session, didReceive: challenge, completionHandler: completionHandler) != nil
            {
                return
            }
            if taskDelegate?.urlSession?(
                session, task: task, didReceive: challenge, completionHandler: completionHandler) != nil
            {
                return
            }
            completionHandler(.performDefaultHandling, nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            taskDelegate?.urlSession?(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            taskDelegate?.urlSession?(session, task: task, didFinishCollecting: metrics)
        }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            taskDelegate?.urlSession?(session, didCreateTask: task)
        }

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            taskDelegate?.urlSession?(session, taskIsWaitingForConnectivity: task)
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            app?.urlSession?(session, didBecomeInvalidWithError: error)
        }
    #endif
}
