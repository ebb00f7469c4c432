/// Who holds a lease: one refresh of one process, told apart from all others.
public struct LeaseHolder: Hashable, Sendable, CustomStringConvertible {
    /// The holder as the database keeps it, such as `4711-9c2f…@2f81…/977`: the process's number, what no other refresh
    /// has, and the process's name where it has one (``ProcessWitness``).
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A holder for a refresh of the process of that number.
    init(process: Int32, witness: ProcessWitness = .none, using generator: inout some RandomNumberGenerator) {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 16) }
        let name = witness.name(process).map { "@\($0)" } ?? ""
        self.init("\(process)-\(digits.joined())\(name)")
    }

    /// Whether the holder's process has ended for certain, so that its lease need not be waited for.
    func hasEnded(by witness: ProcessWitness) -> Bool {
        guard let process, let at = description.firstIndex(of: "@") else { return false }
        return witness.hasEnded(process, String(description[at...].dropFirst()))
    }

    /// The process's number, for people: another machine may have the same.
    public var process: Int32? { Int32(description.prefix { $0 != "-" }) }
}
