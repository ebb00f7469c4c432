import Foundation

/// The Swift compiler beside these tests.
public enum Compiler {
    /// Its path; `nil` if none is on the PATH.
    public static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The folder with the modules of this build.
    public static let modules: String? = {
        let beside =
            Bundle.allBundles.map(\.bundleURL) + [Bundle.main.bundleURL, Bundle.main.executableURL].compactMap { $0 }
        return beside.flatMap { [$0, $0.deletingLastPathComponent()] }.map { $0.appending(path: "Modules").path }
            .first { FileManager.default.fileExists(atPath: "\($0)/RequestDecoration.swiftmodule") }
    }()

    /// What it printed when it failed.
    public struct Failure: Error, CustomStringConvertible {
        /// What it printed.
        public let description: String
    }

    /// Runs it, in a folder of its own.
    public static func run(_ arguments: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-swiftc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try RunningProcess(path ?? "swiftc", arguments, joinsTalk: true, scratch: folder.path).wait()
        guard result.status == 0 else { throw Failure(description: result.text) }
    }
}
