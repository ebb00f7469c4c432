#if canImport(AuthenticationServices)
    public import AuthenticationServices
    public import Foundation

    /// The system's window for logins, as what opens the page of a `TokenLogin` of `OAuth2Login`.
    ///
    /// ```swift
    /// let browser = WebAuthenticationBrowser(callback: .customScheme("shopapp"), over: window)
    /// let stored = try await login.run(storingAs: "work", in: database.tokens) { url in try await browser.open(url) }
    /// ```
    @MainActor
    public final class WebAuthenticationBrowser: NSObject, ASWebAuthenticationPresentationContextProviding {
        /// Whether the window forgets the login at the server, so that the user enters the password each time.
        public var isEphemeral = false
        private let callback: ASWebAuthenticationSession.Callback
        private let anchor: ASPresentationAnchor
        /// The number of the present visit. The system may report the end of a former one late.
        private var visit = 0
        private var session: ASWebAuthenticationSession?
        private var continuation: CheckedContinuation<URL, any Error>?

        /// Creates a browser.
        ///
        /// - Parameters:
        ///   - callback: The scheme, or the `https` address, of the redirect URI.
        ///   - anchor: The app's window, over which that of the login appears.
        public init(callback: ASWebAuthenticationSession.Callback, over anchor: ASPresentationAnchor) {
            self.callback = callback
            self.anchor = anchor
        }

        /// Shows a page, and returns the URL that it redirects the app to.
        ///
        /// - Throws: `CancellationError` if the user closes the window, or if the task is cancelled.
        public func open(_ url: URL) async throws -> URL {
            // There is one window at a time.
            end(visit, .failure(CancellationError()))
            visit += 1
            let number = visit
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    self.continuation = continuation
                    let session = ASWebAuthenticationSession(
                        url: url, callback: callback, completionHandler: completion(of: number))
                    session.presentationContextProvider = self
                    session.prefersEphemeralWebBrowserSession = isEphemeral
                    self.session = session
                    guard session.start() else {
                        return end(number, .failure(ASWebAuthenticationSessionError(.presentationContextInvalid)))
                    }
                }
            } onCancel: {
                Task { @MainActor in end(number, .failure(CancellationError())) }
            }
        }

        /// What the system calls at the end of a visit, on any thread.
        private func completion(of number: Int) -> @Sendable (URL?, (any Error)?) -> Void {
            { [weak self] url, error in
                let isCancelled = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                let failure: any Error = isCancelled ? CancellationError() : error ?? CancellationError()
                let result = url.map { Result<URL, any Error>.success($0) } ?? .failure(failure)
                Task { @MainActor in self?.end(number, result) }
            }
        }

        /// Ends a visit if it is the present one.
        private func end(_ number: Int, _ result: Result<URL, any Error>) {
            guard number == visit else { return }
            session?.cancel()
            session = nil
            continuation.take()?.resume(with: result)
        }

        /// The window over which that of the login appears.
        public func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
    }
#endif
