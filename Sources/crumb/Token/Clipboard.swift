import Foundation
import SessionOperations

/// The clipboard of the user's desktop, by the first program on PATH that reaches it.
enum Clipboard {
    private struct Way {
        let program: String
        var arguments: [String] = []
        /// The variable that says that its desktop is there.
        var variable: String?
    }

    private static let ways = [
        Way(program: "wl-copy", variable: "WAYLAND_DISPLAY"),
        Way(program: "xclip", arguments: ["-selection", "clipboard"], variable: "DISPLAY"),
        Way(program: "xsel", arguments: ["--clipboard", "--input"], variable: "DISPLAY"),
        Way(program: "pbcopy"),
    ]

    /// Copies a text.
    ///
    /// - Returns: Whether a program has taken it.
    static func copy(
        _ text: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        ways.contains { way in
            if let variable = way.variable, (environment[variable] ?? "").isEmpty { return false }
            guard let path = ChildProcess.pathOfProgram(way.program, environment: environment) else { return false }
            var process = ChildProcess(program: path, failure: .outputFailed)
            do {
                try process.setStandardInput(contents: Array(text.utf8))
                // They go on in the background, and would keep a pipe open.
                for stream in [STDOUT_FILENO, STDERR_FILENO] { try process.discard(stream) }
                return try process.run(way.arguments.map { Array($0.utf8) }) == 0
            } catch {
                return false
            }
        }
    }
}
