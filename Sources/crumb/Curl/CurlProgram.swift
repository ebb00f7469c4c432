import Foundation
import SessionOperations

/// The curl that the user has installed.
struct CurlProgram {
    let path: String
    let table: CurlOptionTable

    /// Finds curl on the search path and learns its options.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        guard let path = ChildProcess.pathOfProgram("curl", environment: environment) else {
            throw Problem(
                .curlNotFound,
                "curl was not found on PATH; install it, as with 'apt install curl' or 'brew install curl'")
        }
        self.path = path
        let help = HelpText()
        var process = ChildProcess(program: path, failure: .curlNotFound)
        try process.capture(STDOUT_FILENO) { help.bytes += $0 }
        try process.capture(STDERR_FILENO) { _ in }
        _ = try process.run(["-q", "--help", "all"].map { Array($0.utf8) })
        guard let table = CurlOptionTable(help: help.bytes) else {
            throw Problem(.curlNotFound, "\(path): 'curl --help all' lists no options; curl 7.73 or newer is needed")
        }
        self.table = table
    }

    /// The `.curlrc` that curl would read, found in the same order as by curl.
    static func defaults(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
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

    private final class HelpText {
        var bytes: [UInt8] = []
    }
}
