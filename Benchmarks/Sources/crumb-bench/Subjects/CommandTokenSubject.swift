import DriverSupport
import Foundation

/// Whole processes that print a valid access token, from their start to the end of their output, by the wall clock: the
/// command `crumb`, by the database that `command-header` reads.
struct CommandTokenSubject: BenchmarkSubject {
    private static let name = "bench"

    private var runs: CommandRuns

    init(_ workload: Workload) throws {
        runs = try CommandRuns(workload, program: "crumb") { _ in
            ["token", "get", "--database", workload.database, Self.name]
        }
        // One that lives on and on: nothing is ever refreshed.
        let path = "\(workload.folder)/token.json"
        let reply = #"{"access_token":"\#(String(repeating: "t0ken-", count: 100))","refresh_token":"r0tated"}"#
        guard FileManager.default.createFile(atPath: path, contents: Data(reply.utf8)) else {
            throw DriverError.unreadable(path)
        }
        try runs.prepare(["token", "import", "--database", workload.database, "--file", path, Self.name])
    }

    mutating func run() throws -> Repetition { try runs.run() }
}
