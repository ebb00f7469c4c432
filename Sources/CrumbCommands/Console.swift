import ArgumentParser
import OAuth2
import OAuth2Login
import OfflinePackages
import Platform
import RequestDecoration
import SessionClient
package import SessionOperations
import SessionStore
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The clock of a command.
typealias CommandClock = @Sendable () -> Timestamp

/// The surroundings of a command: data goes to standard output, messages go to standard error, and time comes from a clock.
struct Console {
    /// The surroundings of the running command, for what happens below it.
    @TaskLocal static var current = Console()

    /// Whether messages other than errors are omitted.
    var isQuiet = false

    /// Whether errors and notes are JSON.
    var isJSON = false

    /// Where notes wait until another program has written its own messages; `nil` to print each at once.
    var heldNotes: HeldNotes?

    /// The clock. No other code of the command reads the system's.
    var clock: CommandClock = { .now }

    /// The current time.
    var now: Timestamp { clock() }

    /// Whether standard output is a terminal.
    var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes data as it is.
    func write(_ bytes: some Collection<UInt8>) throws {
        try Console.write(Array(bytes), to: STDOUT_FILENO)
    }

    /// Writes a line, or several, for a person. Control characters are made visible, as in messages: names of files,
    /// and text from servers, must not reach a terminal as commands.
    ///
    /// - Parameter colors: The colors of lines on a terminal, as parameters of SGR (ECMA-48, section 8.3.117), by the words
    ///   that a line begins with. Two spaces follow them.
    func writeLine(_ text: String, colors: [String: Int] = [:]) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = shown(String(line))
            guard outputIsTerminal, let end = line.firstRange(of: "  "),
                let color = colors[String(line[..<end.lowerBound])]
            else { return line }
            return "\u{1B}[\(color)m\(line[..<end.lowerBound])\u{1B}[0m\(line[end.lowerBound...])"
        }
        try write(Array("\(lines.joined(separator: "\n"))\n".utf8))
    }

    /// Writes a value as one line of JSON, keys in order.
    ///
    /// - Parameter toStandardError: whether it goes to standard error, since standard output has data of another kind.
    func writeJSON(_ value: some Encodable, toStandardError: Bool = false) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
        try Console.write(line, to: toStandardError ? STDERR_FILENO : STDOUT_FILENO)
    }

    /// Writes a result: as JSON with `--json`, otherwise by `text`.
    func report<Value: Encodable>(_ result: @autoclosure () throws -> Value, text: () throws -> Void) throws {
        if isJSON { try writeJSON(try result()) } else { try text() }
    }

    /// Writes a result: as JSON with `--json`, otherwise as a line.
    func report<Value: Encodable>(
        _ result: @autoclosure () throws -> Value, line: @autoclosure () throws -> String
    ) throws {
        try report(try result()) { try writeLine(try line()) }
    }

    /// Writes a result: as JSON with `--json`, otherwise as a note.
    func report<Value: Encodable>(
        _ result: @autoclosure () throws -> Value, note: @autoclosure () throws -> String
    ) throws {
        try report(try result()) { self.note(try note()) }
    }

    /// Prints a list: in JSON an object for each entry, else a table.
    ///
    /// - Parameters:
    ///   - heading: The headings of the columns.
    ///   - none: The note if there are no entries.
    ///   - row: Returns the cells of an entry.
    func writeTable<Entry: Encodable>(
        _ heading: [String], of entries: [Entry], none: @autoclosure () throws -> String, row: (Entry) -> [String]
    ) throws {
        try writeTable(heading, of: entries, none: try none()) { [row($0)] }
    }

    /// The same for entries of several rows each.
    func writeTable<Entry: Encodable>(
        _ heading: [String], of entries: [Entry], none: @autoclosure () throws -> String, rows: (Entry) -> [[String]]
    ) throws {
        if isJSON { return try entries.forEach { try writeJSON($0) } }
        if entries.isEmpty { return note(try none()) }
        try writeLine(Console.table([heading] + entries.flatMap(rows)))
    }

    /// Prints the names and values of properties, one on each line.
    func writeLines(_ properties: [(String, String)]) throws {
        for (name, value) in properties { try writeLine("\(name): \(shown(value))") }
    }

    /// Prints an error for each stored value that cannot be read. If there is one, the command ends with that status.
    func reportDamage(_ lines: [String]) throws {
        for line in lines { error(line) }
        if !lines.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }

    /// Prints a note, which is neither data nor an error.
    func note(_ text: String) {
        guard !isQuiet else { return }
        if let heldNotes { return heldNotes.append(text) }
        guard isJSON else { return Console.writeToStandardError(text) }
        // If standard error cannot be written either, nothing can be reported.
        try? writeJSON(["note": String(text.trimmingPrefix("note: "))], toStandardError: true)
    }

    /// Tells the user the next step, even with `--quiet`; with `--json`, as a note.
    func ask(_ text: String) {
        // If standard error cannot be written either, nothing can be asked.
        if isJSON {
            try? writeJSON(["note": text], toStandardError: true)
        } else {
            for line in text.split(separator: "\n") { Console.writeToStandardError(String(line)) }
        }
    }

    /// Asks on the terminal whether to go on.
    ///
    /// - Parameter willAsk: Runs before the terminal asks.
    /// - Returns: `nil` if there is no terminal.
    func confirm(_ question: String, beforeAsking willAsk: () -> Void = {}) -> Bool? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        willAsk()
        ask("\(question) Type yes:")
        return readLine()?.lowercased() == "yes"
    }

    /// Prints an error.
    ///
    /// - Parameter failure: The kind of failure, if it has an exit status.
    func error(_ text: String, _ failure: FailureKind? = nil) {
        guard !isJSON else {
            return write(ErrorReport(code: failure?.code, exitStatus: failure?.exitStatus, message: text))
        }
        Console.writeToStandardError("crumb: \(text)")
    }

    /// Writes an error as JSON.
    func write(_ error: ErrorReport) {
        // If standard error cannot be written either, the error cannot be reported.
        try? writeJSON(error, toStandardError: true)
    }

    /// Writes text of several lines to standard error as it is.
    static func writeError(_ text: String) {
        try? write(Array("\(text)\n".utf8), to: STDERR_FILENO)
    }

    /// Lines up the columns of a table; the last one is as wide as it is. A terminal gets times as people say them.
    static func table(_ rows: [[String]]) -> String {
        let rows = current.outputIsTerminal ? current.withLocalTimes(rows) : rows
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.compactMap { column < $0.count ? $0[column].count : nil }.max() ?? 0
        }
        return rows.map { row in
            row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// The headings of columns with times.
    private static let timeHeadings: Set = [
        "EXPIRES", "TIME", "SAVED", "REMOVED", "NEXT EXPIRY", "LAST USED", "LATEST",
    ]

    /// A table with local times, and how far they are from now, in place of those of RFC 3339.
    private func withLocalTimes(_ rows: [[String]]) -> [[String]] {
        guard let heading = rows.first else { return rows }
        return rows.map { row in
            zip(row, row.indices).map { cell, column in
                guard column < heading.count, Console.timeHeadings.contains(heading[column]) else { return cell }
                let parts = cell.components(separatedBy: ", ")
                guard let moment = parts.last.flatMap({ Timestamp(rfc3339: $0.utf8) }) else { return cell }
                let distance = parts.count > 1 ? parts[0] : Lifetime.distance(to: moment, at: now)
                return "\(distance), \(Console.localTime(moment))"
            }
        }
    }

    /// The minute of a moment in the user's time zone.
    private static func localTime(_ moment: Timestamp) -> String {
        var (seconds, parts) = (time_t(moment.seconds), tm())
        var text = [CChar](repeating: 0, count: 32)
        guard localtime_r(&seconds, &parts) != nil else { return moment.rfc3339 }
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func writeToStandardError(_ text: String) {
        // File names and URLs may hold control characters, which a terminal would obey.
        let line = Octets(text).description
        // If standard error cannot be written either, the error cannot be reported.
        try? write(Array("\(line)\n".utf8), to: STDERR_FILENO)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        do throws(SystemError) {
            try Descriptor(descriptor).write(bytes)
        } catch {
            // The reader has closed the pipe, as `head` does. That is not a failure.
            if error.number == EPIPE { throw ExitCode(FailureKind.outputFailed.exitStatus) }
            throw CommandFailure(.outputFailed, "cannot write the output: \(error.message)")
        }
    }
}

/// Notes that wait for the end of another program, which may be writing a line of its own.
final class HeldNotes: Sendable {
    private let notes = Mutex<[String]>([])

    func append(_ note: String) {
        notes.withLock { $0.append(note) }
    }

    /// Takes the notes out, in their order.
    func takeAll() -> [String] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }
}

/// An error in JSON: one sentence, with the code of its kind and the exit status for that.
struct ErrorReport: Encodable {
    let code: String?
    let exitStatus: Int32?
    let message: String
}

/// Errors about the entries of a batch: the first ones, and how many more there are.
struct EntryErrors {
    let console: Console
    private(set) var count = 0

    /// Prints an error, or counts it.
    ///
    /// - Parameter failure: The kind of failure, if it has an exit status.
    mutating func append(_ text: @autoclosure () -> String, _ failure: FailureKind? = nil) {
        count += 1
        if count <= ImportReport.listLimit { console.error(text(), failure) }
    }

    /// Prints how many were only counted.
    func finish() {
        let rest = count - ImportReport.listLimit
        if rest > 0 { console.error(counted(rest, "more error")) }
    }
}

/// A failure that ends the command: an exit status and one sentence that a user can act on.
package struct CommandFailure: Error {
    let failure: FailureKind
    let message: String

    package init(_ failure: FailureKind, _ message: String) {
        self.failure = failure
        self.message = message
    }

    /// The problem that an error of the libraries or of a service is; `nil` for other errors.
    init?(of error: any Error) {
        switch error {
        case let problem as CommandFailure: self = problem
        case let error as SessionClientError: self.init(error)
        case let error as SessionStoreError: self.init(advising: FailureKind(error), error.commandDescription)
        case let error as OperationError: self.init(advising: error.failure, error.description)
        case let error as LoginError: self.init(advising: FailureKind(error), error.commandDescription)
        case let error as OAuth2Error: self.init(FailureKind(error), error.commandDescription)
        case let error as TokenRefreshError: self.init(FailureKind(error), error.commandDescription)
        case let error as LoginFallbackError: self.init(FailureKind(error), error.commandDescription)
        case let error as PackageError: self.init(advising: FailureKind(code: error.code.rawValue), error.description)
        case let error as FieldRuleError: self.init(.fieldInvalid, error.description)
        default: return nil
        }
    }

    /// A problem with the command that helps with it, which neither the library nor the service can know.
    init(advising failure: FailureKind, _ message: String) {
        let advice =
            switch failure {
            case .tokenNotFound: "; 'crumb token list' lists the logins"
            case .sessionNotFound: "; 'crumb session list' lists the saved sessions"
            case .authorityExists: "; 'crumb gateway ca remove' removes it"
            case .authorityNotFound: "; 'crumb gateway ca create --host HOST' creates one"
            case .gatewayNotFound: "; 'crumb gateway list' lists the gateways"
            case .packageNotFound where !message.contains("version before"):
                "; 'crumb gateway package list' lists the packages"
            case .responseNotStored: "; 'crumb cache list' lists the stored responses"
            default: ""
            }
        self.init(failure, message + advice)
    }
}

extension FailureKind {
    /// The exit status as the argument parser's.
    var exitCode: ExitCode { ExitCode(exitStatus) }
}

/// A text as one word of a shell's command line, to be copied there.
struct ShellWord: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-_./:@%+,=".utf8.contains(byte)
            }
        description = isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// Words as a shell's command line.
    static func line(_ words: [String]) -> String { words.map { ShellWord($0).description }.joined(separator: " ") }
}

/// The place of a sealed value, in JSON, without the value.
struct SealedValueReport: Encodable {
    let kind: String
    let jar: String?
    let owner: String?
    let domain: String?
    let path: String?
    let name: String

    init(_ location: SealedValueLocation) {
        kind = location.kind.rawValue
        jar = location.jar
        owner = location.owner
        domain = location.domain.isEmpty ? nil : location.domain.description
        path = location.path.isEmpty ? nil : location.path.description
        name = location.name.description
    }
}
