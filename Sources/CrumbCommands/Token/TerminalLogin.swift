import Dispatch
import OAuth2
import OAuth2Login
import Platform
import SessionOperations
import SessionStore
import Synchronization

/// Logs in at a server by one of the flows, and shows the user each step.
struct TerminalLogin {
    private let flow: LoginFlow
    private let access: TokenAccess
    private let console: Console

    init(_ flow: LoginFlow, _ access: TokenAccess, _ console: Console) {
        self.flow = flow
        self.access = access
        self.console = console
    }

    /// The way in which the user is told the next step.
    struct Presentation {
        /// Whether a browser is opened. The user gets the URL in any case.
        var opensBrowser = true
        /// How a terminal shows the address of a login on another device as a QR code; `nil` for not at all.
        var qrCode: TerminalQRCode.Style?
        /// Whether the page to log in on, or the code for another device, is printed as an object on standard output.
        var printsJSON = false
        /// How many seconds the user may take; `nil` for 300, or on another device for as long as the code is valid.
        var timeout: Int?
    }

    /// Logs in, and stores the tokens.
    func run(_ presentation: Presentation) throws -> StoredToken {
        let store = access.store
        return switch flow.plan.credentials.settings.grant {
        case .clientCredentials, .jwtBearer, .tokenExchange: try keep(try withoutUser(), in: store)
        case .deviceCode: try keep(try onAnotherDevice(presentation), in: store)
        case .authorizationCode, .imported: try inBrowser(presentation, in: store)
        }
    }

    /// The tokens of a grant that needs no user.
    private func withoutUser() throws -> TokenSet {
        try Blocking.run { [flow, access] in
            try await flow.tokensWithoutUser { try await access.refresher.token($0).tokens }
        }
    }

    /// Stores the tokens of the login. On a terminal, asks before one account takes the name of another's.
    ///
    /// - Parameter willAsk: Runs before the terminal asks.
    private func keep(
        _ tokens: TokenSet, in store: TokenStore, beforeAsking willAsk: @escaping @Sendable () -> Void = {}
    ) throws -> StoredToken {
        let (flow, console) = (flow, console)
        return try Blocking.run {
            try await flow.keep(
                tokens, in: store,
                replacing: { change in
                    console.confirm("\(change.description).\nReplace it?", beforeAsking: willAsk) ?? false
                })
        }
    }

    /// Runs `body`, and once more after a login if it fails because the user has to log in.
    ///
    /// The login goes as the last one under the name. Tokens of a service are not the command's to log in for.
    static func loggingInIfRequired<Value>(
        _ name: String, _ database: DatabaseOptions, _ console: Console, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch let error as TokenRefreshError where [.loginRequired, .tokenExpired].contains(error.code) {
            guard let store = try database.openExisting(now: console.now, durability: .full)?.tokens,
                try store.credentials(name)?.settings.grant != .imported
            else { throw error }
            let access = try TokenAccess(store, clock: console.clock)
            console.ask(error.commandDescription)
            let flow = try Blocking.run { try await access.flow(TokenLoginRequest(name: name)) }
            _ = try TerminalLogin(flow, access, console).run(Presentation())
            return try body()
        }
    }

    // MARK: - On another device

    /// Shows the user the code and the address to enter it at, and waits.
    private func onAnotherDevice(_ presentation: Presentation) throws -> TokenSet {
        let flow = flow
        let device = try Blocking.run { try await flow.deviceAuthorization() }
        let report = DeviceLoginReport(
            verificationURI: device.verificationURI, verificationURIComplete: device.verificationURIComplete,
            userCode: device.userCode, expires: device.expiry.rfc3339)
        try TerminalLogin.show(report, presentation, on: console)
        return try Blocking.run {
            try await flow.tokens(confirmed: device, within: presentation.timeout, clock: ContinuousClock())
        }
    }

    /// Shows the user the code and the address to enter it at. For a user at a terminal, opens a browser here and
    /// copies the code.
    static func show(_ device: DeviceLoginReport, _ presentation: Presentation, on console: Console) throws {
        if presentation.printsJSON {
            try console.writeJSON(device)
        } else {
            // A user who logs in needs to see this, even with --quiet.
            console.ask("Open \(shown(device.verificationURI)) and enter the code \(shown(device.userCode))")
            if let complete = device.verificationURIComplete { console.ask("or open \(shown(complete))") }
            if let qrCode = presentation.qrCode {
                TerminalQRCode.show(device.verificationURIComplete ?? device.verificationURI, qrCode)
            }
            if presentation.opensBrowser, isatty(STDERR_FILENO) == 1 { offer(device, on: console) }
        }
    }

    /// Copies the code and opens the page for a user at this machine. The code was shown, so failures do not matter.
    private static func offer(_ device: DeviceLoginReport, on console: Console) {
        if let code = device.copiedCode, Clipboard.copy(code) { console.ask("The code is on the clipboard.") }
        // The page without the code: the address to open is in the program's arguments, which every user can read.
        let page = device.verificationURI
        // The server names the page; start no program but a browser with it.
        guard let url = try? RequestURL(page), url.scheme == .https || url.scheme == .http && url.host.isLoopback
        else { return }
        // The page was shown: a missing browser needs no message.
        WebBrowser.open(page) {}
    }

    // MARK: - In a browser

    /// Shows the user the page to log in on, and opens it in a browser if that is wanted.
    ///
    /// - Returns: Whether the user may paste the URL that the browser ended at.
    static func offer(
        _ url: String, _ redirect: LoopbackRedirect, _ presentation: Presentation, on console: Console
    ) throws -> Bool {
        let opensBrowser = presentation.opensBrowser
        // In any case: a program that opens a browser may fail silently.
        if presentation.printsJSON {
            try console.writeJSON(["authorizationURL": url])
        } else {
            console.ask("\(opensBrowser ? "If no browser opens, open" : "Open") this page in a browser:\n\(url)")
        }
        let readsInput = !opensBrowser || isatty(STDIN_FILENO) == 1
        if readsInput { console.ask("If the browser cannot return, paste the URL that it was redirected to.") }
        if opensBrowser {
            WebBrowser.open(redirect.opening) {
                console.error(
                    "no browser could be opened; open the page yourself, or set BROWSER to the command of a browser")
            }
        }
        return readsInput
    }

    /// Sends the user to the server in a browser, waits until the browser comes back, and stores the tokens.
    ///
    /// The browser's request stays open in the meantime, so that the page can show whether the login succeeded.
    private func inBrowser(_ presentation: Presentation, in store: TokenStore) throws -> StoredToken {
        let flow = flow
        let redirect = try LoopbackRedirect(terminal: flow.plan.credentials.settings.redirectURI)
        let redirectURI = redirect.redirectURI
        var generator = SystemRandomNumberGenerator()
        let attempt = AuthorizationAttempt(using: &generator)
        let url = try Blocking.run {
            try await flow.exposedAuthorizationURL(for: attempt, comingBackTo: redirectURI)
        }
        redirect.offer(url)
        let readsInput = try TerminalLogin.offer(url, redirect, presentation, on: console)
        let end = ContinuousClock.now + .seconds(presentation.timeout ?? 300)
        let arrival = redirect.arrival(until: end, readsInput: readsInput) { target in
            flow.isEnded(by: target, of: attempt, comingBackTo: redirectURI)
        }
        guard let arrival else { throw CommandFailure(.loginFailed, "the login timed out; log in again") }
        return try arrival.finish {
            let tokens = try Blocking.run {
                try await flow.tokens(redirectedTo: arrival.target, of: attempt, comingBackTo: redirectURI)
            }
            return try keep(tokens, in: store) { arrival.finish(.question) }
        }
    }
}

extension LoopbackRedirect {
    /// Listens at a redirect URI, or at a free port, and tells the user at the terminal what arrives besides.
    convenience init(terminal uri: String?) throws {
        try self.init(uri ?? LoopbackRedirect.defaultURI) { Console.writeError("crumb: \($0)") }
    }
}

extension LoopbackRedirect.Arrival {
    /// Runs the end of the login, and shows its result to the user.
    func finish<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            let value = try body()
            finish(.done)
            return value
        } catch {
            finish(.failed(reason: CommandFailure(of: error)?.message ?? "see the terminal"))
            throw error
        }
    }
}

/// The step that the user has to take on another device, in JSON, as the service reports it.
struct DeviceLoginReport: Codable {
    let verificationURI: String
    let verificationURIComplete: String?
    let userCode: String
    let expires: String

    /// The longest code that is copied. RFC 8628, section 6.1 has one of nine characters as its example.
    private static let longestCopiedCode = 32

    /// The code as the clipboard gets it; `nil` if it is nothing that a person would type.
    ///
    /// The server chooses it, and a user may paste it into another window, such as a shell: only letters, digits and
    /// hyphens are copied.
    var copiedCode: String? {
        let isCode =
            (1...DeviceLoginReport.longestCopiedCode).contains(userCode.utf8.count)
            && userCode.allSatisfy { $0 == "-" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isCode ? userCode : nil
    }
}

/// Waits for asynchronous code in a synchronous command.
enum Blocking {
    /// Runs `body` on other threads and waits for its end.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Mutex<Result<Value, any Error>?>(nil)
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            end.signal()
        }
        end.wait()
        guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
