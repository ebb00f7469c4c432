import ArgumentParser
import SessionOperations
import Synchronization

/// Whether a command that runs beside a gateway prints the requests. Standard output belongs to the command.
struct RequestLogOptions: ParsableArguments {
    @Flag(
        help: """
            Print a line on standard error for each request: its URL, the status, and which cookies went with it. With \
            --json, an object.
            """)
    var log = false

    /// Applies the option.
    func apply(to job: inout GatewayJob, _ console: Console) {
        guard log else { return }
        job.log = { report in
            if console.isJSON {
                try? console.writeJSON(report, toStandardError: true)
            } else {
                console.note(report.line)
            }
        }
    }
}

/// The way of the requests so far. The gateway adds to it while a command runs.
final class PassageLog: Sendable {
    private let passages = Mutex(GatewayPassages())

    /// All of them.
    var all: GatewayPassages { passages.withLock { $0 } }

    /// Adds a request.
    func append(_ passage: GatewayPassage) { passages.withLock { $0.append(passage) } }
}
