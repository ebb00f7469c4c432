import CookieModel
import DriverSupport

/// The most memory that a process has used once a jar's cookies are in a store in memory. The lines are read one by
/// one; only the store stays. One repetition a process: a peak does not go down again.
struct MemorySubject: BenchmarkSubject {
    private let workload: Workload
    private let baseKibibytes: Int

    init(_ workload: Workload) throws {
        self.workload = workload
        baseKibibytes = ProcessClock.peakKibibytes
    }

    mutating func run() throws -> Repetition {
        let store = try CookieStore(workload.jar)
        let peak = ProcessClock.peakKibibytes
        return Repetition(
            operations: store.count,
            facts: [
                ("peakKibibytes", Double(peak)), ("baseKibibytes", Double(baseKibibytes)),
                ("cookies", Double(store.count)),
            ])
    }
}
