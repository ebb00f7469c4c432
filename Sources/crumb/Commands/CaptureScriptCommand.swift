import ArgumentParser
import RequestDecoration
import SessionOperations

struct CaptureScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture-script",
        abstract: "Print a script that tells a web view's app what pages do to cookies.",
        discussion: """
            It belongs into the page's own world, at document start, in every frame, and does nothing where no handler \
            of that name listens. docs/web-views.md has its messages.
            """)

    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp("The message handler that hears of it.", valueName: "name"), transform: messageHandlerName)
    var handler: MessageHandlerName

    func execute(_ console: Console) throws {
        let script = CaptureScript(handler: handler)
        if output.json {
            try console.writeJSON(CaptureScriptReport(script, handler: handler))
        } else {
            try console.write(script.source.utf8)
        }
    }
}
