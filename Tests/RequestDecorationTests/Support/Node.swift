import CookieModel
import Foundation

/// Node.js, where it is on the PATH: a JavaScript engine to run scripts with.
enum Node {
    static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/node" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    struct Failure: Error {
        let output: String
    }

    /// A script and the place where it runs; without a `protocol` there is no `location`.
    struct Run: Encodable {
        let source: String
        var `protocol`: String?
        var hostname = ""
        var pathname = "/"

        init(_ source: String) {
            self.source = source
        }

        init(_ source: String, on url: RequestURL) {
            self.source = source
            self.protocol = url.scheme.name + ":"
            hostname = url.host.description
            pathname = String(decoding: url.path, as: UTF8.self)
        }
    }

    private static let harness = """
        const runs = JSON.parse(require("fs").readFileSync(0, "utf8"));
        process.stdout.write(JSON.stringify(runs.map((run) => {
          const set = [];
          const sandbox = { document: { set cookie(line) { set.push(line); } } };
          if (run.protocol) sandbox.location = { protocol: run.protocol, hostname: run.hostname, pathname: run.pathname };
          require("vm").runInNewContext(run.source, sandbox, { timeout: 10000 });
          return set;
        })));
        """

    /// Runs each script in a global scope of its own and returns what it assigned to `document.cookie`.
    static func run(_ runs: [Run]) throws -> [[String]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-node-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try JSONEncoder().encode(runs).write(to: folder.appending(path: "input"))
        try Data().write(to: folder.appending(path: "output"))
        let process = Process()
        process.executableURL = URL(filePath: path ?? "node")
        process.arguments = ["-e", harness]
        process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "input"))
        let output = try FileHandle(forWritingTo: folder.appending(path: "output"))
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        let data = try Data(contentsOf: folder.appending(path: "output"))
        guard process.terminationStatus == 0 else { throw Failure(output: String(decoding: data, as: UTF8.self)) }
        return try JSONDecoder().decode([[String]].self, from: data)
    }
}
