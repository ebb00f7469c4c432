import Foundation

/// What the command line says.
struct Settings {
    static let usage = """
        usage: bench-compare --drivers FOLDER --workloads FOLDER [--quick] [--json] [SUBJECT...]
        subjects: \(Plan.all.map(\.subject).joined(separator: ", "))
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
    private(set) var plans: [Plan] = []

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--drivers": drivers = rest.popFirst() ?? ""
            case "--workloads": workloads = rest.popFirst() ?? ""
            case "--quick": isQuick = true
            case "--json": writesJSON = true
            default:
                guard let plan = Plan.all.first(where: { $0.subject == argument })
                else { throw Problem(description: Self.usage) }
                plans.append(plan)
            }
        }
        if drivers.isEmpty || workloads.isEmpty { throw Problem(description: Self.usage) }
        if plans.isEmpty { plans = Plan.all }
    }

    func path(of role: Role) -> String { "\(drivers)/\(role.program)" }

    /// The peers whose drivers are there.
    var peers: [Peer] {
        Peer.allCases.filter { FileManager.default.isExecutableFile(atPath: path(of: Role($0))) }
    }

    func jarSizes(_ plan: Plan) -> [Int] { isQuick ? plan.quickJarSizes : plan.jarSizes }

    func rounds(_ plan: Plan) -> Int { isQuick ? plan.quickRounds : plan.rounds }

    /// Whether the library that counts allocations is there.
    var countsAllocations: Bool { FileManager.default.fileExists(atPath: allocationCounter) }

    /// The library that counts allocations.
    var allocationCounter: String { "\(drivers)/allocations.so" }
}
