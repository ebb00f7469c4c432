import ArgumentParser
import CookieModel
import Platform
import SessionClient
import SessionOperations

struct SetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store cookies by hand: Set-Cookie lines, as if the URL had answered with them.",
        discussion: """
            Reads one or more lines from standard input or a file, never from the command line, which others can see. \
            Applies the same rules as to any response. Exit status 5 if a line is rejected; the others are stored.

                echo 'sid=31d4; Path=/; Secure' | crumb set https://www.example.com/
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The URL that sets the cookies.")
    var url: String

    @Argument(help: "The file to read; '-' is standard input.")
    var file = "-"

    func validate() throws {
        // A line in the place of the file's name is not printed: it contains a value.
        let isLineInPlaceOfURL = url.contains("=") && !url.contains("://")
        guard !isLineInPlaceOfURL, !file.contains("=") || file.contains("://") || access(file, F_OK) == 0 else {
            throw ValidationError(
                "The line comes from standard input or a file, since others can see arguments: printf '%s' \"$LINE\" | "
                    + "crumb set URL")
        }
        guard !file.contains("://") else {
            throw ValidationError("Give one URL; the cookie comes from standard input: crumb set URL < FILE")
        }
    }

    /// A service is asked after standard input was read.
    var needsNetwork: Bool { jar.databaseOptions.asksService }

    func execute(_ console: Console) throws {
        let context = try context.context(for: try requestURL(url))
        let input = InputFile(file)
        let bytes = try input.contents(limit: SetCookieInput.sizeLimit, otherwise: .lineTooLong)
        let lines = SetCookieInput.split(bytes).map { SetCookieInput.value(of: $0) ?? $0 }
            .filter { !$0.allSatisfy(InputFile.isWhiteSpace) }.map { Octets(Array($0)) }
        guard !lines.isEmpty else {
            throw CommandFailure(.inputEmpty, "\(input.name): no line; write one as 'name=value; Path=/; Secure'")
        }
        let decisions = try jar.backend(now: console.now, console: console).receive(lines, from: context)
        var errors = EntryErrors(console: console)
        for (index, decision) in decisions.enumerated() {
            if output.json { try console.writeJSON(decision) }
            guard !decision.isRejected else {
                for reason in decision.reasons {
                    errors.append(
                        "\(input.name): line \(index + 1) is refused: \(reason.explanation) (\(reason.id))",
                        .cookieRefused)
                }
                continue
            }
            guard !output.json else { continue }
            console.note("\(decision.outcome) \(decision.cookie?.label ?? "")")
            for eviction in decision.evicted { console.note("  \(eviction.evictionLine)") }
        }
        errors.finish()
        if decisions.contains(where: \.isRejected) { throw FailureKind.cookieRefused.exitCode }
    }
}

/// Set-Cookie lines that a user gives. They are as good as passwords: none is ever repeated.
struct SetCookieInput {
    /// More than any server may send in one response.
    static let sizeLimit = 1 << 20
    private static let fieldName = Array("set-cookie:".utf8)

    /// The field values, in order.
    let lines: [Octets]

    /// Reads lines to explain, one on each line. If a line begins with the field's name, only lines that do
    /// count.
    init(_ input: InputFile) throws {
        let bytes: [UInt8]
        do {
            bytes = try input.contents(limit: SetCookieInput.sizeLimit, otherwise: .lineTooLong)
        } catch let problem as CommandFailure where problem.failure != .lineTooLong && input.name.contains("=") {
            throw CommandFailure(
                .inputNotFound,
                "--set-cookie: no such file; put the line into a file or on standard input ('-'), where "
                    + "others cannot see it")
        }
        let all = SetCookieInput.split(bytes)
        let named = all.compactMap(SetCookieInput.value)
        lines = (named.isEmpty ? all : named).map { Octets(Array($0)) }
        if lines.isEmpty { throw CommandFailure(.inputEmpty, "\(input.name): it contains no Set-Cookie line") }
    }

    /// The lines that are not blank, without their carriage returns.
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n")).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }.filter { line in !line.allSatisfy(InputFile.isWhiteSpace) }
    }

    /// The line after the field's name; `nil` if it does not begin with that.
    static func value(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let name = line.prefix(fieldName.count).map(ASCII.lowercased)
        return name == fieldName ? line.dropFirst(fieldName.count) : nil
    }
}
