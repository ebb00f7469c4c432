/// A process that uses a jar, for tests that kill it or set many of them on one file.
///
///     jar-worker write DATABASE KEY DURABILITY WORKER LAST-STEP FIRST-STEP...
///     jar-worker compete DATABASE KEY DURABILITY WORKER ROUNDS
///     jar-worker obey DATABASE KEY DURABILITY WORKER < ORDERS
///
/// Each acknowledged write or order is a line on standard output, written at once.
import SessionStore

let arguments = CommandLine.arguments.dropFirst()

do {
    guard let task = WorkerTask(Array(arguments)) else { leave("the arguments make no sense") }
    try task.run()
} catch let error as SessionStoreError {
    leave("\(error.code.rawValue) \(error)")
} catch {
    leave("\(error)")
}
