import Platform
import SessionOperations
import Synchronization

/// How far reading or loading has come: a line on the terminal, ten times a second.
struct ImportProgress {
    private static let interval = Duration.milliseconds(100)

    private let name: String
    private let total: Int?
    private let isShown: Bool
    private let clock = ContinuousClock()
    private let started: ContinuousClock.Instant
    private var shown: ContinuousClock.Instant
    private var hasLine = false

    /// - Parameters:
    ///   - total: how many bytes there are; `nil` if that is not known.
    ///   - isShown: whether there is someone to look.
    init(name: String, total: Int?, isShown: Bool) {
        // The line goes to the terminal as it is.
        self.name = SessionOperations.shown(name)
        self.total = total
        self.isShown = isShown
        started = clock.now
        shown = started
    }

    /// Whether standard error is a terminal.
    static var hasTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Shows how many bytes were read, and how many entries and cookies they contained.
    mutating func show(bytes: Int, entries: Int, cookies: Int) {
        guard let seconds = secondsWhenDue() else { return }
        write(
            "\r\u{1B}[K"
                + ImportProgress.line(
                    name: name, bytes: bytes, total: total, entries: entries, cookies: cookies, seconds: seconds))
    }

    /// Shows how many bytes were compared with earlier imports.
    mutating func show(comparedBytes bytes: Int) {
        guard secondsWhenDue() != nil else { return }
        let share = total.map { $0 > 0 ? " \(Int(min(Double(bytes) / Double($0), 1) * 100)) %," : "" } ?? ""
        write("\r\u{1B}[K\(name):\(share) \(bytes / 1_000_000) MB compared with earlier imports")
    }

    /// Shows how many responses and octets of a page have come, and how many requests wait.
    mutating func show(responses: Int, bytes: Int, waiting: Int) {
        guard secondsWhenDue() != nil else { return }
        write(
            "\r\u{1B}[K\(name): \(counted(responses, "response")), \(bytes / 1_000_000) MB, \(waiting) waiting")
    }

    /// The seconds since the start; `nil` if it is too early for the next line.
    private mutating func secondsWhenDue() -> Double? {
        guard isShown else { return nil }
        let now = clock.now
        guard now - shown >= Self.interval else { return nil }
        shown = now
        hasLine = true
        return (now - started) / .seconds(1)
    }

    /// Takes the line away.
    mutating func finish() {
        if hasLine { write("\r\u{1B}[K") }
        hasLine = false
    }

    private func write(_ text: String) {
        try? Console.write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// `capture.har: 45 %, 900 of 2000 MB, 1234 entries, 567 cookies, 12 s left`.
    static func line(
        name: String, bytes: Int, total: Int?, entries: Int, cookies: Int, seconds: Double
    ) -> String {
        let megabytes = bytes / 1_000_000
        let found = "\(entries) entries, \(cookies) cookies"
        guard let total, total > 0 else { return "\(name): \(megabytes) MB, \(found)" }
        let share = min(Double(bytes) / Double(total), 1)
        let left = share > 0 ? seconds / share - seconds : 0
        return "\(name): \(Int(share * 100)) %, \(megabytes) of \(total / 1_000_000) MB, \(found), "
            + "\(Int(left.rounded(.up))) s left"
    }
}

/// Control-C while something is under way that is worth finishing in part.
enum Interruption {
    private static let wasRequested = Atomic<Bool>(false)

    /// Whether it was pressed.
    static var isRequested: Bool { wasRequested.load(ordering: .relaxed) }

    /// Listens from now on. A second Control-C ends the process, as it does everywhere.
    static func listen() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in Interruption.wasRequested.store(true, ordering: .relaxed) }
        // Without SA_RESTART, so that a pipe that nothing comes out of is not waited for.
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
        sigaction(SIGINT, &action, nil)
    }
}
