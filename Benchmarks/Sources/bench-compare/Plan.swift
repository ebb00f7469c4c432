/// How a subject is measured and what is wanted of Crumb in it. A new subject is one entry here.
struct Plan: Sendable {
    /// The subject, as drivers call it.
    let subject: String
    /// The jars it is measured with, smallest first.
    let jarSizes: [Int]
    /// How often each peer has its turn.
    let rounds: Int
    /// The same two where it only matters that everything runs.
    let quickJarSizes: [Int]
    let quickRounds: Int
    /// Whether the size of the jar belongs to the figure's name.
    var namesSize = false
    /// What the figure's name says besides, such as the clock where it is not CPU time.
    var remark = ""
    /// Who takes part.
    var roles = Peer.jars.map { Role($0) }
    /// Whether the headers that peers give are held against each other.
    var comparesHeaders = false
    /// The part of its speed with the smallest jar that Crumb is to keep with the largest.
    var keptSpeed: Double?
    /// The goal at a size.
    let goal: @Sendable (_ jarSize: Int) -> Figure.Goal?

    /// All subjects, in the order of the table.
    static let all = inMemory + onDisk

    private static let inMemory = [
        Plan(
            subject: "parse", jarSizes: [100_000], rounds: 21, quickJarSizes: [100_000], quickRounds: 3,
            goal: { _ in .ratio(1.5) }),
        Plan(
            subject: "store", jarSizes: [100_000], rounds: 11, quickJarSizes: [100_000], quickRounds: 2,
            goal: { _ in .ratio(1.5) }),
        Plan(
            subject: "header", jarSizes: [1000, 10_000, 100_000, 1_000_000], rounds: 9,
            quickJarSizes: [1000, 10_000, 100_000], quickRounds: 2, namesSize: true, comparesHeaders: true,
            keptSpeed: 0.5, goal: { _ in .ratio(2) }),
        Plan(
            subject: "memory", jarSizes: [100_000, 1_000_000], rounds: 3, quickJarSizes: [100_000], quickRounds: 1,
            namesSize: true,
            goal: { $0 == 100_000 ? .limit(40e6 / 1024, ratio: 1) : .ratio(1) }),
        Plan(
            subject: "allocations", jarSizes: [10_000], rounds: 1, quickJarSizes: [10_000], quickRounds: 1,
            goal: { _ in nil }),
    ]

    /// The figure's name.
    func title(_ jarSize: Int) -> String {
        subject + remark + (namesSize ? ", \(Self.grouped(jarSize)) cookies" : "")
    }

    static func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(grouped(number / 1000)),\(String(number % 1000 + 1000).dropFirst())"
    }
}
