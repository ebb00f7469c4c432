import Platform
import SessionOperations
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A folder that only its owner can use, for as long as a command runs: in memory if the system has a folder there.
///
/// The command holds a lock on it (`flock(2)`), which ends with its process, however that ends. So a folder whose lock is
/// free belongs to a command that was killed. A watcher, which is another process of crumb, waits for the lock and cleans
/// up then. If the watcher was killed as well, the next command that creates a folder cleans up.
final class PrivateFolder: Sendable {
    /// The use of a folder.
    enum Purpose: String, CaseIterable {
        case run = "crumb-run"
        case browse = "crumb-browse"
        case token = "crumb-token"

        /// Whether the processes that know the folder end with the command: they have a gateway that is gone.
        fileprivate var endsProcesses: Bool { self != .token }
    }

    /// The first argument of a watcher.
    private static let watcherWord = "_clean-up"

    let path: String

    /// What ends with the folder; `nil` once it is removed.
    private struct Hold {
        let lock: Int32
        var watcher: ChildProcess?
    }

    private let hold: Mutex<Hold?>

    /// Creates a folder, and removes those of commands that were killed.
    init(_ purpose: Purpose) throws {
        let environment = ProcessEnvironment.variables
        let parents = PrivateFolder.parents(environment)
        parents.forEach(PrivateFolder.cleanUp(in:))
        let parent = parents.first { access($0, W_OK) == 0 } ?? "/tmp"
        // Another command may remove it before it is locked.
        for _ in 0..<10 {
            var template = Array("\(parent)/\(purpose.rawValue)-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw CommandFailure(
                    .fileNotWritten, "\(parent): cannot create a folder there: \(SystemError.last.message)")
            }
            let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            guard let lock = PrivateFolder.lock(path, waits: true) else {
                rmdir(path)
                continue
            }
            self.path = path
            hold = Mutex(Hold(lock: lock, watcher: PrivateFolder.startWatcher(of: path)))
            return
        }
        throw CommandFailure(.fileNotWritten, "\(parent): cannot lock a folder there")
    }

    /// Removes it with its files. Call it when the programs that use it have ended.
    func remove() {
        hold.withLock { hold in
            guard var own = hold else { return }
            // The watcher tries again later.
            guard PrivateFolder.remove(path) else { return }
            own.watcher?.stop(SIGKILL)
            close(own.lock)
            hold = nil
        }
    }

    /// Ends the processes that have the folder's path, whose name is random, in their arguments or variables: helpers such
    /// as a crash handler of a browser are in sessions of their own.
    func endProcesses() {
        PrivateFolder.endProcesses(of: path, asking: false)
    }

    /// Where folders may be.
    private static func parents(_ environment: [String: String]) -> [String] {
        let named = [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"]].compactMap(\.self)
        return named.filter { $0.hasPrefix("/") } + ["/tmp"]
    }

    // MARK: - Cleaning up

    /// Waits until the command whose folder is named on standard input has ended, and cleans up after it; returns at once
    /// in any other process.
    static func watchIfTold() {
        guard ProcessArguments.texts.first == watcherWord else { return }
        chdir("/")
        let path = readLine().flatMap { purpose(of: $0) == nil ? nil : $0 }
        if let path { cleanUp(path, waits: true) }
        exit(0)
    }

    /// Starts the process that cleans up if this one is killed; `nil` if that is not possible.
    private static func startWatcher(of path: String) -> ChildProcess? {
        guard let program = ProgramReplacement.ownPath else { return nil }
        var watcher = ChildProcess(program: program, failure: .fileNotWritten)
        watcher.isDetached = true
        do {
            try watcher.setStandardInput(contents: Array("\(path)\n".utf8))
            for stream in [STDOUT_FILENO, STDERR_FILENO] { try watcher.discard(stream) }
            try watcher.start([Array(watcherWord.utf8)])
            while try watcher.advance() {}
        } catch {
            return nil
        }
        return watcher
    }

    /// Cleans up after the commands that were killed.
    private static func cleanUp(in parent: String) {
        for name in FileSystem.names(in: parent) {
            let path = "\(parent)/\(name)"
            if purpose(of: path) != nil { cleanUp(path, waits: false) }
        }
    }

    /// Ends the processes of a command that remain in a folder, and removes the folder.
    ///
    /// - Parameter waits: whether to wait for the end of a command that still runs.
    private static func cleanUp(_ path: String, waits: Bool) {
        guard let lock = lock(path, waits: waits) else { return }
        defer { close(lock) }
        if purpose(of: path)?.endsProcesses == true { endProcesses(of: path, asking: true) }
        _ = remove(path)
    }

    private static func purpose(of path: String) -> Purpose? {
        guard let name = path.split(separator: "/").last, let dash = name.lastIndex(of: "-") else { return nil }
        return Purpose(rawValue: String(name[..<dash]))
    }

    /// Locks a folder; `nil` if another process has the lock, and if there is no such folder of this user's any more.
    private static func lock(_ path: String, waits: Bool) -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard retrying({ flock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }) == 0 else {
            close(descriptor)
            return nil
        }
        // During the wait, the folder may have been removed, and another process may have its name.
        var (locked, named) = (stat(), stat())
        guard fstat(descriptor, &locked) == 0, lstat(path, &named) == 0, locked.st_uid == geteuid(),
            locked.st_dev == named.st_dev, locked.st_ino == named.st_ino
        else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Removes a folder.
    ///
    /// - Returns: whether it is gone.
    private static func remove(_ path: String) -> Bool {
        for _ in 0..<10 {
            try? FileManager.default.removeItem(atPath: path)
            guard access(path, F_OK) == 0 else { return true }
            // A process that was killed has not ended yet.
            usleep(50_000)
        }
        return false
    }

    /// Ends the processes that know a folder.
    ///
    /// - Parameter asking: whether they are asked to end first (SIGTERM). The helpers of a browser end by themselves when it
    ///   has ended.
    private static func endProcesses(of path: String, asking: Bool) {
        for round in 0..<200 {
            let processes = remainingProcesses(of: path)
            guard !processes.isEmpty else { return }
            if round == 0, asking { processes.forEach { kill($0, SIGTERM) } }
            if round >= 50 { processes.forEach { kill($0, SIGKILL) } }
            usleep(20_000)
        }
    }

    private static func remainingProcesses(of path: String) -> [pid_t] {
        #if os(Linux)
            let needle = Array(path.utf8)
            let numbers = FileSystem.names(in: "/proc").compactMap(pid_t.init)
            return numbers.filter { number in
                number != getpid()
                    && ["cmdline", "environ"].contains { file in
                        let octets = FileManager.default.contents(atPath: "/proc/\(number)/\(file)") ?? Data()
                        return octets.firstRange(of: needle) != nil
                    }
            }
        #else
            return []
        #endif
    }
}
