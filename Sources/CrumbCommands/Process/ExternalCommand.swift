import ArgumentParser
import Platform
import SessionOperations
import SessionStore

/// A command of the user's that crumb runs for them, with the exit statuses of a shell.
struct ExternalCommand: Sendable {
    /// The program and its arguments.
    let words: [String]

    /// The path of the program.
    ///
    /// - Throws: `ExitCode` 127 if it does not exist, 126 if it cannot be run.
    func path(_ console: Console) throws -> String {
        let found = words[0].contains("/") ? words[0] : ChildProcess.pathOfProgram(words[0])
        guard let path = found else { throw notRun(words[0], ENOENT, console) }
        guard access(path, X_OK) == 0 else { throw notRun(path, errno, console) }
        return path
    }

    /// Reports that a program cannot be run, and why.
    func notRun(_ program: String, _ failure: Int32, _ console: Console) -> ExitCode {
        console.error("\(program): the command cannot be run: \(SystemError(failure).message)")
        return ExitCode(failure == ENOENT ? 127 : 126)
    }

    /// Runs it to its end. Signals reach it.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - environment: Variables that are added to those of this process, or replace them.
    /// - Returns: Its exit status: 128 and the number of the signal that ended it.
    func run(_ program: String, environment: [String: String] = [:], _ console: Console) throws -> Int32 {
        var process = ChildProcess(program: program, failure: .outputFailed)
        process.environment = environment
        SignalForwarding.begin()
        defer { SignalForwarding.end() }
        do {
            return try process.run(Array(ProcessArguments.octets(of: words).dropFirst())) {
                SignalForwarding.forward(to: $0)
            }
        } catch {
            throw notRun(program, ENOEXEC, console)
        }
    }
}

extension PrivateFile {
    /// Writes a file that only its owner can read, in the place of one that is there.
    static func write(_ bytes: [UInt8], at path: String) throws {
        let failure = replace(bytes, at: path)
        guard failure == 0 else { throw CommandFailure.notWritten(path, failure) }
    }
}

extension CommandFailure {
    /// A file cannot be written, for an `errno`.
    static func notWritten(_ file: String, _ failure: Int32) -> CommandFailure {
        CommandFailure(.fileNotWritten, "\(file): the file cannot be written: \(SystemError(failure).message)")
    }
}
