import Glibc

/// One run of another program: how long until it had written all, what it wrote, and what it used.
public struct ChildRun {
    /// Seconds by the wall from just before the process was made until its standard output ended.
    public let seconds: Double
    /// Its CPU seconds, those of the kernel for it included.
    public let cpuSeconds: Double
    /// The most memory that was resident at once. Linux counts what the process shared with this one before it became
    /// the program, so no less than this process has.
    public let peakKibibytes: Int
    /// Its standard output.
    public let output: [UInt8]

    /// Runs `program` and waits for its end; an exit status other than 0 is an error.
    public init(_ program: String, _ arguments: [String], environment: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw DriverError.unreadable("a pipe") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }

        let start = ProcessClock.wallSeconds
        var process: pid_t = 0
        let failure = posix_spawn(&process, program, &actions, nil, words, variables)
        close(ends[1])
        defer { close(ends[0]) }
        guard failure == 0 else { throw DriverError.unreadable(program) }
        var written: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let length = read(ends[0], &buffer, buffer.count), length > 0 { written += buffer[..<length] }
        seconds = ProcessClock.wallSeconds - start
        var status: Int32 = 0
        var used = rusage()
        guard wait4(process, &status, 0, &used) == process, status == 0 else {
            throw DriverError.usage("\(program) failed with status \(status >> 8)")
        }
        cpuSeconds =
            Double(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
            + Double(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6
        peakKibibytes = used.ru_maxrss
        output = written
    }
}
