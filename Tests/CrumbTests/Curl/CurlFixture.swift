import Foundation
import SessionOperations
import TestSupport

@testable import CrumbCommands

/// A jar in a folder of its own, and the built `crumb` to use it with.
final class CurlFixture {
    /// What a run came to.
    struct Outcome {
        let status: Int32
        let output: [UInt8]
        let messages: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    let folder: String
    /// The environment of a run: nothing of the person's who runs the tests.
    var environment: [String: String]

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("crumb-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.folder = folder
        environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder,
            "CRUMB_KEY_FILE": "\(folder)/key",
        ]
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs `crumb curl` with the fixture's jar.
    func curl(_ arguments: String..., options: [String] = [], input: String = "") throws -> Outcome {
        try run(["curl", "--database", "\(folder)/jar"] + options + ["--"] + arguments, input: input)
    }

    /// Runs `crumb` and waits for it.
    func run(_ arguments: [String], input: String = "") throws -> Outcome {
        try run(octets: arguments.map { Array($0.utf8) }, input: input)
    }

    /// Runs `crumb` with arguments that need not be text.
    func run(octets arguments: [[UInt8]], input: String = "") throws -> Outcome {
        signal(SIGPIPE, SIG_IGN)
        let streams = Streams()
        var process = ChildProcess(program: "/usr/bin/env", failure: .curlNotFound)
        try process.capture(STDOUT_FILENO) { streams.output += $0 }
        try process.capture(STDERR_FILENO) { streams.messages += $0 }
        try write("input", input)
        let descriptor = open(path("input"), O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        process.setStandardInput(descriptor)
        let variables = environment.map { Array("\($0.key)=\($0.value)".utf8) }
        let status = try process.run([Array("-i".utf8)] + variables + [Array(CurlFixture.program.utf8)] + arguments)
        return Outcome(
            status: status, output: streams.output, messages: String(decoding: streams.messages, as: UTF8.self))
    }

    /// A path in the folder.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file in the folder.
    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }

    /// Reads a file in the folder; `nil` where there is none.
    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: path(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The executable beside the tests.
    private static var program: String {
        #if os(macOS)
            Bundle(for: CurlFixture.self).bundleURL.deletingLastPathComponent().appendingPathComponent("crumb").path
        #else
            Bundle.main.bundleURL.appendingPathComponent("crumb").path
        #endif
    }

    private final class Streams {
        var output: [UInt8] = []
        var messages: [UInt8] = []
    }
}
