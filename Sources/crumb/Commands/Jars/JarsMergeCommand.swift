import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsMergeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Bring the cookies of one jar into another; the first stays as it is.",
        discussion: """
            Where both have a cookie of the same name, domain and path, the one that was updated last counts. The limits \
            of the second jar apply, and every cookie that has to go for them is named.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar whose cookies are brought.")
    var name: String

    @Argument(help: "The jar that takes them, which must be there.")
    var target: String

    func execute(_ console: Console) throws {
        let merge = try database.keptJars(now: .now).merge(jarNamed: name, into: target)
        if output.json {
            try console.writeJSON(merge)
        } else {
            console.note(
                "merged jar '\(name)' into '\(target)': \(merge.added) added, \(merge.replaced) replaced, "
                    + "\(merge.kept) as new or newer there, \(merge.expired) expired, \(merge.evicted.count) evicted")
            for eviction in merge.evicted { console.note("  \(eviction.evictionLine)") }
        }
        for cookie in merge.unreadable {
            console.complain("\(cookie.unreadableLine); it was left out")
        }
        if !merge.unreadable.isEmpty { throw ExitStatus.valueDamaged.exitCode }
    }
}
