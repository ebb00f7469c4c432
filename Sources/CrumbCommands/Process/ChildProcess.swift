import Platform
import SessionOperations

/// One run of another program, with pipes that only it can read: for secret input, and for output.
struct ChildProcess {
    /// Takes the next bytes of a stream.
    typealias Consumer = ([UInt8]) throws -> Void

    private let program: String
    /// The exit status of `crumb` if the program cannot be started.
    private let failure: FailureKind
    private var sources: [PipeSource] = []
    private var sinks: [PipeSink] = []
    private var childDescriptors: [Int32] = []
    private var redirections: [(from: Int32, to: Int32)] = []
    private var child: pid_t?
    /// Variables that are added to those of this process, or replace them.
    var environment: [String: String] = [:]
    /// Whether it is in a session of its own, so that no terminal's signals reach it, and gets no descriptors that this
    /// process was started with.
    var isDetached = false

    init(program: String, failure: FailureKind) {
        self.program = program
        self.failure = failure
    }

    /// Finds a program on the search path.
    static func pathOfProgram(
        _ name: String, environment: [String: String] = ProcessEnvironment.variables
    ) -> String? {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program without a terminal, and without output.
    ///
    /// - Returns: Whether it was found and has succeeded.
    static func succeeds(_ words: [String], input: [UInt8] = []) -> Bool {
        let path = words[0].contains("/") ? words[0] : pathOfProgram(words[0])
        guard let path else { return false }
        var process = ChildProcess(program: path, failure: .outputFailed)
        do {
            try process.setStandardInput(contents: input)
            // It may go on in the background, and would keep a pipe open.
            for stream in [STDOUT_FILENO, STDERR_FILENO] { try process.discard(stream) }
            return try process.run(words.dropFirst().map { Array($0.utf8) }) == 0
        } catch {
            return false
        }
    }

    /// Adds a file with contents that only the program sees; its name for the program.
    mutating func addInput(_ contents: [UInt8]) throws -> String {
        let (reading, writing) = try pipe()
        sources.append(PipeSource(descriptor: try kept(writing), rest: contents[...]))
        return "/dev/fd/\(try handed(reading))"
    }

    /// Adds a file that the program writes; its name for the program. Those added first are read first.
    mutating func addOutput(_ consumer: @escaping Consumer) throws -> String {
        "/dev/fd/\(try addSink(consumer))"
    }

    /// Reads a standard stream of the program's instead of leaving it the user's.
    mutating func capture(_ stream: Int32, _ consumer: @escaping Consumer) throws {
        redirections.append((try addSink(consumer), stream))
    }

    /// Discards the output of a standard stream.
    mutating func discard(_ stream: Int32) throws {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw problem("opening /dev/null") }
        redirections.append((try handed(descriptor), stream))
    }

    /// Gives the program a standard input with contents that only it sees.
    mutating func setStandardInput(contents: [UInt8]) throws {
        let (reading, writing) = try pipe()
        sources.append(PipeSource(descriptor: try kept(writing), rest: contents[...]))
        redirections.append((try handed(reading), STDIN_FILENO))
    }

    /// Gives the program another standard input; the descriptor stays the caller's.
    mutating func setStandardInput(_ descriptor: Int32) {
        redirections.append((descriptor, STDIN_FILENO))
    }

    /// Runs the program to its end; its exit status, or 128 and the signal that ended it.
    ///
    /// - Parameter started: is called with the number of its process.
    mutating func run(_ words: [[UInt8]], started: (pid_t) -> Void = { _ in }) throws -> Int32 {
        try start(words)
        if let child { started(child) }
        while try advance() {}
        return finish()
    }

    /// Starts the program. Call ``advance(timeout:)`` until it returns `false`, then ``finish()``; or ``stop()``.
    mutating func start(_ words: [[UInt8]]) throws {
        do {
            child = try spawn([Array(program.utf8)] + words)
        } catch {
            closeAll()
            throw error
        }
        childDescriptors.forEach { close($0) }
        childDescriptors = []
    }

    /// Feeds and reads the pipes, all at once: the program may read late, and write more than a pipe holds. Stops the
    /// program if a consumer throws.
    ///
    /// - Parameter timeout: how long to wait for something to do, in milliseconds; -1 is forever.
    /// - Returns: whether the program may write more.
    mutating func advance(timeout: Int32 = -1) throws -> Bool {
        guard isExchanging else { return false }
        do {
            var polled =
                sinks.filter(\.isOpen).map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
                + sources.filter(\.isOpen).map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), timeout) >= 0 || errno == EINTR else {
                throw problem("waiting for \(program)")
            }
            for index in sources.indices where sources[index].isOpen { sources[index].write() }
            for index in sinks.indices where sinks[index].isOpen { try sinks[index].read() }
        } catch {
            stop()
            throw error
        }
        return isExchanging
    }

    /// Waits for the end of the program; its exit status, or 128 and the signal that ended it.
    mutating func finish() -> Int32 {
        defer { closeAll() }
        guard let child else { return 0 }
        self.child = nil
        return ChildProcess.wait(for: child)
    }

    /// Ends the program, if it runs.
    mutating func stop(_ signal: Int32 = SIGTERM) {
        if let child { kill(child, signal) }
        _ = finish()
    }

    private mutating func addSink(_ consumer: @escaping Consumer) throws -> Int32 {
        let (reading, writing) = try pipe()
        sinks.append(PipeSink(descriptor: try kept(reading), consumer: consumer))
        return try handed(writing)
    }

    /// Whether there is something to read from the program, or, if nothing is read from it, to feed it.
    private var isExchanging: Bool {
        sinks.contains(where: \.isOpen) || (sinks.isEmpty && sources.contains(where: \.isOpen))
    }

    private mutating func closeAll() {
        childDescriptors.forEach { close($0) }
        sources.filter(\.isOpen).forEach { close($0.descriptor) }
        sinks.filter(\.isOpen).forEach { close($0.descriptor) }
        childDescriptors = []
        sources = []
        sinks = []
    }

    private func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Platform.pipe(&ends) == 0 else { throw problem("making a pipe") }
        return (ends[0], ends[1])
    }

    /// An end that stays here: the program does not inherit it, and nothing waits on it.
    private func kept(_ descriptor: Int32) throws -> Int32 {
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            throw problem("making a pipe")
        }
        return descriptor
    }

    /// An end that the program, and nothing else that is started meanwhile, inherits under the same number: a high one, out
    /// of the way of those that a user's own `/dev/fd/3` means.
    private mutating func handed(_ descriptor: Int32) throws -> Int32 {
        let high = fcntl(descriptor, F_DUPFD_CLOEXEC, 100)
        guard high >= 0 else { throw problem("making a pipe") }
        close(descriptor)
        childDescriptors.append(high)
        return high
    }

    private func spawn(_ words: [[UInt8]]) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (from, to) in redirections { posix_spawn_file_actions_adddup2(&actions, from, to) }
        let files = Set(childDescriptors).subtracting(redirections.map(\.from))
        let inherited = isDetached ? [] : InheritedDescriptors.numbers
        let kept = files.union(inherited)
        #if canImport(Darwin)
            for number in kept.union((0...2).filter { fcntl($0, F_GETFD) >= 0 }) {
                posix_spawn_file_actions_addinherit_np(&actions, number)
            }
        #else
            // Duplicating a descriptor onto itself clears its close-on-exec flag.
            for number in files { posix_spawn_file_actions_adddup2(&actions, number, number) }
            for number in InheritedDescriptors.closeOthersOnExecution() where !kept.contains(number) {
                posix_spawn_file_actions_addclose(&actions, number)
            }
        #endif
        // Crumb ignores it; the program shall have it as it would without crumb.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A thread of a pool blocks all signals, and so would the program.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        var flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        #if canImport(Darwin)
            if isDetached { flags |= POSIX_SPAWN_SETSID }
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
        #else
            // POSIX_SPAWN_SETSID, which Swift does not import.
            if isDetached { flags |= 0x80 }
        #endif
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
        var arguments = words.map { word in strdup(word.map { CChar(bitPattern: $0) } + [0]) } + [nil]
        defer { arguments.forEach { free($0) } }
        var variables: [UnsafeMutablePointer<CChar>?]? = nil
        if !environment.isEmpty {
            let merged = ProcessEnvironment.variables.merging(environment) { $1 }
            variables = merged.map { strdup("\($0)=\($1)") } + [nil]
        }
        defer { variables?.forEach { free($0) } }
        var child = pid_t()
        let failure = DescriptorLimit.withOriginal {
            if var variables {
                posix_spawn(&child, program, &actions, &attributes, &arguments, &variables)
            } else {
                posix_spawn(&child, program, &actions, &attributes, &arguments, environ)
            }
        }
        guard failure == 0 else {
            throw CommandFailure(self.failure, "\(program): it cannot be started: \(SystemError(failure).message)")
        }
        return child
    }

    private static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        _ = retrying { waitpid(child, &status, 0) }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    private func problem(_ task: String) -> CommandFailure {
        CommandFailure(failure, "\(task) failed: \(SystemError.last.message)")
    }
}
