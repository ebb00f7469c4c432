/// Who holds a lease: one refresh of one process, told apart from all others.
public struct LeaseHolder: Hashable, Sendable, CustomStringConvertible {
    /// The holder as the database keeps it, such as `4711-9c2f…`: the process's number, and what no other refresh has.
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A holder for a refresh of the process of that number.
    init(process: Int32, using generator: inout some RandomNumberGenerator) {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 16) }
        self.init("\(process)-\(digits.joined())")
    }

    /// The process's number, for people: another machine may have the same.
    public var process: Int32? { Int32(description.prefix { $0 != "-" }) }
}
