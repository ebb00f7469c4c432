import Foundation

/// What the command line says.
struct Settings {
    /// The subjects, in the order of the table.
    static let allSubjects = ["parse", "store", "header", "memory", "allocations"]
    static let usage = """
        usage: bench-compare --drivers FOLDER --workloads FOLDER [--quick] [--json] [SUBJECT...]
        subjects: \(allSubjects.joined(separator: ", "))
        """

    /// A command line that makes no sense.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// Where the drivers are.
    private(set) var drivers = ""
    /// Where the workloads are.
    private(set) var workloads = ""
    /// Few repetitions of small workloads: to see that everything runs.
    private(set) var isQuick = false
    /// JSON instead of a table.
    private(set) var writesJSON = false
    /// What to measure.
    private(set) var subjects: [String] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--drivers": drivers = rest.popFirst() ?? ""
            case "--workloads": workloads = rest.popFirst() ?? ""
            case "--quick": isQuick = true
            case "--json": writesJSON = true
            default:
                guard Self.allSubjects.contains(argument) else { throw Problem(description: Self.usage) }
                subjects.append(argument)
            }
        }
        if drivers.isEmpty || workloads.isEmpty { throw Problem(description: Self.usage) }
        if subjects.isEmpty { subjects = Self.allSubjects }
    }

    func program(of peer: Peer) -> String { "\(drivers)/\(peer.program)" }

    /// The peers whose drivers are there.
    var peers: [Peer] {
        Peer.allCases.filter { FileManager.default.isExecutableFile(atPath: program(of: $0)) }
    }

    /// The jars that a subject is measured with, smallest first.
    func jarSizes(of subject: String) -> [Int] {
        switch subject {
        case "header": isQuick ? [1000, 10_000, 100_000] : [1000, 10_000, 100_000, 1_000_000]
        case "memory": isQuick ? [100_000] : [100_000, 1_000_000]
        case "allocations": [10_000]
        default: [100_000]
        }
    }

    /// How often each peer has its turn.
    func rounds(of subject: String) -> Int {
        switch subject {
        case "parse": isQuick ? 3 : 21
        case "store": isQuick ? 2 : 11
        case "header": isQuick ? 2 : 9
        case "memory": isQuick ? 1 : 3
        default: 1
        }
    }
}
