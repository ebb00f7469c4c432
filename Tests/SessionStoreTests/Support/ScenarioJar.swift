import CookieModel

@testable import SessionStore

extension CookieJar {
    /// Takes the steps of a random scenario.
    ///
    /// - Returns: the time at its end.
    func run(_ scenario: inout RandomScenario, steps: Int, from start: Timestamp) throws -> Timestamp {
        var now = start
        for _ in 0..<steps {
            switch try scenario.next() {
            case .advance(let seconds):
                now = now.advanced(bySeconds: seconds)
            case .record(let record):
                try withBatch(now: now) { batch throws(SessionStoreError) in try batch.receive(record) }
            case .receive(let responses):
                for response in responses { try receive(response, now: now) }
            case .send(let context):
                _ = try retrieve(for: context, now: now)
            }
        }
        return now
    }
}

extension SessionDatabase {
    /// A new jar that has seen a random scenario, and the time at its end.
    func jar(named name: String, afterScenario seed: Int, steps: Int) throws -> (jar: CookieJar, now: Timestamp) {
        let jar = try jar(named: name, now: Given.now)
        var scenario = RandomScenario(seed: seed)
        return (jar, try jar.run(&scenario, steps: steps, from: Given.now))
    }
}
