/// One thing to measure: it gets ready once, and is then run as often as the comparison asks.
public protocol BenchmarkSubject: SendableMetatype {
    /// Reads its workload and does everything that is not measured.
    init(_ workload: Workload) throws
    /// Does the work once and measures it.
    mutating func run() throws -> Repetition
    /// The headers it gives, one for each request URL of the workload, so that peers can be held against each other;
    /// `nil` from a subject that gives none.
    mutating func headers() throws -> [[UInt8]]?
}

extension BenchmarkSubject {
    /// Most subjects give no headers.
    public mutating func headers() throws -> [[UInt8]]? { nil }
}
