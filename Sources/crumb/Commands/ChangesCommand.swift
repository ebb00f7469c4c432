import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ChangesCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Show the changes of a jar: which cookie changed, when and why. Never shows values.",
        discussion: """
            The journal keeps at least the last 10,000 changes of a jar. A program with its own copy of a jar passes the \
            last position it has seen with --after. If older changes are gone, a message on standard error says so.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Only changes after this position.")
    var after: Int64 = 0

    func execute(_ console: Console) throws {
        let kept = try jar.kept(now: .now)
        var position = after
        var rows = [["POSITION", "TIME", "CAUSE", "COOKIE"]]
        while true {
            guard let page = try kept.changes(after: position) else {
                return console.note("no cookies in jar '\(jar.jar)'")
            }
            // From the beginning, everybody knows that there may have been more.
            if page.hasGap, position > 0 {
                console.note("changes after position \(position) are gone: look at the whole jar with 'crumb list'")
            }
            for change in page.changes {
                if output.json {
                    try console.writeJSON(change)
                } else {
                    let name = OctetsReport(text: change.name, base64: change.nameBase64).octets
                    let place = "\(change.hostOnly ? "" : ".")\(change.domain)\(change.path)"
                    rows.append(["\(change.position)", change.time, change.cause, "\(name) of \(place)"])
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
