import ArgumentParser
import SessionStore

/// Where an export goes.
struct ExportOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to make, readable by you alone. Default: standard output, if it is no terminal; '-' for any.",
            valueName: "file"))
    var output: String?

    @Flag(help: "Replace a file that is there already.")
    var force = false

    /// Opens the destination.
    ///
    /// - Parameter own: files that are no destination.
    func destination(sparing own: [String], _ console: Console) throws -> ExportDestination {
        try ExportDestination(output, replaces: force, sparing: own, console: console)
    }
}
