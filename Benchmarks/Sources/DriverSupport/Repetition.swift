/// What one repetition of a subject came to.
public struct Repetition: Sendable {
    /// CPU time of the whole process in seconds, wall time where the plan says so; `nil` where no time was taken.
    public let seconds: Double?
    /// How many operations were done in it.
    public let operations: Int
    /// What else was counted: work that peers must agree on, or the figures of a subject that takes no time.
    public let facts: [(name: String, value: Double)]

    /// A repetition's figures.
    public init(seconds: Double? = nil, operations: Int, facts: [(name: String, value: Double)]) {
        self.seconds = seconds
        self.operations = operations
        self.facts = facts
    }

    /// The same as one line of JSON.
    var line: String {
        let time = seconds.map { "\"seconds\":\($0)," } ?? ""
        let members = facts.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",")
        return "{\(time)\"operations\":\(operations),\"facts\":{\(members)}}"
    }
}
