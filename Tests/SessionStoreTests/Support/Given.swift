import CookieModel
import SQLiteEngine
import Testing

@testable import SessionStore

/// What most tests begin with.
enum Given {
    static let now = Timestamp(seconds: 1_800_000_000)
    static let site = "https://www.example.com/"

    static func key(_ seed: UInt8 = 1) throws -> SealingKey {
        try #require(SealingKey(bytes: (0..<32).map { UInt8($0) &* 7 &+ seed }))
    }

    static func database(
        _ path: String? = nil, key seed: UInt8 = 1, busyTimeout: Double = 3600, lastAccessGranularity: Int64 = 3600,
        journalLimit: Int = SessionDatabase.defaultJournalLimit, fileClock: FilePlaces.Clock = FilePlaces.Clock(),
        now: Timestamp = now
    ) throws -> SessionDatabase {
        if let server = TestServer.shared {
            return try server.database(
                path, keys: .key(try key(seed)), lastAccessGranularity: lastAccessGranularity,
                journalLimit: journalLimit, now: now)
        }
        return try SessionDatabase(
            path: path ?? "", keys: .key(try key(seed)), durability: path == nil ? .memory : .normal,
            busyTimeout: busyTimeout, lastAccessGranularity: lastAccessGranularity, journalLimit: journalLimit,
            fileClock: fileClock, now: now)
    }

    static func jar(_ path: String? = nil) throws -> CookieJar {
        try database(path).jar(now: now)
    }

    /// The octets of a text, as SQL that every engine takes.
    static func octets(_ text: String) -> String {
        "x'" + text.utf8.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined() + "'"
    }

    static func context(_ url: String = site) throws -> RequestContext {
        RequestContext(url: try RequestURL(url))
    }
}

extension CookieJar {
    @discardableResult
    func receive(
        _ lines: String..., from url: String = Given.site, now: Timestamp = Given.now
    ) throws -> [StorageDecision] {
        try receive(
            ReceivedResponse(context: try Given.context(url), setCookie: lines.map { Octets($0) }), now: now)
    }

    /// The Cookie field value for a URL.
    func header(_ url: String = Given.site, now: Timestamp = Given.now) throws -> String {
        try retrieve(for: try Given.context(url), now: now).cookieString.description
    }
}

extension SessionDatabase {
    /// Prunes while the clock goes on for two days, so that what had expired by `time` goes.
    ///
    /// - Returns: what went, all in all.
    @discardableResult
    func pruneConfirmed(
        jar: String? = nil, vacuum: Pruning.Vacuum = .whenWorthwhile, at time: Timestamp
    ) throws -> [String: Int] {
        var removed: [String: Int] = [:]
        for step in 0...6 {
            let pruning = try prune(jar: jar, vacuum: vacuum, now: time.advanced(bySeconds: Int64(step) * 8 * 3600))
            removed.merge(pruning.expiredCookies, uniquingKeysWith: +)
        }
        return removed
    }

    /// Changes rows behind the back of the rules, as a vandal would. The sites in memory, which go by the journal, are
    /// forgotten: a database in memory has none, and one on a server has.
    func execute(_ sql: String, _ blob: [UInt8]? = nil) throws {
        defer { if engine.file == nil { cache.close() } }
        try write { connection in
            let statement = try connection.statement(sql)
            if let blob { statement.bind(1, blob) }
            try statement.run()
        }
    }

    func number(_ sql: String) throws -> Int64 {
        try read { connection in
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            return try statement.step() ? statement.int64(0) : .min
        }
    }

    func text(_ sql: String) throws -> String {
        String(decoding: try blob(sql), as: UTF8.self)
    }

    func blob(_ sql: String) throws -> [UInt8] {
        try read { connection in
            let statement = try connection.statement(sql)
            defer { statement.reset() }
            return try statement.step() ? statement.bytes(0) : []
        }
    }
}
