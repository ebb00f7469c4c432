/// One line that a driver writes; see `Driver`.
struct DriverAnswer: Decodable {
    /// Of the first line: the version of what is measured.
    let version: String?
    /// Of the first line: why nothing will be measured.
    let skipped: String?
    /// Of the first line: in what the work differs from that of the others, where it does.
    let note: String?
    /// Of a repetition: its CPU time.
    let seconds: Double?
    /// Of a repetition: how many operations that was.
    let operations: Int?
    /// Of a repetition: what else was counted.
    let facts: [String: Double]?
}
