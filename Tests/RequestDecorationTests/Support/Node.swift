import Foundation

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
        try Data().write(to: folder.appending(path: "output"))
        let process = Process()
        process.executableURL = URL(filePath: path ?? "node")
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "input"))
        let output = try FileHandle(forWritingTo: folder.appending(path: "output"))
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        let data = try Data(contentsOf: folder.appending(path: "output"))
        guard process.terminationStatus == 0 else { throw Failure(output: String(decoding: data, as: UTF8.self)) }
        return data
    }
}
