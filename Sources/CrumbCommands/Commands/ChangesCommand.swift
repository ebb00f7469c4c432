import ArgumentParser
import CookieModel
import SessionClient
import SessionOperations

struct ChangesCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show the changes of a jar: which cookie changed, when and why. Never shows values.",
        discussion: """
            The journal keeps at least the last 10,000 changes of a jar. A program with its own copy of a jar passes the \
            last position it has seen with --after. If older changes are gone, a message on standard error reports it. With \
            --follow, prints new changes as any process makes them, until Control-C ends it.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Only changes after this position.")
    var after: Int64 = 0

    @Flag(name: .shortAndLong, help: "Print new changes as they happen, until Control-C.")
    var follow = false

    private static let heading = ["POSITION", "TIME", "CAUSE", "COOKIE"]
    /// The widths of columns whose rows come one by one.
    private static let widths = [8, 27, 8]

    func execute(_ console: Console) throws {
        var position = after
        if follow {
            if !output.json { try console.writeLine(ChangesCommand.line(ChangesCommand.heading)) }
            try jar.backend(now: console.now).followChanges(after: after) { page in
                noteGap(in: page, after: position, console)
                for change in page.changes {
                    try console.report(change, line: ChangesCommand.line(ChangesCommand.row(change)))
                }
                position = page.position
            }
        }
        let place = try jar.place(now: console.now)
        var rows = [ChangesCommand.heading]
        var hasGap = false
        while true {
            let request = SessionRequest.changes(of: jar.jar, after: max(0, position))
            guard let page = try place.performIfThere(request, by: .listChanges) else {
                return console.note("no changes in jar '\(jar.jar)'")
            }
            hasGap = hasGap || page.hasGap
            noteGap(in: page, after: position, console)
            for change in page.changes {
                try console.report(change) { rows.append(ChangesCommand.row(change)) }
            }
            position = page.position
            if !page.hasMore { break }
        }
        if output.json { return }
        if rows.count > 1 { return try console.writeLine(Console.table(rows)) }
        switch (hasGap, after > 0) {
        case (true, true): break
        case (true, false): console.note("the journal of jar '\(jar.jar)' is empty: its changes were pruned")
        case (false, true): console.note("no changes after position \(after) in jar '\(jar.jar)'")
        case (false, false): console.note("no changes in jar '\(jar.jar)'")
        }
    }

    /// Says that changes are gone, unless the list starts at the beginning: then earlier ones are expected to be gone.
    private func noteGap(in page: ChangeList, after position: Int64, _ console: Console) {
        guard page.hasGap, position > 0 else { return }
        console.note("changes after position \(position) are gone: list the whole jar with 'crumb list'")
    }

    private static func row(_ change: ChangeReport) -> [String] {
        let name = OctetsReport(text: change.name, base64: change.nameBase64).octets
        let place = "\(change.hostOnly ? "" : ".")\(change.domain)\(change.path)"
        return ["\(change.position)", change.time, change.cause, "\(name) of \(place)"]
    }

    private static func line(_ row: [String]) -> String {
        zip(row, widths).map { cell, width in cell + String(repeating: " ", count: max(0, width - cell.count) + 2) }
            .joined() + (row.last ?? "")
    }
}
