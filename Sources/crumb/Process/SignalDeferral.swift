import Foundation
import NetworkHelper
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Holds back the signals that end a program while a server's answer to a refresh is on its way.
///
/// A server that rotates refresh tokens has ended the stored one when it answers. A terminal, `timeout`, git or kubectl
/// signals the whole process group, so every program that takes part has to hold the signals back.
enum SignalDeferral {
    private static let notice: StaticString =
        "crumb: a login is being renewed; crumb stops as soon as the server's answer is stored\n"
    private static let stakes: StaticString = """
        crumb: the server may already have replaced the refresh token. If crumb stops before the new one is stored, you may \
        have to log in again. It stops by itself when the answer is stored, or when the timeout of the refresh is over. \
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

    /// Runs `body` to its end. A signal that came meanwhile takes effect then.
    ///
    /// The second Control-C says what is at stake; the third one ends the program at once. Signals that the program ignored
    /// before stay ignored.
    static func run<Value>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        // The command that crumb runs gets the signals, and crumb goes on until that has ended.
        guard !SignalForwarding.isActive else { return try await body() }
        begin()
        defer { end() }
        return try await body()
    }

    private static func begin() {
        installed.withLock { installed in
            installed.depth += 1
            guard installed.depth == 1 else { return }
            pending.store(0, ordering: .relaxed)
            interrupts.store(0, ordering: .relaxed)
            for number in ExchangeQuestion.deferredSignals {
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
            for (number, handler) in installed.previous { signal(number, handler) }
            installed.previous = []
            let number = pending.load(ordering: .relaxed)
            guard number != 0 else { return }
            // Not by a handler such as Swift's own, which takes SIGQUIT for a crash.
            signal(number, SIG_DFL)
            kill(getpid(), number)
        }
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
