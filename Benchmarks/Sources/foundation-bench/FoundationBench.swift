import DriverSupport

/// The driver for Foundation's HTTPCookie and HTTPCookieStorage.
@main
enum FoundationBench {
    static let subjects: [String: any BenchmarkSubject.Type] = [
        "parse": ParseSubject.self,
        "header": HeaderSubject.self,
        "store": QuadraticSubject.self,
        "memory": QuadraticSubject.self,
    ]

    static func main() {
        Driver.main("foundation-bench") { arguments in
            guard arguments.count == 3, let size = Int(arguments[2]) else {
                throw DriverError.usage("usage: foundation-bench SUBJECT FOLDER JAR-SIZE")
            }
            let subject = subjects[arguments[0]] ?? NoSubject.self
            try Driver(peer: "Foundation", version: "").serve(subject, Workload(folder: arguments[1], size: size))
        }
    }
}

/// What takes HTTPCookieStorage too long with jars of the size that is asked for.
struct QuadraticSubject: BenchmarkSubject {
    init(_ workload: Workload) throws {
        throw DriverError.skipped("walks all its cookies for each one set")
    }

    mutating func run() -> Repetition { Repetition(operations: 0, facts: []) }
}

/// What is not measured of Foundation.
struct NoSubject: BenchmarkSubject {
    init(_ workload: Workload) throws {
        throw DriverError.skipped("has nothing to measure there")
    }

    mutating func run() -> Repetition { Repetition(operations: 0, facts: []) }
}
