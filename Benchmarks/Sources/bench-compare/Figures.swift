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
            addUse(of: contest, outcome)
        }
        if let wanted = contest.plan.keptSpeed, let best = outcome.times[.crumb]?.best {
            if let index = speeds.firstIndex(where: { $0.subject == contest.plan.subject }) {
                speeds[index].last = (contest.size, best)
            } else {
                speeds.append(Speed(subject: contest.plan.subject, wanted: wanted, first: (contest.size, best)))
            }
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

    /// Facts that are measurements, in which peers need not agree.
    static let measuredFacts: Set = ["peakKibibytes", "microsecondsOfCPU"]

    /// What whole processes used besides the time.
    private mutating func addUse(of contest: Contest, _ outcome: Contest.Outcome) {
        let size = "\(Plan.grouped(contest.size)) cookies"
        let microseconds = outcome.facts.compactMapValues { $0["microsecondsOfCPU"] }
        let nanoseconds = microseconds.mapValues { samples in
            var scaled = Samples()
            for value in samples.values { scaled.append(value * 1000) }
            return scaled
        }
        add("\(contest.plan.subject), CPU time, \(size)", .nanoseconds, nanoseconds, outcome.unlike, nil)
        let peaks = outcome.facts.compactMapValues { $0["peakKibibytes"] }
        add("\(contest.plan.subject), memory, \(size)", .kibibytes, peaks, outcome.unlike, .atMost(30e6 / 1024))
    }

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
    var scalings: [(name: String, kept: Double, wanted: Double)] {
        speeds.compactMap { speed in
            guard let last = speed.last else { return nil }
            let sizes = [last.size, speed.first.size].map(Plan.grouped)
            let name = "\(speed.subject), speed at \(sizes[0]) against \(sizes[1])"
            return (name, speed.first.seconds / last.seconds, speed.wanted)
        }
    }

    /// The times of a subject that is to keep its speed.
    private struct Speed {
        let subject: String
        let wanted: Double
        let first: (size: Int, seconds: Double)
        var last: (size: Int, seconds: Double)?
    }

    private var speeds: [Speed] = []
}
