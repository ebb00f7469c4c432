import DriverSupport

/// Crumb's driver, and the generator of the workloads that all drivers read.
@main
enum CrumbBench {
    /// Every subject under its name; a new one is a file in `Subjects/` and a line here.
    static let subjects: [String: any BenchmarkSubject.Type] = [
        "parse": ParseSubject.self,
        "store": StoreSubject.self,
        "header": HeaderSubject.self,
        "memory": MemorySubject.self,
        "allocations": AllocationsSubject.self,
        "jar-import": JarImportSubject.self,
        "jar-transactions": JarTransactionsSubject.self,
        "jar-full": JarFullSubject.self,
        "jar-header-warm": JarHeaderSubject.self,
        "jar-header-first": JarFirstHeaderSubject.self,
        "decorate": DecorateSubject.self,
        "script": ScriptSubject.self,
        "loopback-request": LoopbackRequestSubject.self,
        "command-header": CommandHeaderSubject.self,
        "command-header-bare": BareCommandHeaderSubject.self,
        "command-token": CommandTokenSubject.self,
    ]

    static let usage = """
        usage: crumb-bench generate FOLDER LINES URLS JAR-SIZE...
               crumb-bench database FOLDER JAR-SIZE
               crumb-bench SUBJECT FOLDER JAR-SIZE
        subjects: \(subjects.keys.sorted().joined(separator: ", "))
        """

    static func main() {
        Driver.main("crumb-bench", run)
    }

    private static func run(_ arguments: [String]) throws {
        if arguments.first == "generate", arguments.count > 3 {
            let numbers = arguments.dropFirst(2).compactMap { Int($0) }
            guard numbers.count == arguments.count - 2 else { throw DriverError.usage(usage) }
            let generator = WorkloadGenerator(folder: arguments[1])
            try generator.generate(lines: numbers[0], urls: numbers[1], jarSizes: Array(numbers[2...]))
        } else if arguments.first == "database", arguments.count == 3, let size = Int(arguments[2]) {
            try Workload(folder: arguments[1], size: size).makeDatabaseUnlessThere()
        } else if arguments.count == 3, let subject = subjects[arguments[0]], let size = Int(arguments[2]) {
            try Driver(peer: "Crumb", version: "").serve(subject, Workload(folder: arguments[1], size: size))
        } else {
            throw DriverError.usage(usage)
        }
    }
}
