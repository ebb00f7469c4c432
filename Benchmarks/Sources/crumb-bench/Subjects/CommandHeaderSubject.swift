import DriverSupport
import Foundation

/// Whole processes that print a Cookie header, from their start to the end of their output, by the wall clock: the
/// command `crumb`.
struct CommandHeaderSubject: BenchmarkSubject {
    private var runs: CommandRuns

    init(_ workload: Workload) throws {
        runs = try CommandRuns(workload, program: "crumb") { request in
            ["header", "--database", workload.database, request.url]
        }
    }

    mutating func run() throws -> Repetition { try runs.run() }
}

/// The same with the bare C program that reads the same rows and opens none.
struct BareCommandHeaderSubject: BenchmarkSubject {
    private var runs: CommandRuns

    init(_ workload: Workload) throws {
        runs = try CommandRuns(workload, program: "sqlite") { request in
            ["header", workload.database, request.site, request.url]
        }
    }

    mutating func run() throws -> Repetition { try runs.run() }
}

/// Runs of a program beside this one, for the first few requests of a workload.
struct CommandRuns {
    private static let requests = 20

    private let program: String
    private let arguments: [[String]]
    private let environment: [String]

    init(_ workload: Workload, program: String, arguments: ((url: String, site: String)) -> [String]) throws {
        // In a process of its own: what this one has resident counts as the programs'.
        let own = CommandLine.arguments[0]
        self.program = "\(own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex))/\(program)"
        guard FileManager.default.isExecutableFile(atPath: self.program) else {
            throw DriverError.skipped("has no program \(program)")
        }
        _ = try ChildRun(own, ["database", workload.folder, String(workload.size)], environment: [])
        var requests: [(url: String, site: String)] = []
        try workload.firstRequests.forEachPair { url, site in
            guard requests.count < Self.requests else { return }
            requests.append((String(decoding: url, as: UTF8.self), String(decoding: site, as: UTF8.self)))
        }
        self.arguments = requests.map(arguments)
        environment = ["CRUMB_KEY_FILE=\(workload.key)"]
    }

    /// Runs the program once, not to be measured.
    func prepare(_ words: [String]) throws {
        _ = try ChildRun(program, words, environment: environment)
    }

    func run() throws -> Repetition {
        var seconds = 0.0
        var cpuSeconds = 0.0
        var peak = 0
        var octets = 0
        for words in arguments {
            let run = try ChildRun(program, words, environment: environment)
            seconds += run.seconds
            cpuSeconds += run.cpuSeconds
            peak = max(peak, run.peakKibibytes)
            octets += run.output.count
        }
        return Repetition(
            seconds: seconds, operations: arguments.count,
            facts: [
                ("peakKibibytes", Double(peak)), ("microsecondsOfCPU", 1e6 * cpuSeconds / Double(arguments.count)),
                ("octets", Double(octets)),
            ])
    }
}
