import ArgumentParser
import Platform
import SessionOperations
import SessionStore
import Synchronization

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
        let message = "\(program): the command cannot be run: \(SystemError(failure).message)"
        let (code, status): (String, Int32) =
            failure == ENOENT ? ("command-not-found", 127) : ("command-not-run", 126)
        if console.isJSON {
            console.write(ErrorReport(code: code, exitStatus: status, message: message))
        } else {
            console.error(message)
        }
        return ExitCode(status)
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

/// Passes signals on to the command that runs in crumb's place.
enum SignalForwarding {
    private static let child = Atomic<Int32>(0)
    /// A signal that came before the command was there.
    private static let pending = Atomic<Int32>(0)

    private static let depth = Atomic<Int>(0)
    private static let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2]

    /// Whether signals are passed on, so that none ends this process.
    static var isActive: Bool { depth.load(ordering: .acquiring) > 0 }

    /// Takes signals from now on, until ``end()`` was called as often.
    static func begin() {
        guard depth.add(1, ordering: .acquiringAndReleasing).newValue == 1 else { return }
        for number in numbers {
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = { number, information, _ in
                let child = SignalForwarding.child.load(ordering: .acquiring)
                if child == 0 {
                    SignalForwarding.pending.store(number, ordering: .releasing)
                } else if let information, information.pointee.si_code <= 0 {
                    // The command gets the terminal's signals, too.
                    kill(child, number)
                }
            }
            action.sa_flags = Int32(bitPattern: UInt32(SA_SIGINFO)) | Int32(bitPattern: UInt32(SA_RESTART))
            sigaction(number, &action, nil)
        }
    }

    /// Passes none on any more: the process has ended, and its number may be another's.
    static func end() {
        child.store(0, ordering: .releasing)
        guard depth.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Passes them on to a process from now on.
    static func forward(to process: pid_t) {
        child.store(process, ordering: .releasing)
        let number = pending.exchange(0, ordering: .acquiringAndReleasing)
        if number > 0 { kill(process, number) }
    }
}
