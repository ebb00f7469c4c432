import Foundation
import TestSupport

/// Node.js, where it is on the PATH: a JavaScript engine to run scripts with.
enum Node {
    static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/node" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    struct Failure: Error {
        let output: String
    }

    /// Runs node and returns what it prints.
    static func run(_ arguments: [String], input: Data) throws -> Data {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-node-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try input.write(to: folder.appending(path: "input"))
        let result = try RunningProcess(
            path ?? "node", arguments, input: folder.appending(path: "input").path, joinsTalk: true,
            scratch: folder.path
        ).wait()
        guard result.status == 0 else { throw Failure(output: result.text) }
        return Data(result.output)
    }
}
