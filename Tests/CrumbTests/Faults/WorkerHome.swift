import CookieModel
import Foundation
import SQLiteEngine
import TestSupport
import Testing

@testable import SessionStore

/// A folder with a jar in it that worker processes write to.
struct WorkerHome {
    /// The time that workers take it to be.
    static let now = Timestamp(seconds: 1_800_000_000)

    let home = CrumbHome()
    let database: String
    let key: String

    init() {
        database = home.file("crumb.sqlite")
        key = home.file("key")
    }

    private static let program = RunningProcess.built("jar-worker")

    /// Starts a worker: `write`, `compete` or `obey`, and its numbers.
    ///
    /// - Parameter database: how the worker is told to call the database.
    func start(
        _ task: String, _ durability: Durability, _ numbers: [Int], database: String? = nil,
        input: String = "/dev/null", output: String? = nil
    ) throws -> RunningProcess {
        try RunningProcess(
            WorkerHome.program,
            [task, database ?? self.database, key, durability.rawValue] + numbers.map(String.init),
            environment: home.environment, input: input, output: output, scratch: home.path)
    }

    /// Opens the jar at `path`, else the home's own.
    func jar(_ path: String? = nil) throws -> CookieJar {
        try SessionDatabase(path: path ?? database, keys: .file(key), now: WorkerHome.now).jar(now: WorkerHome.now)
    }

    /// The database and its log as they lie there, somewhere else: what a machine finds that knows nothing of the
    /// processes that were.
    func copy() throws -> String {
        let copy = home.file("copy-\(UUID().uuidString)")
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: database + suffix) {
            try FileManager.default.copyItem(atPath: database + suffix, toPath: copy + suffix)
        }
        return copy
    }
}

extension SessionDatabase {
    /// What SQLite finds wrong with the file and its references: "ok" where it is nothing.
    func integrity() throws -> String {
        try read { connection in
            let check = try connection.statement("PRAGMA integrity_check")
            defer { check.reset() }
            guard try check.step() else { return "no answer" }
            let answer = check.text(0)
            let references = try connection.statement("PRAGMA foreign_key_check")
            defer { references.reset() }
            return try references.step() ? "\(answer), but a reference leads nowhere" : answer
        }
    }

    /// The number that a query gives.
    func number(_ sql: String) throws -> Int64 {
        try read { connection in
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            return try statement.step() ? statement.int64(0) : .min
        }
    }
}
