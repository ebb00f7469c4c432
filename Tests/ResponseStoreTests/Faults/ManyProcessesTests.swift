import Foundation
import HTTPCaching
import SQLiteEngine
import SessionStore
import TestSupport
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Many processes on one cache", .serialized)
struct ManyProcessesTests {
    /// How many steps each process does.
    static let steps =
        ProcessInfo.processInfo.environment["CRUMB_CACHE_STEPS"].flatMap { Int($0) } ?? 500

    /// How many times processes are killed.
    static let killRounds = ProcessInfo.processInfo.environment["CRUMB_KILL_ROUNDS"].flatMap { Int($0) } ?? 20

    private static let program = RunningProcess.built("cache-worker")

    private func start(_ home: CacheHome, worker: Int, steps: Int, seed: UInt64) throws -> RunningProcess {
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        return try RunningProcess(
            ManyProcessesTests.program, ["\(home.path)/cache", "\(worker)", "\(steps)", "\(seed)"], scratch: home.path)
    }

    /// Checks that the sums are right, and that each row has its body.
    private func check(_ home: CacheHome) throws {
        let key = try #require(SealingKey(bytes: (0..<32).map { UInt8($0) }))
        let cache = ResponseCache(CacheFolder("\(home.path)/cache"), limits: CacheLimits()) { Sealer(key, id: 1) }
        let responses = cache.all()
        #expect(cache.usage().entries == Int64(responses.count))
        #expect(cache.usage().size == responses.map(\.size).reduce(0, +))
        #expect(cache.usage().size < 3 << 20)
        for stored in responses {
            #expect(try cache.body(of: stored)?.readAll().count == Int(stored.head.body.length))
        }
        #expect(cache.readAll { try $0.structureFailures() } == [])
    }

    @Test("Eight processes get only whole responses, and none that was removed or invalidated")
    func together() throws {
        let home = CacheHome()
        let seed = UInt64.random(in: 0...0xFFFF)
        let processes = try (0..<8).map {
            try start(home, worker: $0, steps: ManyProcessesTests.steps, seed: seed &* 8 &+ UInt64($0))
        }
        for process in processes {
            let result = process.wait()
            #expect(result.status == 0, "\(result.messages) seed \(seed)")
        }
        try check(home)
    }

    @Test("Processes that are killed leave a cache that is whole")
    func killed() throws {
        let home = CacheHome()
        var moments = KillMoments()
        for round in 0..<ManyProcessesTests.killRounds {
            let processes = try (0..<2).map {
                try start(home, worker: $0, steps: 1_000_000, seed: UInt64(round * 2 + $0))
            }
            moments.wait(atMost: 200_000)
            for process in processes { process.kill() }
            for process in processes {
                let result = process.wait()
                #expect(result.status == -SIGKILL, "\(result.messages) \(moments)")
            }
            try check(home)
        }
    }
}
