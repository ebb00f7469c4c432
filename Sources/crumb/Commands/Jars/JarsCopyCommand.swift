import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsCopyCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy a jar with its cookies and settings to a new jar.",
        discussion: "Saved sessions are not copied.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar to copy.")
    var name: String

    @Argument(help: "The name of the new jar.")
    var newName: String

    func execute(_ console: Console) throws {
        let copy = try database.keptJars(now: .now).copy(jarNamed: name, to: newName)
        if output.json {
            try console.writeJSON(copy)
        } else {
            let expired = copy.expired == 0 ? "" : ", \(copy.expired) left out: expired"
            console.note("copied \(counted(copy.copied, "cookie")) from jar '\(name)' to '\(newName)'\(expired)")
        }
        for cookie in copy.unreadable {
            console.complain("\(cookie.unreadableLine); it was left out")
        }
        if !copy.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }
}
