/// One line of the table.
struct Figure {
    /// How its values are written.
    enum Unit: String {
        case nanoseconds
        case kibibytes
        case count

        func text(_ value: Double) -> String {
            switch self {
            case .nanoseconds: value < 10_000 ? "\(Int(value.rounded())) ns" : "\(Int((value / 1000).rounded())) µs"
            case .kibibytes: "\(Self.decimals(value * 1024 / 1e6, 1)) MB"
            case .count: Self.decimals(value, 2)
            }
        }

        static func decimals(_ value: Double, _ places: Int) -> String {
            let factor = places == 1 ? 10.0 : 100.0
            let rounded = Int((value * factor).rounded())
            let fraction = String(rounded % Int(factor))
            return "\(rounded / Int(factor)).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
        }
    }

    /// What is wanted of Crumb.
    enum Goal {
        /// At least that ratio to the best peer written in C.
        case ratio(Double)
        /// At most that value, and at least that ratio.
        case limit(Double, ratio: Double)
        /// At most that value.
        case atMost(Double)
    }

    let name: String
    let unit: Unit
    /// The least of the repetitions.
    let best: [Peer: Double]
    /// The one in the middle.
    let median: [Peer: Double]
    /// Peers with other work.
    let unlike: Set<Peer>
    let goal: Goal?

    /// How many times Crumb's value the best reference peer's is, by one of the two ways to sum repetitions up.
    func ratio(_ values: [Peer: Double]) -> Double? {
        guard let own = values[.crumb], own > 0 else { return nil }
        return values.filter { $0.key.isReference && !unlike.contains($0.key) }.values.min().map { $0 / own }
    }

    /// Whether the goal is met; `nil` where there is none or no peer to tell by.
    var isMet: Bool? {
        guard let own = best[.crumb] else { return nil }
        switch goal {
        case nil: return nil
        case .ratio(let least): return ratio(best).map { $0 >= least }
        case .atMost(let most): return own <= most
        case .limit(let most, let least): return ratio(best).map { own <= most && $0 >= least } ?? (own <= most)
        }
    }

    var goalText: String {
        switch goal {
        case nil: ""
        case .ratio(let least): "≥ \(Unit.decimals(least, 1))×"
        case .atMost(let most): "≤ \(unit == .count ? String(Int(most)) : unit.text(most))"
        case .limit(let most, let least): "≤ \(unit.text(most)), ≥ \(Unit.decimals(least, 1))×"
        }
    }
}
