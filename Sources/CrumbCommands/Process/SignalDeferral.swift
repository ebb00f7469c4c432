import Dispatch
import Platform
import Synchronization

/// Holds back the signals that end a program while a server's answer to a refresh is on its way.
///
/// A server that rotates refresh tokens has ended the stored one when it answers.
enum SignalDeferral {
    /// Control-C, `kill`, a closed terminal, and Control-\.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let notice: StaticString =
        "crumb: a login is being renewed; crumb stops as soon as the server's response is stored\n"
    private static let stakes: StaticString = """
        crumb: the server may already have replaced the refresh token. If crumb stops before the new one is stored, you may \
        have to log in again. It stops by itself when the response is stored, or when the refresh times out. \
        Press Control-C once more to stop now

        """

    /// The first signal that came; 0 for none.
    private static let pending = Atomic<Int32>(0)
    private static let interrupts = Atomic<Int>(0)
    private static let installed = Mutex(Installed())

    private struct Installed {
        var depth = 0
        var previous: [(signal: Int32, handler: sighandler_t?)] = []
    }

    #if canImport(Darwin)
        private typealias sighandler_t = @convention(c) (Int32) -> Void
    #endif

    /// Runs `body` to its end. A signal that came in the meantime takes effect then.
    ///
    /// The second Control-C prints what would be lost; the third one ends the program at once. Signals that the program
    /// ignored before stay ignored.
    ///
    /// - Throws: `CancellationError` if this process ends and no exchange may begin.
    static func run<Value>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try UnfinishedExchanges.all.begin()
        defer { UnfinishedExchanges.all.end() }
        // The command that crumb runs gets the signals, and crumb goes on until that has ended.
        guard !SignalForwarding.isActive else { return try await body() }
        begin()
        defer { end() }
        return try await body()
    }

    /// Waits for the exchanges under way, and allows no new ones. A signal that comes meanwhile takes effect then.
    ///
    /// - Parameters:
    ///   - limit: How long to wait.
    ///   - notice: Runs if the wait is longer than a moment.
    static func awaitExchanges(upTo limit: Double, _ notice: () -> Void) {
        begin()
        defer { end() }
        guard !UnfinishedExchanges.all.finish(within: min(1, limit)) else { return }
        notice()
        _ = UnfinishedExchanges.all.finish(within: limit)
    }

    private static func begin() {
        installed.withLock { installed in
            installed.depth += 1
            guard installed.depth == 1 else { return }
            pending.store(0, ordering: .relaxed)
            interrupts.store(0, ordering: .relaxed)
            for number in signals {
                let previous = signal(number, { SignalDeferral.hold($0) })
                if isIgnoring(previous) {
                    signal(number, SIG_IGN)
                } else {
                    installed.previous.append((number, previous))
                }
            }
        }
    }

    private static func end() {
        installed.withLock { installed in
            installed.depth -= 1
            guard installed.depth == 0 else { return }
            takePending(installed.previous.map(\.signal))
            for (number, handler) in installed.previous { signal(number, handler) }
            installed.previous = []
            let number = pending.load(ordering: .relaxed)
            guard number != 0 else { return }
            // Not by a handler such as Swift's own, which takes SIGQUIT for a crash.
            signal(number, SIG_DFL)
            kill(getpid(), number)
        }
    }

    /// Holds the signals that were sent and that no thread has taken yet: their handler is about to change.
    private static func takePending(_ numbers: [Int32]) {
        #if os(Linux)
            var set = sigset_t()
            sigemptyset(&set)
            for number in numbers { sigaddset(&set, number) }
            var former = sigset_t()
            pthread_sigmask(SIG_BLOCK, &set, &former)
            var noTime = timespec()
            while true {
                let number = sigtimedwait(&set, nil, &noTime)
                guard number > 0 else { break }
                hold(number)
            }
            pthread_sigmask(SIG_SETMASK, &former, nil)
        #endif
    }

    /// The handler: nothing here may allocate or lock.
    private static func hold(_ number: Int32) {
        let before = errno
        defer { errno = before }
        let isFirst = pending.compareExchange(expected: 0, desired: number, ordering: .relaxed).exchanged
        if isFirst { say(notice) }
        // `timeout` sends its signal twice, so only Control-C counts.
        guard number == SIGINT else { return }
        let count = interrupts.add(1, ordering: .relaxed).newValue
        if count == 2 { say(stakes) }
        if count > 2 {
            signal(SIGINT, SIG_DFL)
            kill(getpid(), SIGINT)
        }
    }

    private static func say(_ text: StaticString) {
        _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
    }

    private static func isIgnoring(_ handler: sighandler_t?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN as sighandler_t?, to: Int.self)
    }
}

/// The pending exchanges with servers whose responses this process has to store.
private final class UnfinishedExchanges: Sendable {
    static let all = UnfinishedExchanges()

    private let isFinishing = Mutex(false)
    private let exchanges = DispatchGroup()

    func begin() throws {
        try isFinishing.withLock { isFinishing in
            guard !isFinishing else { throw CancellationError() }
            exchanges.enter()
        }
    }

    func end() {
        exchanges.leave()
    }

    /// Waits until no exchange is under way. None begins from now on.
    ///
    /// - Returns: Whether the last one has ended within the time.
    func finish(within seconds: Double) -> Bool {
        isFinishing.withLock { $0 = true }
        return exchanges.wait(wallTimeout: .now() + seconds) == .success
    }
}
