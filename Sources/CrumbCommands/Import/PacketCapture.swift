import Platform
import SessionOperations
import SessionStore

/// A packet capture, whose HTTP messages Wireshark's `tshark` prints as JSON.
///
/// The JSON is read while tshark writes it, so that memory does not grow with the capture.
final class PacketCapture {
    /// The packets with header lines, and those that begin an encrypted connection.
    private static let filter = "http or http2.header.name or tls.handshake.type == 1"
    private static let layers = "frame tcp http http2"
    /// How many bytes of tshark's standard error are kept.
    private static let messageLimit = 4096

    /// The path of the TLS key log; `nil` if the capture holds its keys, or needs none.
    private let keys: String?
    private let path: String
    private let program: String?
    private let timeLimit: Duration
    private var process: ChildProcess?
    private var deadline = ContinuousClock.now
    private let output = Output()
    private var hasEnded = false

    private final class Output {
        var bytes: [UInt8] = []
        var message: [UInt8] = []
    }

    /// - Parameters:
    ///   - timeLimit: how long tshark may take.
    ///   - program: the path of tshark; `nil` if there is none.
    init(
        path: String, keys: String?, timeLimit: Duration = .seconds(900),
        program: String? = ChildProcess.pathOfProgram("tshark")
    ) {
        self.path = path
        self.keys = keys
        self.program = program
        self.timeLimit = timeLimit
    }

    deinit {
        process?.stop(SIGKILL)
    }

    /// The next piece of the JSON; `nil` at its end.
    ///
    /// - Throws: `CommandFailure` if tshark is missing, fails, or takes too long, and if the key log is invalid.
    func nextChunk() throws -> [UInt8]? {
        guard !hasEnded else { return nil }
        if process == nil { try start() }
        while output.bytes.isEmpty {
            guard ContinuousClock.now < deadline else {
                process?.stop(SIGKILL)
                hasEnded = true
                throw CommandFailure(
                    .inputTruncated,
                    "\(path): tshark took more than \(timeLimit.components.seconds / 60) minutes and was stopped; "
                        + "split the capture first: editcap -c 100000 FILE PART.pcapng")
            }
            // The wait ends now and then for the time limit and for Control-C.
            guard try process?.advance(timeout: 1000) == true || !output.bytes.isEmpty else {
                try finish()
                return nil
            }
        }
        defer { output.bytes = [] }
        return output.bytes
    }

    private func start() throws {
        guard let program else {
            throw CommandFailure(
                .tsharkNotFound,
                "\(path): reading a packet capture needs tshark, which is not on PATH. Install it: apt install tshark, "
                    + "or brew install wireshark")
        }
        var words = ["-n", "-r", path, "-Y", Self.filter, "-T", "json", "-x", "-J", Self.layers]
        if let keys {
            try checkKeys(keys)
            words += ["-o", "tls.keylog_file:\(keys)"]
        }
        var process = ChildProcess(program: program, failure: .tsharkNotFound)
        try process.capture(STDOUT_FILENO) { [output] in output.bytes += $0 }
        try process.capture(STDERR_FILENO) { [output] in
            output.message += $0.prefix(Self.messageLimit - output.message.count)
        }
        try process.setStandardInput(contents: [])
        try process.start(words.map { Array($0.utf8) })
        self.process = process
        deadline = .now + timeLimit
    }

    /// tshark takes any file for a key log.
    private func checkKeys(_ keys: String) throws {
        // It reads them more than once, and waits for ever for a pipe that has no writer.
        guard keys != "-", !FileSystem.isSpecial(keys) else {
            throw CommandFailure(
                .inputUnreadable, "\(keys): the TLS key log must be a regular file; save it to one, and name that")
        }
        guard let beginning = try InputFile(keys).nextChunk() else {
            throw CommandFailure(.inputEmpty, "\(keys): the TLS key log is empty; the client wrote no key into it")
        }
        let text = String(decoding: beginning, as: UTF8.self)
        guard text.contains("CLIENT_") || text.contains("RSA ") else {
            throw CommandFailure(
                .inputUnrecognized,
                "\(keys): this is not a TLS key log; name the file that the client wrote for SSLKEYLOGFILE")
        }
    }

    /// A warning if other users can read a key log; otherwise `nil`.
    static func exposure(ofKeys path: String?) -> String? {
        guard let path, access(path, R_OK) == 0, !PrivateFile.isPrivate(path), !FileSystem.isSpecial(path) else {
            return nil
        }
        return "warning: \(path): other users can read the TLS keys in it; run: chmod 600 \(ShellWord(path))"
    }

    private func finish() throws {
        hasEnded = true
        // Control-C ends tshark too.
        guard let status = process?.finish(), status != 0, !Interruption.isRequested else { return }
        let lines = String(decoding: output.message, as: UTF8.self).split(separator: "\n")
        let reason = lines.last { $0.hasPrefix("tshark: ") }?.dropFirst(8) ?? "it ended with status \(status)"
        throw CommandFailure(.inputTruncated, "\(path): tshark could not read all of it: \(reason)")
    }
}
