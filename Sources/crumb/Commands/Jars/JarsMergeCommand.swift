import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsMergeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge the cookies of one jar into another. The first jar stays as it is.",
        discussion: """
            If both jars have a cookie of the same name, domain and path, the one updated last wins. The limits of the \
            second jar apply; every cookie that they evict is listed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar to read.")
    var name: String

    @Argument(help: "The existing jar to merge into.")
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
        if !merge.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }
}
