import CookieModel
import Foundation
import SessionStore
import TestSupport

/// What a worker was told to do.
struct WorkerTask: Sendable {
    private enum Kind {
        case write(lastStep: Int, firstSteps: [Int])
        case compete(rounds: Int)
        case obey
    }

    /// One time for everything: nothing may depend on when a test runs.
    private static let now = Timestamp(seconds: 1_800_000_000)

    private let database: String
    private let key: String
    private let durability: Durability
    private let worker: Int
    private let kind: Kind

    init?(_ words: [String]) {
        guard words.count >= 5, let durability = Durability(rawValue: words[3]) else { return nil }
        let numbers = words[4...].compactMap { Int($0) }
        guard numbers.count == words.count - 4, numbers.count > 1 || words[0] == "obey" else { return nil }
        database = words[1]
        key = words[2]
        self.durability = durability
        worker = numbers[0]
        switch words[0] {
        case "write": kind = .write(lastStep: numbers[1], firstSteps: Array(numbers[2...]))
        case "compete": kind = .compete(rounds: numbers[1])
        case "obey": kind = .obey
        default: return nil
        }
    }

    func run() throws {
        let database = try SessionDatabase(
            path: database, keys: .file(key), durability: durability, busyTimeout: 3600, now: WorkerTask.now)
        let jar = try database.jar(now: WorkerTask.now)
        switch kind {
        case .write(let lastStep, let firstSteps): write(to: jar, firstSteps, lastStep)
        case .compete(let rounds): try compete(for: jar, rounds)
        case .obey: try obey(database)
        }
    }

    /// Writes the steps of its script, each thread its own, until it is killed or the last one is done.
    private func write(to jar: CookieJar, _ firstSteps: [Int], _ lastStep: Int) {
        let group = DispatchGroup()
        for (thread, first) in firstSteps.enumerated() {
            group.enter()
            Thread {
                let script = WorkerScript(worker: worker, thread: thread)
                do {
                    for step in stride(from: first, through: lastStep, by: 1) {
                        try receive(script.responses(of: step), from: script.host, jar)
                        acknowledge("\(thread) \(step)")
                        // SQLite's lock is not fair: a process that never rests can keep all others out.
                        if firstSteps.count == 1 { usleep(3000) }
                    }
                } catch {
                    leave("\(error)")
                }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private func receive(_ responses: [[String]], from host: String, _ jar: CookieJar) throws {
        let context = RequestContext(url: try RequestURL("https://\(host)/"))
        let received = responses.map { lines in
            ReceivedResponse(context: context, setCookie: lines.map { Octets($0) })
        }
        if let only = received.first, received.count == 1 {
            try jar.receive(only, now: WorkerTask.now)
        } else {
            let capture = try jar.beginCapture(named: "worker", now: WorkerTask.now)
            try jar.withBatch(from: capture, now: WorkerTask.now) { batch throws(SessionStoreError) in
                for response in received { try batch.receive(response, at: WorkerTask.now) }
            }
        }
    }

    /// Sets and deletes cookies that all workers set and delete, and says what each write has found in its place.
    ///
    /// A lifetime that no other write has is the mark of a write: the decision tells the mark of the cookie that it
    /// found.
    private func compete(for jar: CookieJar, _ rounds: Int) throws {
        var random = SeededGenerator(seed: UInt64(worker))
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        for round in 0..<rounds {
            let name = "c\(random.below(4))"
            let mark = 1_000_000 + worker * 100_000 + round
            let lifetime = random.once(in: 3) ? 0 : mark
            let line = Octets("\(name)=\(mark); Path=/; Max-Age=\(lifetime)")
            let decisions = try jar.receive(
                ReceivedResponse(context: context, setCookie: [line]), now: WorkerTask.now)
            let found = decisions[0].previous?.expiry.map { $0.seconds - WorkerTask.now.seconds }
            acknowledge("\(name) \(decisions[0].outcome.rawValue) \(mark) \(found ?? 0)")
        }
    }

    /// Does one order after the other, and says what each has come to.
    private func obey(_ database: SessionDatabase) throws {
        let now = WorkerTask.now
        let jar = try database.jar(now: now)
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        while let order = readLine() {
            var answer = "done"
            switch order {
            case "prune": _ = try database.prune(vacuum: .always, now: now)
            case "rotate": _ = try database.rotateKey(now: now)
            case "save": _ = try jar.saveSession(named: "saved", now: now)
            case "restore": _ = try jar.restoreSession(named: "saved", now: now)
            case "remove": _ = try database.removeJar(named: jar.name)
            case "header": answer = try jar.cookieString(for: context, now: now).description
            case "go away": guard chdir("/") == 0 else { leave("there is no root folder") }
            default: try jar.receive(ReceivedResponse(context: context, setCookie: [Octets(order)]), now: now)
            }
            acknowledge(answer)
        }
    }
}
