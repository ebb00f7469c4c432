import CookieModel
import Foundation
import TestSupport
import Testing

@testable import SessionStore

@Suite("Sixteen processes that read, decide and write the same cookies")
struct CompetitionTests {
    /// How many rounds all of them together do.
    static let rounds =
        ProcessInfo.processInfo.environment["CRUMB_COMPETITION_ROUNDS"].flatMap { Int($0) } ?? 10_000

    /// One acknowledged write: what it made of a cookie, by which mark it is known, and whose place it took.
    private struct Write {
        let name: String
        let outcome: String
        let mark: Int
        let found: Int

        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count == 4, let mark = Int(words[2]), let found = Int(words[3]) else { return nil }
            (name, outcome, self.mark, self.found) = (String(words[0]), String(words[1]), mark, found)
        }
    }

    @Test("No update is lost, no process waits forever, and the only error is a busy database")
    func compete() throws {
        let place = WorkerHome()
        let each = CompetitionTests.rounds / 16
        let processes = try (0..<16).map { try place.start("compete", .normal, [$0, each]) }
        var writes: [Write] = []
        var completed = 0
        for process in processes {
            let result = process.wait()
            let acknowledged = result.text.split(separator: "\n").compactMap { Write($0) }
            writes += acknowledged
            if result.status == 0 {
                #expect(acknowledged.count == each)
                completed += 1
            } else {
                #expect(result.messages.hasPrefix("jar-worker: database-busy "), "\(result.messages)")
            }
        }
        // Ten seconds without a turn are possible where a machine is slow, but not for most.
        #expect(completed > 8)
        let jar = try place.jar()
        #expect(try jar.database.integrity() == "ok")
        let left = Dictionary(
            uniqueKeysWithValues: try jar.cookies().readable.map { ($0.name.description, $0.value.description) })
        for name in (0..<4).map({ "c\($0)" }) {
            try checkHistory(writes.filter { $0.name == name }, left: left[name].flatMap { Int($0) })
        }
        try checkJournal(of: jar, writes)
    }

    /// Puts the writes of one cookie in order: each has found exactly what the one before it left.
    private func checkHistory(_ writes: [Write], left: Int?) throws {
        let setting = writes.filter { $0.outcome == "stored" || $0.outcome == "replaced" }
        let ending = writes.filter { $0.found != 0 }
        #expect(writes.allSatisfy { ["stored", "replaced", "deleted"].contains($0.outcome) })
        #expect(writes.allSatisfy { $0.outcome == "deleted" || ($0.found == 0) == ($0.outcome == "stored") })
        // Every cookie that was set was found once, by the write that ended it; the last one is there still.
        let ended = ending.map(\.found)
        #expect(Set(ended).count == ended.count, "two writes took the place of the same one")
        #expect(Set(setting.map(\.mark)) == Set(ended + [left].compactMap { $0 }), "a write was lost")
        #expect(left == nil || !ended.contains(left ?? 0))
        #expect(
            writes.count { $0.outcome == "stored" }
                == writes.count { $0.outcome == "deleted" && $0.found != 0 } + (left == nil ? 0 : 1))
    }

    /// The journal holds what was acknowledged and nothing else, in an order that can be.
    private func checkJournal(of jar: CookieJar, _ writes: [Write]) throws {
        var (position, isThere, counts): (Int64, Set<String>, [String: Int]) = (0, [], [:])
        while true {
            let page = try jar.changes(after: position)
            try #require(!page.hasGap)
            for change in page.changes {
                #expect(change.position == position + 1)
                position = change.position
                let name = change.cookie.name.description
                counts["\(name) \(change.cause.identifier)", default: 0] += 1
                if change.cause == .stored {
                    #expect(isThere.insert(name).inserted, "position \(position)")
                } else {
                    #expect(isThere.contains(name), "position \(position)")
                    if change.cause == .deleted { isThere.remove(name) }
                }
            }
            if !page.hasMore { break }
        }
        let changes = writes.filter { $0.outcome != "deleted" || $0.found != 0 }
        #expect(counts == changes.reduce(into: [:]) { $0["\($1.name) \($1.outcome)", default: 0] += 1 })
        #expect(Int(position) == changes.count)
    }
}
