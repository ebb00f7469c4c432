import CookieModel
import Foundation
import TestSupport
import Testing

@testable import SessionStore

@Suite("Processes that are killed while they write")
struct KillTests {
    /// As many rounds as the environment says, or so many that nobody waits.
    static let rounds = ProcessInfo.processInfo.environment["CRUMB_KILL_ROUNDS"].flatMap { Int($0) } ?? 100

    @Test(
        "Every acknowledged write is there, nothing else, and the next start needs no repair",
        arguments: [0, 1])
    func killed(half: Int) throws {
        var run = KillRun(.normal)
        for round in stride(from: half, to: KillTests.rounds, by: 2) {
            // A database that has lived through some deaths goes on, and the first use of one is killed too.
            if round / 2 % 8 == 0 { run = KillRun(round / 16 % 2 == 0 ? .normal : .full) }
            var random = SeededGenerator(seed: UInt64(round))
            try run.kill(&random, "round \(round)")
        }
    }
}

/// One database and the workers that were killed on it so far.
private struct KillRun {
    private let place = WorkerHome()
    private let durability: Durability
    /// What is in the jar of each worker's threads: four threads that share commits, and a process beside them.
    private var workers: [[WorkerState]]

    init(_ durability: Durability) {
        self.durability = durability
        workers = [4, 1].enumerated().map { worker, threads in
            (0..<threads).map { WorkerState(WorkerScript(worker: worker, thread: $0)) }
        }
    }

    /// Starts the workers, kills them at some point, and looks at what they leave.
    mutating func kill(_ random: inout SeededGenerator, _ comment: Comment) throws {
        // Now and then they come to an end, so that they are killed while they close the database.
        let isClosing = random.once(in: 4)
        let lastSteps = workers.map { threads in
            (threads.map(\.step).max() ?? 0) + (isClosing ? 1 + random.below(8) : 1_000_000)
        }
        let most = zip(workers[0], repeatElement(lastSteps[0], count: 4)).reduce(0) { $0 + $1.1 - $1.0.step }
        let awaited = isClosing ? most : random.below(60)
        let outputs = workers.indices.map { place.home.file("output-\($0)-\(UUID().uuidString)") }
        let processes = try workers.indices.map { worker in
            try place.start(
                "write", durability, [worker, lastSteps[worker]] + workers[worker].map { $0.step + 1 },
                output: outputs[worker])
        }
        // A worker that fails says nothing more; the check tells why.
        var patience = 30_000
        while lines(outputs[0]) < awaited, patience > 0 {
            usleep(1000)
            patience -= 1
        }
        // None awaited: somewhere between the start of the process and its first write.
        usleep(UInt32(random.below(awaited == 0 ? 120_000 : 6000)))
        for process in processes { process.kill() }
        for process in processes {
            let result = process.wait()
            try #require(result.status == -SIGKILL || result.status == 0, "\(comment): \(result.messages)")
        }
        try check(outputs.map(acknowledged), random.once(in: 2) ? place.copy() : place.database, comment)
    }

    private func lines(_ output: String) -> Int {
        (FileManager.default.contents(atPath: output) ?? Data()).count { $0 == 0x0A }
    }

    /// The last step of each thread that was acknowledged.
    private func acknowledged(_ output: String) -> [Int: Int] {
        let text = String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").reduce(into: [:]) { last, line in
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            if numbers.count == 2 { last[numbers[0]] = numbers[1] }
        }
    }

    private mutating func check(_ acknowledged: [[Int: Int]], _ path: String, _ comment: Comment) throws {
        let jar = try place.jar(path)
        let database = jar.database
        let integrity = try database.integrity()
        try #require(integrity == "ok", comment)
        let (cookies, unreadable) = try jar.cookies()
        try #require(unreadable.isEmpty, comment)
        let byHost = Dictionary(grouping: cookies) { $0.domain.description }
        for worker in workers.indices {
            for thread in workers[worker].indices {
                let host = workers[worker][thread].script.host
                let pairs = (byHost[host] ?? []).map { ($0.name.description, $0.value.description) }
                let found = Dictionary(uniqueKeysWithValues: pairs)
                let last = acknowledged[worker][thread] ?? workers[worker][thread].step
                let step = found["first"].flatMap(WorkerScript.step) ?? 0
                // What was under way may be there: its process died before it could say so.
                try #require(step == last || step == last + 1, "\(comment): \(host) has \(step), \(last) was said")
                workers[worker][thread].advance(to: step)
                try #require(found == workers[worker][thread].cookies, "\(comment): \(host) after step \(step)")
            }
        }
        let changes = workers.joined().reduce(0) { $0 + $1.changes }
        let numbers = try [
            "SELECT coalesce(max(position), 0) FROM cookie_change",
            "SELECT count(DISTINCT position) FROM cookie_change",
            "SELECT count(DISTINCT sequence) FROM cookie",
        ].map(database.number)
        // The oldest entries go now and then, not each time.
        let kept = Int64(min(changes, 10_000))...Int64(min(changes, 11_000))
        try #require(numbers[0] == Int64(changes) && numbers[2] == Int64(cookies.count), comment)
        try #require(kept.contains(numbers[1]), comment)
    }
}
