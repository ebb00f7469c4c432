import ArgumentParser
import RequestDecoration
import SessionOperations

struct CaptureScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture-script",
        abstract: "Print a script that reports to a web view's app what pages do to cookies.",
        discussion: """
            Install it in the page's own world, at document start, in every frame. It does nothing if no message handler \
            of that name exists. docs/web-views.md describes its messages.
            """)

    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp("The message handler to report to.", valueName: "name"), transform: messageHandlerName)
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
