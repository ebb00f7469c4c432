import Foundation
import NetworkHelper

/// The program beside `crumb` that speaks HTTP for it.
struct NetworkProgram {
    private static let name = "crumb-network"

    let path: String

    /// Finds the program: beside this one, as both are built and installed together, else on the search path.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let beside = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path
        let folders = [beside].compactMap(\.self) + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = folders.map { "\($0)/\(NetworkProgram.name)" }
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Problem(
                .networkProgramNotFound,
                "\(NetworkProgram.name) was found neither beside crumb nor on PATH; install both together")
        }
        self.path = path
    }

    /// Asks the program, and waits for its answer.
    func ask<Question: Codable, Answer: Codable>(
        _ subcommand: String, _ question: HelperMessage<Question>
    ) throws -> HelperMessage<Answer> {
        let output = Output()
        var process = ChildProcess(program: path, failure: .networkProgramNotFound)
        try process.setStandardInput(contents: try question.bytes)
        try process.capture(STDOUT_FILENO) { output.bytes += $0 }
        let status = try process.run([Array(subcommand.utf8)])
        guard status == 0, let answer = HelperMessage<Answer>(parsing: output.bytes) else {
            throw Problem(.networkProgramNotFound, "\(path): it has failed, or belongs to another version of crumb")
        }
        return answer
    }

    private final class Output {
        var bytes: [UInt8] = []
    }
}
