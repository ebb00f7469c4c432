import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ChangesCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show what changed in a jar: which cookie, when and why, never a value.",
        discussion: """
            The journal keeps at least the last 10,000 changes of a jar. A program that keeps its own copy of a jar asks with \
            --after and the last position it has seen; where older changes are gone, standard error says so.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Only changes after this position.")
    var after: Int64 = 0

    func execute(_ console: Console) throws {
        guard let found = try jar.openExistingJar(now: Timestamp.now) else {
            return console.note("no cookies in jar '\(jar.jar)'")
        }
        var position = after
        var rows = [["POSITION", "TIME", "CAUSE", "COOKIE"]]
        while true {
            let page = try found.changes(after: position)
            // From the beginning, everybody knows that there may have been more.
            if page.hasGap, position > 0 {
                console.note("changes after position \(position) are gone: look at the whole jar with 'crumb list'")
            }
            for change in page.changes {
                if output.json {
                    try console.writeJSON(ChangeReport(change))
                } else {
                    let place = "\(change.cookie.isHostOnly ? "" : ".")\(change.cookie.domain)\(change.cookie.path)"
                    rows.append(
                        [
                            "\(change.position)", change.time.rfc3339, change.cause.identifier,
                            "\(change.cookie.name) of \(place)",
                        ])
                }
            }
            position = page.position
            if !page.hasMore { break }
        }
        if output.json { return }
        if rows.count == 1 {
            console.note("no changes after position \(after) in jar '\(jar.jar)'")
        } else {
            try console.writeLine(Console.table(rows))
        }
    }
}
