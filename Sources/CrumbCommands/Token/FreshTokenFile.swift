import CookieModel
import Foundation
import SessionOperations
import SessionStore
import Synchronization

/// Where a command gets one kind of token of one login.
struct TokenSource {
    let database: DatabaseOptions
    let login: String
    let skew: Int
    let refresh: RefreshOptions
    let wantsIDToken: Bool
    let clock: CommandClock

    /// A valid token, renewed if it is due, and when it ends.
    ///
    /// - Parameter console: Where a note goes if the token is the last one of its login.
    func token(_ console: Console? = nil) throws -> (text: String, end: Timestamp?) {
        let tokens = try TokenPlace(database, refresh: refresh, clock: clock)
        func end(_ expires: String?) -> Timestamp? { expires.flatMap { Timestamp(rfc3339: $0.utf8) } }
        if wantsIDToken {
            let report = try tokens.idToken(of: login, skew: skew)
            return (report.idToken, end(report.expires))
        }
        let report = try tokens.accessToken(of: login, AccessTokenDocument(skew: skew))
        if let console { report.noteIfLast(of: login, console) }
        return (report.accessToken, end(report.expires))
    }
}

/// A file with a valid token for as long as a command runs. Only its owner can read it, and it is in memory if the
/// system has a folder for that.
///
/// `@unchecked` because the compiler cannot see that `condition` guards the mutable state, which the renewing thread and the
/// command share.
final class FreshTokenFile: @unchecked Sendable {
    /// How long a token is believed without another look, in seconds: others renew it too, and clocks jump.
    private static let longestPause: Int64 = 60

    let path: String
    private let folder: PrivateFolder
    private let source: TokenSource
    private let console: Console
    /// Guards the state below. Not held while a token is renewed: a slow server must not keep the file from being
    /// removed.
    private let condition = NSCondition()
    private var isClosed = false

    /// Writes the file and keeps it fresh from now on.
    init(_ first: (text: String, end: Timestamp?), from source: TokenSource, console: Console) throws {
        folder = try PrivateFolder(.token)
        path = "\(folder.path)/token"
        (self.source, self.console) = (source, console)
        try write(first.text)
        Thread.detachNewThread { [self] in keepFresh(first) }
    }

    /// Removes the file and ends the renewals. One whose request was sent is waited for, no longer than its server has time:
    /// only its answer has the new refresh token.
    func close() throws {
        condition.withLock {
            isClosed = true
            condition.signal()
            folder.remove()
        }
        let limit = try RefreshOptions.seconds(source.refresh.refreshTimeout)
        SignalDeferral.awaitExchanges(upTo: TimeInterval(limit)) {
            console.note(
                "the command has ended; crumb waits up to \(limit) seconds for the response to the refresh "
                    + "of '\(source.login)', to store the new tokens")
        }
    }

    private func keepFresh(_ first: (text: String, end: Timestamp?)) {
        var (text, end) = first
        var lastComplaint: String?
        while sleep(until: end) {
            do {
                let next = try source.token()
                if next.text != text { try write(next.text) }
                (text, end, lastComplaint) = (next.text, next.end, nil)
            } catch {
                let sentence = CommandFailure(of: error)?.message ?? "\(error)"
                // Once, and only while there is a file.
                if sentence != lastComplaint, condition.withLock({ !isClosed }) {
                    console.error("\(sentence). The file still has the last token")
                }
                lastComplaint = sentence
            }
        }
    }

    /// Waits until the token is due for another look.
    ///
    /// - Returns: `false` if the file was closed.
    private func sleep(until end: Timestamp?) -> Bool {
        let date = Date(timeIntervalSinceNow: Double(pause(end)))
        return condition.withLock {
            while !isClosed, condition.wait(until: date) {}
            return !isClosed
        }
    }

    /// How many seconds to wait before the next look.
    private func pause(_ end: Timestamp?) -> Int64 {
        guard let end else { return FreshTokenFile.longestPause }
        let now = source.clock()
        let left = ExecCredential.renewal(end: end, skew: source.skew, now: now).seconds - now.seconds
        return min(max(1, left), FreshTokenFile.longestPause)
    }

    private func write(_ token: String) throws {
        let failure = condition.withLock { isClosed ? 0 : PrivateFile.replace(Array(token.utf8), at: path) }
        guard failure == 0 else { throw CommandFailure.notWritten(path, failure) }
    }
}

/// Passes signals on to the command that runs in crumb's place.
enum SignalForwarding {
    private static let child = Atomic<Int32>(0)
    /// A signal that came before the command was there.
    private static let pending = Atomic<Int32>(0)

    private static let depth = Atomic<Int>(0)
    private static let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2]

    /// Whether signals are passed on, so that none ends this process.
    static var isActive: Bool { depth.load(ordering: .acquiring) > 0 }

    /// Takes signals from now on, until ``end()`` was called as often.
    static func begin() {
        guard depth.add(1, ordering: .acquiringAndReleasing).newValue == 1 else { return }
        for number in numbers {
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = { number, information, _ in
                let child = SignalForwarding.child.load(ordering: .acquiring)
                if child == 0 {
                    SignalForwarding.pending.store(number, ordering: .releasing)
                } else if let information, information.pointee.si_code <= 0 {
                    // The command gets the terminal's signals, too.
                    kill(child, number)
                }
            }
            action.sa_flags = Int32(bitPattern: UInt32(SA_SIGINFO)) | Int32(bitPattern: UInt32(SA_RESTART))
            sigaction(number, &action, nil)
        }
    }

    /// Stops passing signals on: the process has ended, and another one may have its number.
    static func end() {
        child.store(0, ordering: .releasing)
        guard depth.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Passes them on to a process from now on.
    static func forward(to process: pid_t) {
        child.store(process, ordering: .releasing)
        let number = pending.exchange(0, ordering: .acquiringAndReleasing)
        if number > 0 { kill(process, number) }
    }
}
