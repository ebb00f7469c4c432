import ArgumentParser
import CookieModel
import Foundation
import SessionClient
import SessionOperations
import SessionStore

struct SetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store cookies by hand: Set-Cookie lines, as if the URL had answered with them.",
        discussion: """
            Reads one or more lines from standard input or a file, never from the command line, which others can see. \
            Applies the same rules as to any response. Exit status 5 if a line is rejected; the others are stored.

                echo 'sid=31d4; Path=/; Secure' | crumb set https://www.example.com/
            """)

    /// More than any server may send in one response.
    private static let inputLimit = 1 << 20

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
        let lines = SetCommand.lines(try input.contents(limit: SetCommand.inputLimit, otherwise: .lineTooLong))
        guard !lines.isEmpty else {
            throw CommandFailure(.inputEmpty, "\(input.name): no line; write one as 'name=value; Path=/; Secure'")
        }
        let decisions = try jar.backend(now: console.now, console: console).receive(lines, from: context)
        var errors = EntryErrors(console)
        for (index, decision) in decisions.enumerated() {
            if output.json { try console.writeJSON(decision) }
            guard !decision.isRejected else {
                for reason in decision.reasons {
                    errors.append(
                        "\(input.name): line \(index + 1) is refused: \(reason.explanation) (\(reason.id))")
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

    /// The lines that are not empty, without the field's name, which may be copied along.
    private static func lines(_ bytes: [UInt8]) -> [Octets] {
        let field = "set-cookie:"
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            var line = line
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if String(decoding: line.prefix(field.utf8.count), as: UTF8.self).lowercased() == field {
                line = line.dropFirst(field.utf8.count)
            }
            return line.allSatisfy(InputFile.isWhiteSpace) ? nil : Octets(Array(line))
        }
    }
}

struct PruneCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove expired cookies and old journal entries, and free their space.",
        discussion: """
            Expired cookies are never sent, pruned or not. They are removed once the clock has advanced by a day, so a \
            clock that jumps ahead and back loses none. Saved sessions stay as they are. What 'crumb jars restore' can \
            restore is removed after a day too, or at once with --now. Rewrites the file if at least a \
            quarter of it, and a megabyte, is free, and empties the write-ahead log.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(name: .shortAndLong, help: "Remove cookies from this jar only. Default: all jars.")
    var jar: String?

    @Option(help: "Keep this many entries of the journal.")
    var journalEntries = SessionDatabase.defaultJournalLimit

    @Flag(help: "Also remove at once what 'crumb jars restore' could restore.")
    var now = false

    @Flag(
        inversion: .prefixedNo, help: "Rewrite the file without free pages. Default: if that frees enough space.")
    var vacuum: Bool?

    func validate() throws {
        if journalEntries < 0 { throw ValidationError("--journal-entries: use 0 or more.") }
    }

    func execute(_ console: Console) throws {
        let document = PruneDocument(journalEntries: journalEntries, vacuum: vacuum, emptyBin: now ? true : nil)
        let place = try database.place(now: console.now)
        let report = try pruned(document, in: place) ?? PruneReport(Pruning())
        try console.report(report, line: report.text)
    }

    /// - Returns: `nil` if nothing was ever stored, in the default jar if that is meant.
    private func pruned(_ document: PruneDocument, in place: OperationPlace) throws -> PruneReport? {
        guard let jar else { return try place.answer(to: .pruneAll(document), by: .prune) }
        let request = SessionRequest.prune(document, jar: jar)
        do {
            if let report = try place.answer(to: request, by: .pruneJar) { return report }
        } catch {
            guard place.missingJar(error, of: request) != nil else { throw error }
            guard jar == "default" else { throw SessionStoreError(noJarNamed: jar) }
        }
        guard jar == "default" else { throw try place.missing(jar) }
        return nil
    }
}
