/// Makes the table's lines out of what contests came to.
struct Figures {
    private(set) var all: [Figure] = []
    private var titlesOfNotes: [(note: String, titles: [String])] = []

    mutating func add(_ outcome: Contest.Outcome, _ contest: Contest) {
        let title = contest.plan.title(contest.size)
        let goal = contest.plan.goal(contest.size)
        for note in outcome.notes {
            if let index = titlesOfNotes.firstIndex(where: { $0.note == note }) {
                titlesOfNotes[index].titles.append(title)
            } else {
                titlesOfNotes.append((note, [title]))
            }
        }
        switch contest.plan.subject {
        case "memory":
            add(title, .kibibytes, outcome.facts.compactMapValues { $0["peakKibibytes"] }, outcome.unlike, goal)
        case "allocations":
            for name in Self.allocationNames {
                add(
                    "allocations, \(name)", .count, outcome.facts.compactMapValues { $0[name] }, outcome.unlike,
                    name == "public suffix" ? .atMost(0) : nil)
            }
        default:
            let nanoseconds = outcome.times.mapValues { samples in
                var scaled = Samples()
                for value in samples.values { scaled.append(value * 1e9) }
                return scaled
            }
            add(title, .nanoseconds, nanoseconds, outcome.unlike, goal)
        }
    }

    /// What is to be said, and of which subjects.
    var notes: [String] {
        titlesOfNotes.map { "\($0.note) (\($0.titles.joined(separator: "; ")))" }
    }

    /// The order in which a cookie meets them.
    private static let allocationNames = [
        "parse", "URL", "host", "host in upper case", "public suffix", "store new", "replace", "header hit",
        "header miss",
    ]

    private mutating func add(
        _ name: String, _ unit: Figure.Unit, _ samples: [Peer: Samples], _ unlike: Set<Peer>, _ goal: Figure.Goal?
    ) {
        guard !samples.isEmpty else { return }
        all.append(
            Figure(
                name: name, unit: unit, best: samples.mapValues(\.best), median: samples.mapValues(\.median),
                unlike: unlike, goal: goal))
    }

    /// How much of its speed with the smallest jar Crumb keeps with the largest, where both were measured.
    var scaling: (name: String, kept: Double, wanted: Double)? {
        let headers = all.filter { $0.name.hasPrefix("header, ") }
        guard headers.count > 1, let first = headers.first, let last = headers.last, let small = first.best[.crumb],
            let large = last.best[.crumb]
        else { return nil }
        let sizes = [last, first].map { $0.name.split(separator: " ")[1] }
        return ("header, speed at \(sizes[0]) against \(sizes[1])", small / large, 0.5)
    }
}
