import ArgumentParser
import CookieModel
import Foundation
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

/// A subcommand: what it does is ``execute(_:)``; failures become one sentence and an exit status here.
protocol CrumbCommand: ParsableCommand {
    var output: OutputOptions { get }
    func execute(_ console: Console) throws
}

extension CrumbCommand {
    func run() throws {
        let console = Console(isQuiet: output.quiet)
        // A closed pipe is an error to handle, not a signal to die of.
        signal(SIGPIPE, SIG_IGN)
        SecretVariable.clearEnvironment()
        do {
            try execute(console)
        } catch let problem as Problem {
            try fail(problem, console)
        } catch let refusal as ServiceRefusal {
            try fail(Problem(refusal), console)
        } catch let error as SessionStoreError {
            try fail(Problem(error), console)
        } catch let error as OperationError {
            try fail(Problem(ExitStatus(code: error.code), error.description), console)
        } catch let error as OAuth2Error {
            try fail(Problem(error), console)
        } catch let error as TokenRefreshError {
            try fail(Problem(error), console)
        } catch let error as LoginFallbackError {
            try fail(Problem(error), console)
        } catch let error as FieldRuleError {
            try fail(Problem(.fieldInvalid, error.description), console)
        }
    }

    private func fail(_ problem: Problem, _ console: Console) throws -> Never {
        console.complain(problem.message)
        throw problem.status.exitCode
    }
}

/// Reads a URL that a user typed.
func requestURL(_ text: String) throws -> RequestURL {
    do {
        return try RequestURL(text)
    } catch {
        let subject = text.isEmpty ? "the URL" : text
        let canHint =
            error.code == .schemeMissing && (try? RequestURL("https://\(text)")) != nil && !text.hasPrefix("/")
        throw Problem(
            .urlInvalid, "\(subject): \(error.description)\(canHint ? " (did you mean https://\(text) ?)" : "")")
    }
}
