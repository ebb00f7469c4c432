import CookieModel
import Foundation
import Logging
import NIOCore
import OAuth2
import SessionStore
import Synchronization
import Testing

@testable import SessionService

@Suite("Housekeeping")
struct HousekeeperTests {
    private let fixture: ServiceFixture

    init() throws {
        fixture = try ServiceFixture()
    }

    /// A housekeeper so many seconds after the fixture was made.
    private func housekeeper(
        after seconds: Int64 = 0, of database: SessionDatabase? = nil, health: ServiceHealth? = nil,
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> Housekeeper {
        let now = ServiceFixture.now.advanced(bySeconds: seconds)
        var configuration = ServiceConfiguration()
        change(&configuration)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return Housekeeper(
            database: database ?? fixture.database, writers: fixture.api.writers, uses: TokenUses(),
            refresher: TokenRefresher(
                store: fixture.database.tokens, transport: fixture.server, process: 1, clock: ImmediateClock(),
                now: { now }),
            configuration: configuration, logger: logger, health: health ?? ServiceHealth(logger: logger),
            now: { now })
    }

    private var cookieCount: Int {
        get throws { try fixture.database.jar(named: "default", now: ServiceFixture.now).cookies().readable.count }
    }

    @Test("Housekeeping removes expired data in time, and not before", arguments: [(3000, 3), (3599, 3), (3601, 2)])
    func prunes(after seconds: Int64, left count: Int) async throws {
        let last = await housekeeper(after: seconds) { $0.pruneMinutes = 1 }.prune(since: ServiceFixture.now)
        #expect(last == ServiceFixture.now.advanced(bySeconds: seconds))
        #expect(try cookieCount == 3)
        for hours in [8, 16, 24] as [Int64] {
            _ = await housekeeper(after: seconds + hours * 3600) { $0.pruneMinutes = 1 }.prune(since: last)
        }
        #expect(try cookieCount == count)
    }

    @Test("A clock that jumps ahead for an hour and back loses no cookie, and housekeeping goes on")
    func clockJump() async throws {
        let years: Int64 = 10 * 365 * 86_400
        var last = ServiceFixture.now
        for seconds in [0, 600, 1200, 1800, 2400, 3000, 3600] as [Int64] {
            last = await housekeeper(after: years + seconds) { $0.pruneMinutes = 5 }.prune(since: last)
        }
        #expect(last > ServiceFixture.now.advanced(bySeconds: years))
        last = await housekeeper(after: 600) { $0.pruneMinutes = 5 }.prune(since: last)
        #expect(last == ServiceFixture.now.advanced(bySeconds: 600))
        #expect(try cookieCount == 3)
        let sent = try fixture.database.jar(named: "default", now: last).cookies().readable.filter {
            !$0.isExpired(at: last)
        }
        #expect(sent.count == 3)
    }

    @Test("Housekeeping removes nothing before its time, or if removal is off", arguments: [0, 70])
    func waits(minutes: Int) async throws {
        let last = await housekeeper(after: 4000) { $0.pruneMinutes = minutes }.prune(since: ServiceFixture.now)
        #expect(last == ServiceFixture.now)
        #expect(try cookieCount == 3)
    }

    /// The fixture's token was received two hours ago and lives for one more.
    @Test(
        "Housekeeping renews tokens before their expiry if their profile requests it",
        arguments: [
            (true, 3000, 300, false), (true, 3299, 300, false), (true, 3300, 300, true), (true, 3599, 300, true),
            (true, 3599, 0, false), (false, 3599, 300, false),
        ] as [(Bool, Int64, Int, Bool)])
    func renews(isAsked: Bool, after seconds: Int64, ahead: Int, isRenewed: Bool) async throws {
        if isAsked { _ = try fixture.database.tokens.changeSettings(of: "work") { $0.refreshesAhead = true } }
        var pauses: [String: Timestamp] = [:]
        await housekeeper(after: seconds) { $0.refreshAheadSeconds = ahead }.refresh(&pauses)
        #expect(fixture.server.paths == (isRenewed ? ["/token"] : []))
        #expect(pauses.isEmpty)
    }

    @Test("Housekeeping renews a short-lived token only in the second half of its lifetime")
    func letsHalfPass() async throws {
        _ = try fixture.database.tokens.changeSettings(of: "work") { $0.refreshesAhead = true }
        // Three hours in all: half of them are over half an hour before now.
        var pauses: [String: Timestamp] = [:]
        await housekeeper(after: -1801) { $0.refreshAheadSeconds = 86_400 }.refresh(&pauses)
        #expect(fixture.server.paths.isEmpty)
        await housekeeper(after: -1800) { $0.refreshAheadSeconds = 86_400 }.refresh(&pauses)
        #expect(fixture.server.paths == ["/token"])
    }

    @Test("Housekeeping does not retry a failed renewal for five minutes")
    func pauses() async throws {
        _ = try fixture.database.tokens.changeSettings(of: "work") { $0.refreshesAhead = true }
        fixture.server.answer("/token", 503, "")
        var pauses: [String: Timestamp] = [:]
        await housekeeper(after: 3301).refresh(&pauses)
        let tries = fixture.server.paths.count
        #expect(tries > 0)
        #expect(pauses["work"] == ServiceFixture.now.advanced(bySeconds: 3601))
        await housekeeper(after: 3600).refresh(&pauses)
        #expect(fixture.server.paths.count == tries)
        fixture.server.answer("/token", 200, #"{"access_token":"a","token_type":"Bearer","expires_in":3600}"#)
        await housekeeper(after: 3601).refresh(&pauses)
        #expect(fixture.server.paths.count == tries + 1)
        #expect(pauses.isEmpty)
    }

    @Test("Housekeeping records the last use of access tokens")
    func notesUses() async throws {
        var generator = SystemRandomNumberGenerator()
        _ = try fixture.database.serviceTokens.create(
            named: "tests", grant: .everything, now: ServiceFixture.now, using: &generator)
        let housekeeper = housekeeper()
        housekeeper.uses.note("tests", ServiceFixture.now.advanced(bySeconds: 60))
        await housekeeper.noteUses()
        let used = try fixture.database.serviceTokens.all().first { $0.name == "tests" }?.lastUse
        #expect(used == ServiceFixture.now.advanced(bySeconds: 60))
    }

    @Test("A housekeeper that is cancelled records the last uses, and logs no failure")
    func cancelled() async throws {
        var generator = SystemRandomNumberGenerator()
        _ = try fixture.database.serviceTokens.create(
            named: "tests", grant: .everything, now: ServiceFixture.now, using: &generator)
        let log = CollectedLog()
        let logger = Logger(label: "test") { label in
            ServiceLogHandler(label: label, now: { ServiceFixture.now }, write: { log.append($0) })
        }
        let housekeeper = housekeeper(health: ServiceHealth(logger: logger))
        housekeeper.uses.note("tests", ServiceFixture.now.advanced(bySeconds: 60))
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var pauses: [String: Timestamp] = [:]
            _ = await housekeeper.prune(since: ServiceFixture.now.advanced(bySeconds: -86_400))
            await housekeeper.refresh(&pauses)
            await housekeeper.noteUses()
        }.value
        let used = try fixture.database.serviceTokens.all().first { $0.name == "tests" }?.lastUse
        #expect(used == ServiceFixture.now.advanced(bySeconds: 60))
        #expect(try cookieCount == 3)
        #expect(log.text == "")
    }

    @Test("Uses of access tokens that could not be recorded are kept, the later one for each token")
    func keepsUses() async throws {
        let folder = TemporaryFolder()
        let housekeeper = housekeeper(of: try removedDatabase(in: folder))
        let times = [0, 3600].map { ServiceFixture.now.advanced(bySeconds: $0) }
        housekeeper.uses.note("one", times[0])
        housekeeper.uses.note("two", times[0])
        await housekeeper.noteUses()
        housekeeper.uses.note("one", times[1])
        await housekeeper.noteUses()
        #expect(housekeeper.uses.take() == ["one": times[1], "two": times[0]])
        housekeeper.uses.note("three", times[1])
        housekeeper.uses.putBack(["three": times[0]])
        #expect(housekeeper.uses.take() == ["three": times[1]])
    }

    /// A database whose files were removed, so that each call fails.
    private func removedDatabase(in folder: TemporaryFolder) throws -> SessionDatabase {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(
            path: folder.file("gone.sqlite"), keys: .key(key), now: ServiceFixture.now)
        for name in ["gone.sqlite", "gone.sqlite-wal", "gone.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: folder.file(name))
        }
        return database
    }

    @Test("A persistent failure of housekeeping is logged every ten minutes, with a count of failures")
    func failures() async throws {
        let folder = TemporaryFolder()
        let database = try removedDatabase(in: folder)
        let log = CollectedLog()
        let time = Mutex(NIODeadline.uptimeNanoseconds(1))
        let logger = Logger(label: "test") { label in
            ServiceLogHandler(label: label, now: { ServiceFixture.now }, write: { log.append($0) })
        }
        let health = ServiceHealth(logger: logger, clock: { time.withLock { $0 } })
        let housekeeper = housekeeper(of: database, health: health)
        for round in 0...40 as ClosedRange<Int64> {
            housekeeper.uses.note("tests", ServiceFixture.now.advanced(bySeconds: round * 3600))
            await housekeeper.noteUses()
            _ = await housekeeper.prune(since: ServiceFixture.now.advanced(bySeconds: -86_400))
            time.withLock { $0 = $0 + .seconds(15) }
        }
        let lines = log.text.split(separator: "\n")
        for code in ["token-use-lost", "pruning-failed"] {
            let own = lines.filter { $0.contains(#""code":"\#(code)""#) }
            #expect(own.count == 2 && own.last?.contains(#""further":"39""#) == true, "\(own)")
        }
    }
}
