import Dispatch
import Foundation
import Platform

/// How a process ended, and its output.
public struct RunResult: Sendable {
    /// The exit status, or the number of the signal that ended the process, negative.
    public let status: Int32
    /// What it wrote on standard output.
    public let output: [UInt8]
    /// What it wrote on standard error.
    public let messages: String

    /// A result as it would be of a process.
    public init(status: Int32, output: [UInt8], messages: String) {
        self.status = status
        self.output = output
        self.messages = messages
    }

    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }

    /// Standard output as one JSON object a line.
    public func objects() throws -> [[String: Any]] {
        try text.split(separator: "\n").compactMap { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
    }
}

/// A process that was started, its streams in files.
///
/// Foundation's `Process` reads past the end of its buffer where this process has more than a thousand open files, and
/// ends the tests (https://github.com/swiftlang/swift-corelibs-foundation/pull/5472).
public struct RunningProcess: Sendable {
    /// A program could not be started.
    public struct Failure: Error {
        /// Which one, and why.
        public let message: String
    }

    /// Its number.
    public let id: Int32
    private let command: String
    private let outputPath: String
    private let talkPath: String

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: its environment; that of this process where it is `nil`.
    ///   - input: the file that is its standard input.
    ///   - output: the file that takes its standard output; one of its own where it is `nil`.
    ///   - messages: the file that takes its standard error; one of its own where it is `nil`.
    ///   - joinsTalk: whether standard error goes where standard output goes.
    ///   - leadsGroup: whether it leads a process group of its own, as a terminal's foreground job does.
    ///   - scratch: a folder for the files.
    public init(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil,
        input: String = "/dev/null", output: String? = nil, messages: String? = nil, joinsTalk: Bool = false,
        leadsGroup: Bool = false, scratch: String
    ) throws {
        let name = "\(scratch)/run-\(UUID().uuidString)"
        command = ([program] + arguments).joined(separator: " ")
        outputPath = output ?? "\(name).output"
        talkPath = messages ?? "\(name).messages"
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        // A shell starts its background jobs, and so these tests, with Control-C ignored, and Dispatch's threads block
        // it; the processes that are tested obey it.
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var obeyed = sigset_t()
        sigemptyset(&obeyed)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&obeyed, number) }
        posix_spawnattr_setsigdefault(&attributes, &obeyed)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        if leadsGroup {
            posix_spawnattr_setpgroup(&attributes, 0)
            flags |= POSIX_SPAWN_SETPGROUP
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        if joinsTalk {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 2, talkPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables =
            (environment ?? ProcessInfo.processInfo.environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var id: pid_t = 0
        let failure = posix_spawnp(&id, program, &actions, &attributes, &words, &variables)
        guard failure == 0 else {
            throw Failure(message: "\(program) cannot be started: \(SystemError(failure).message)")
        }
        self.id = id
    }

    /// Ends the process without giving it a chance.
    public func kill() {
        send(SIGKILL)
    }

    /// Interrupts the process, as Control-C does.
    public func interrupt() {
        send(SIGINT)
    }

    /// Sends a signal to the process, or to all of the group that it leads.
    public func send(_ number: Int32, toGroup: Bool = false) {
        _ = signal(number, to: toGroup ? -id : id)
    }

    private func signal(_ number: Int32, to target: pid_t) -> Int32 {
        Platform.kill(target, number)
    }

    /// Waits for its end.
    ///
    /// Kills a process that has not ended after four minutes, and says so in its messages: a process that hangs fails the
    /// test that waits for it, by name, and does not stop the run.
    public func wait() -> RunResult {
        let watch = DispatchWorkItem { [self] in kill() }
        let deadline = DispatchTime.now() + .seconds(240)
        DispatchQueue.global().asyncAfter(deadline: deadline, execute: watch)
        // The number stays taken, and so the right process is killed, until the timer is off.
        var information = siginfo_t()
        _ = retrying { waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) }
        watch.cancel()
        var status: Int32 = 0
        _ = retrying { waitpid(id, &status, 0) }
        let ending = status & 0x7F
        let overdue = DispatchTime.now() < deadline ? "" : "\n[killed, since it did not end: \(command)]"
        return RunResult(
            status: ending == 0 ? status >> 8 & 0xFF : -ending, output: bytes(outputPath),
            messages: String(decoding: bytes(talkPath), as: UTF8.self) + overdue)
    }

    private func bytes(_ path: String) -> [UInt8] {
        FileManager.default.contents(atPath: path).map { Array($0) } ?? []
    }
}

extension RunningProcess {
    /// The path of a program that was built with the tests.
    public static func built(_ name: String) -> String {
        let beside =
            Bundle.allBundles.map(\.bundleURL) + [Bundle.main.bundleURL, Bundle.main.executableURL].compactMap { $0 }
        let folders = beside.flatMap { [$0, $0.deletingLastPathComponent()] }
        let candidates = folders.map { $0.appending(path: name).path }
        return candidates.first { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                && FileManager.default.isExecutableFile(atPath: path)
        } ?? name
    }
}
