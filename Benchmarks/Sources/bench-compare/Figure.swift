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
        /// At least those ratios to certain peers.
        case against([(peer: Peer, ratio: Double)])
        /// At most so many times what a certain peer takes.
        case slower(than: Peer, atMost: Double)

        /// The peers that it names.
        var peers: [Peer] {
            switch self {
            case .against(let wanted): wanted.map(\.peer)
            case .slower(let peer, _): [peer]
            case .ratio, .limit, .atMost: []
            }
        }
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

    /// How many times Crumb's value a peer's is.
    private func ratio(_ values: [Peer: Double], to peer: Peer) -> Double? {
        guard let own = values[.crumb], own > 0, !unlike.contains(peer) else { return nil }
        return values[peer].map { $0 / own }
    }

    /// How many times Crumb's value those of the peers are that the goal names.
    func ratiosToNamed(_ values: [Peer: Double]) -> [(peer: Peer, ratio: Double)] {
        (goal?.peers ?? []).compactMap { peer in ratio(values, to: peer).map { (peer, $0) } }
    }

    /// The same as text, the way round in which the goal is said.
    func ratiosToNamedText(_ values: [Peer: Double]) -> String {
        ratiosToNamed(values).map { peer, ratio in
            if case .slower = goal { return "\(Unit.decimals(1 / ratio, 2)) times \(peer.rawValue)" }
            return "\(Unit.decimals(ratio, 2))× \(peer.rawValue)"
        }.joined(separator: ", ")
    }

    /// How many times Crumb's value the best reference peer's is, by one of the two ways to sum repetitions up; `nil`
    /// where the goal names its peers.
    func ratio(_ values: [Peer: Double]) -> Double? {
        guard let own = values[.crumb], own > 0, goal?.peers.isEmpty ?? true else { return nil }
        return values.filter { $0.key.isReference && !unlike.contains($0.key) }.values.min().map { $0 / own }
    }

    /// Whether the goal is met; `nil` where there is none or no peer to tell by.
    var isMet: Bool? {
        guard let own = best[.crumb] else { return nil }
        switch goal {
        case nil: return nil
        case .ratio(let least): return ratio(best).map { $0 >= least }
        case .atMost(let most): return own <= most
        case .against(let wanted):
            let ratios = wanted.compactMap { entry in ratio(best, to: entry.peer).map { ($0, entry.ratio) } }
            return ratios.isEmpty ? nil : ratios.allSatisfy { $0 >= $1 }
        case .slower(let peer, let most): return ratio(best, to: peer).map { 1 / $0 <= most }
        case .limit(let most, let least): return ratio(best).map { own <= most && $0 >= least } ?? (own <= most)
        }
    }

    var goalText: String {
        switch goal {
        case nil: ""
        case .ratio(let least): "≥ \(Unit.decimals(least, 1))×"
        case .atMost(let most): "≤ \(unit == .count ? String(Int(most)) : unit.text(most))"
        case .against(let wanted):
            wanted.map { "≥ \(Unit.decimals($0.ratio, 1))× \($0.peer.rawValue)" }.joined(separator: ", ")
        case .slower(let peer, let most):
            "≤ \(most == most.rounded() ? String(Int(most)) : Unit.decimals(most, 1)) times \(peer.rawValue)"
        case .limit(let most, let least): "≤ \(unit.text(most)), ≥ \(Unit.decimals(least, 1))×"
        }
    }
}
