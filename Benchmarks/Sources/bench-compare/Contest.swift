import Foundation

/// One subject at one size: all peers take turns at the same work, so that what disturbs the machine disturbs all.
struct Contest {
    let plan: Plan
    let size: Int
    let settings: Settings

    /// Peers whose repetitions take longer than this have fewer of them: their ratios are not close to any goal.
    private static let slowSeconds = 1.2
    private static let roundsOfTheSlow = 3

    /// What the turns came to.
    struct Outcome {
        /// Seconds for an operation.
        var times: [Peer: Samples] = [:]
        /// What else was counted.
        var facts: [Peer: [String: Samples]] = [:]
        /// Peers whose work differs: they are shown, but no goal is a ratio to them.
        var unlike: Set<Peer> = []
        /// What is to be said of it.
        var notes: [String] = []

        mutating func add(_ answer: DriverAnswer, of peer: Peer) {
            if let seconds = answer.seconds, let operations = answer.operations, operations > 0 {
                times[peer, default: Samples()].append(seconds / Double(operations))
            }
            for (name, value) in answer.facts ?? [:] {
                facts[peer, default: [:]][name, default: Samples()].append(value)
            }
        }
    }

    func play() throws -> Outcome {
        var outcome = Outcome()
        var drivers = try start(&outcome)
        let rounds = settings.rounds(plan)
        // A peak of memory does not go down again, so each of its rounds wants fresh processes.
        if plan.subject == "memory" {
            for round in 0..<rounds {
                if round > 0 { drivers = try start(&outcome) }
                for driver in drivers { outcome.add(try driver.ask("run"), of: driver.peer) }
                for driver in drivers { driver.end() }
            }
            return outcome
        }
        // The first round only warms up, where there are enough others.
        if rounds > 2 { for driver in drivers { _ = try driver.ask("run") } }
        var slow: Set<Peer> = []
        for round in 0..<rounds {
            for turn in drivers.indices {
                let driver = drivers[(turn + round) % drivers.count]
                if round >= Self.roundsOfTheSlow, slow.contains(driver.peer) { continue }
                let answer = try driver.ask("run")
                if let seconds = answer.seconds, seconds > Self.slowSeconds { slow.insert(driver.peer) }
                outcome.add(answer, of: driver.peer)
            }
        }
        if plan.comparesHeaders { try compareHeaders(drivers, &outcome) }
        compareFacts(&outcome)
        for driver in drivers { driver.end() }
        return outcome
    }

    private func start(_ outcome: inout Outcome) throws -> [DriverProcess] {
        var drivers: [DriverProcess] = []
        for role in plan.roles where settings.peers.contains(role.peer) {
            let peer = role.peer
            let driver = try DriverProcess(role, settings, subject: plan.subject, size: size)
            var note = driver.greeting.skipped.map { "\(peer.rawValue) is left out: it \($0)" }
            if let difference = driver.greeting.note {
                outcome.unlike.insert(peer)
                note = "\(peer.rawValue): \(difference)"
            }
            if let note, !outcome.notes.contains(note) { outcome.notes.append(note) }
            if driver.greeting.skipped == nil { drivers.append(driver) } else { driver.end() }
        }
        return drivers
    }

    /// Peers that count something else did other work; on timed subjects that is said.
    private func compareFacts(_ outcome: inout Outcome) {
        guard !outcome.times.isEmpty, let own = outcome.facts[.crumb] else { return }
        for peer in Peer.allCases where peer != .crumb && !outcome.unlike.contains(peer) {
            for (name, samples) in (outcome.facts[peer] ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard !Figures.measuredFacts.contains(name), let expected = own[name]?.median,
                    expected != samples.median
                else { continue }
                outcome.notes.append(
                    "\(peer.rawValue) counts \(Int(samples.median)) \(name), Crumb \(Int(expected))")
            }
        }
    }

    /// Holds the headers against each other: the same cookies, in whatever order.
    private func compareHeaders(_ drivers: [DriverProcess], _ outcome: inout Outcome) throws {
        var own: [Set<Substring>] = []
        for driver in drivers {
            let path = "\(settings.workloads)/headers-\(driver.peer).txt"
            _ = try driver.ask("headers \(path)")
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            try FileManager.default.removeItem(atPath: path)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            // A line with a hyphen stands for a URL that the driver cannot ask for.
            let headers = lines.map { $0 == "-" ? nil : Set($0.split(separator: "; ")) }
            if driver.peer == .crumb {
                own = headers.map { $0 ?? [] }
            } else if !headers.isEmpty {
                var different = 0
                var compared = 0
                for (mine, other) in zip(own, headers) {
                    guard let other else { continue }
                    compared += 1
                    if mine != other { different += 1 }
                }
                outcome.notes.append(
                    different == 0
                        ? "\(driver.peer.rawValue) gives the same cookies as Crumb for every URL"
                        : "\(driver.peer.rawValue) gives other cookies than Crumb for \(different) of \(compared) URLs")
            }
        }
    }
}
