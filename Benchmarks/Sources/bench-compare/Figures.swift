/// Makes the table's lines out of what contests came to.
struct Figures {
    private(set) var all: [Figure] = []
    private var titlesOfNotes: [(note: String, titles: [String])] = []

    mutating func add(_ outcome: Contest.Outcome, _ contest: Contest) {
        let title =
            contest.subject == "header" || contest.subject == "memory"
            ? "\(contest.subject), \(Self.grouped(contest.size)) cookies" : contest.subject
        for note in outcome.notes {
            if let index = titlesOfNotes.firstIndex(where: { $0.note == note }) {
                titlesOfNotes[index].titles.append(title)
            } else {
                titlesOfNotes.append((note, [title]))
            }
        }
        switch contest.subject {
        case "memory":
            let goal = contest.size == 100_000 ? Figure.Goal.limit(40_000, ratio: 1) : .ratio(1)
            add(title, .kilobytes, outcome.facts.compactMapValues { $0["peakKilobytes"] }, outcome.unlike, goal)
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
            add(title, .nanoseconds, nanoseconds, outcome.unlike, .ratio(contest.subject == "header" ? 2 : 1.5))
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

    /// How much of its speed at the smallest jar Crumb keeps at the largest, where both were measured.
    var scaling: (kept: Double, wanted: Double)? {
        let headers = all.filter { $0.name.hasPrefix("header, ") }
        guard headers.count > 1, let small = headers.first?.best[.crumb], let large = headers.last?.best[.crumb]
        else { return nil }
        return (small / large, 0.5)
    }

    static func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(grouped(number / 1000)),\(String(number % 1000 + 1000).dropFirst())"
    }
}
