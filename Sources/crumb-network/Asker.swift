import Foundation

/// The program that waits for an answer, and keeps standard input open for as long as it does.
enum Asker {
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
