import ArgumentParser
import Foundation
import SessionOperations

/// Writes the man pages; `Scripts/install` and packagers use it.
struct ManualCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the man pages, made from the help of each command, to a folder.",
        shouldDisplay: false)

    @OptionGroup var output: OutputOptions

    @Argument(help: "The folder to write crumb.1 and a page for each command to.", completion: .directory)
    var folder: String

    func execute(_ console: Console) throws {
        let root = try CommandDescription.root()
        let commands = root.visibleCommands
        let pages =
            [("crumb.1", ManualPage.overview(of: root))]
            + commands.map { ("crumb-\($0.commandName).1", ManualPage.page(of: $0)) }
        for (name, text) in pages {
            let path = "\(folder)/\(name)"
            do {
                try Data(text.utf8).write(to: URL(filePath: path))
            } catch {
                throw CommandFailure(.fileNotWritten, "\(path): the page cannot be written; check the folder")
            }
            try console.report(["page": path], line: path)
        }
    }
}
