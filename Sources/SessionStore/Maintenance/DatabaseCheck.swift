/// What a check of a database came to.
public struct DatabaseCheck: Sendable, Hashable {
    /// Everything that was found, in the order of the looks.
    public var findings: [DatabaseFinding] = []
    /// How many sealed values were opened.
    public var readableValues = 0

    /// Whether nothing is wrong.
    public var isSound: Bool { !findings.contains(where: \.isProblem) }

    /// Nothing found yet.
    public init() {}
}
