import ArgumentParser
import CookieModel
import Platform
import SessionOperations

/// A subcommand. ``execute(_:)`` does its work; failures become one sentence and an exit status here.
protocol CrumbCommand: ParsableCommand {
    var output: OutputOptions { get }
    /// Whether it needs the network whatever the database contains, or could not restart later, since it reads input
    /// that can be read only once. The default is `false`: then ``Network/required()`` is called when the need arises.
    var needsNetwork: Bool { get throws }
    func execute(_ console: Console) throws
}

extension CrumbCommand {
    var needsNetwork: Bool { false }

    func run() throws {
        let console = Console(isQuiet: output.quiet, isJSON: output.json)
        // A closed pipe is an error to handle, not a signal to die of.
        signal(SIGPIPE, SIG_IGN)
        SecretVariable.clearEnvironment()
        do {
            if try needsNetwork { _ = try Network.required() }
            try Console.$current.withValue(console) { try execute(console) }
        } catch {
            guard let problem = CommandFailure(of: error) else { throw error }
            console.error(problem.message, problem.failure)
            throw problem.failure.exitCode
        }
    }
}

/// Reads a URL that a user typed.
func requestURL(_ text: String) throws -> RequestURL {
    do {
        return try RequestURL(text)
    } catch {
        let subject = text.isEmpty ? "the URL" : text
        let isMissing = error.code == .schemeMissing && !text.hasPrefix("/")
        let guess = isMissing ? (try? RequestURL("https://\(text)")) : nil
        // Servers on this machine seldom have a certificate.
        let hint = guess.map { " (did you mean \($0.host.isLoopback ? "http" : "https")://\(text) ?)" } ?? ""
        throw CommandFailure(.urlInvalid, "\(subject): \(error.description)\(hint)")
    }
}

/// Returns `nil` if `body` fails because what a request names does not exist.
func ifFound<Value>(_ failure: FailureKind, _ body: () throws -> Value?) throws -> Value? {
    do {
        return try body()
    } catch  where error.isFailure(failure) {
        return nil
    }
}

/// Reads a duration that a user typed, such as `30d`.
func durationInSeconds(_ text: String) throws -> Int64 {
    guard let seconds = Timestamp.seconds(inDuration: text) else {
        throw ValidationError("\(text): not a duration. Write a number and a unit: s, m, h or d.")
    }
    return seconds
}
