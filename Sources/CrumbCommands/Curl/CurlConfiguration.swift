import Captures
import Platform
import SessionOperations

/// The syntax of curl's configuration files.
enum CurlConfiguration {
    /// A line that holds an option.
    struct Line: Equatable {
        /// The option, with its dashes if it has any.
        let option: [UInt8]
        let value: [UInt8]?
    }

    /// The lines of a file that hold options.
    static func lines(_ text: [UInt8]) -> [Line] {
        text.split(separator: UInt8(ascii: "\n")).compactMap(line)
    }

    private static func line(_ text: ArraySlice<UInt8>) -> Line? {
        let text = text.drop(while: InputFile.isWhiteSpace)
        guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "/"), first != UInt8(ascii: "*")
        else { return nil }
        // '=' and ':' separate only after a name without dashes.
        let hasDash = first == UInt8(ascii: "-")
        func separates(_ byte: UInt8) -> Bool {
            InputFile.isWhiteSpace(byte) || (!hasDash && (byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")))
        }
        let end = text.firstIndex(where: separates) ?? text.endIndex
        let rest = text[end...].drop(while: separates)
        let option = Array(text[..<end])
        guard rest.first != UInt8(ascii: "\"") else { return Line(option: option, value: unquoted(rest.dropFirst())) }
        let value = rest.prefix { !InputFile.isWhiteSpace($0) }
        return Line(option: option, value: value.isEmpty ? nil : Array(value))
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "v"): 0x0B, UInt8(ascii: "r"): 0x0D,
    ]

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var value: [UInt8] = []
        var isEscaped = false
        for byte in text {
            if isEscaped {
                value.append(escapes[byte] ?? byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                break
            } else {
                value.append(byte)
            }
        }
        return value
    }

    /// A value in quotes, such that curl reads the same octets.
    static func quoted(_ value: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "\"")] + CurlConfigurationWriter.escaped(value) + [UInt8(ascii: "\"")]
    }
}

/// The part of a request's body that can be sent more than once.
enum RequestBody {
    /// Whether a file gives the same when it is read a second time. One that is not there is curl's to complain about.
    static func isReplayable(_ path: String) -> Bool {
        FileSystem.size(path) == nil || FileSystem.isRegular(path)
    }

    /// All of standard input, if it can be read again from the start and no other user can read it.
    ///
    /// - Returns: a descriptor, for the caller to close.
    static func bufferedStandardInput() throws -> Int32 {
        let descriptor = anonymousFile()
        guard descriptor >= 0 else {
            throw CommandFailure(
                .inputUnreadable, "standard input cannot be stored for redirects: \(SystemError.last.message)")
        }
        do {
            try InputFile("-").forEachChunk { try Console.write(Array($0), to: descriptor) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func anonymousFile() -> Int32 {
        #if os(Linux)
            // In memory, the user's alone, and without a name at once.
            let name = "/crumb-\(UInt64.random(in: .min ... .max))"
            let shared = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
            if shared >= 0 {
                shm_unlink(name)
                _ = fcntl(shared, F_SETFD, FD_CLOEXEC)
                return shared
            }
        #endif
        // Elsewhere shared memory cannot be read as a file is.
        let folder = ProcessEnvironment.variables["TMPDIR"] ?? "/tmp"
        var template = Array("\(folder)/crumb.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }
}

/// The curl that the user has installed.
struct CurlProgram {
    let path: String
    let table: CurlOptionTable

    /// Finds curl on the search path and learns its options.
    init(environment: [String: String] = ProcessEnvironment.variables) throws {
        guard let path = ChildProcess.pathOfProgram("curl", environment: environment) else {
            throw CommandFailure(
                .curlNotFound,
                "curl was not found on PATH; install it, as with 'apt install curl' or 'brew install curl'")
        }
        self.path = path
        var help: [UInt8] = []
        var process = ChildProcess(program: path, failure: .curlNotFound)
        try process.capture(STDOUT_FILENO) { help += $0 }
        try process.capture(STDERR_FILENO) { _ in }
        _ = try process.run(["-q", "--help", "all"].map { Array($0.utf8) })
        guard let table = CurlOptionTable(help: help) else {
            throw CommandFailure(
                .curlNotFound, "\(path): 'curl --help all' lists no options; curl 7.73 or newer is needed")
        }
        self.table = table
    }

    /// The `.curlrc` that curl would read, found in the same order as by curl.
    static func defaults(environment: [String: String] = ProcessEnvironment.variables) -> String? {
        var candidates = ["CURL_HOME", "XDG_CONFIG_HOME", "HOME"].compactMap { variable in
            environment[variable].flatMap { $0.isEmpty ? nil : $0 + "/.curlrc" }
        }
        if environment["XDG_CONFIG_HOME"] == nil {
            candidates += ["CURL_HOME", "HOME"].compactMap { variable in
                environment[variable].flatMap { $0.isEmpty ? nil : $0 + "/.config/curlrc" }
            }
        }
        return candidates.first { access($0, R_OK) == 0 }
    }
}
