import CookieModel
import Foundation
import HTTPTypes
import Logging
import NIOCore
import OAuth2
import Synchronization
import Testing

@testable import SessionService
@testable import SessionStore

@Suite("Persistent failures of the service")
struct ServiceHealthTests {
    private static func log(_ log: CollectedLog) -> Logger {
        Logger(label: "test") { label in
            ServiceLogHandler(label: label, now: { RunningServer.now }, write: { log.append($0) })
        }
    }

    private static func lines(_ log: CollectedLog) -> [[String: String]] {
        log.text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode([String: String].self, from: Data($0.utf8))
        }
    }

    @Test("A failure is logged for a terminal as a line of text without control characters")
    func text() {
        let log = CollectedLog()
        var logger = Logger(label: "test") { label in
            ServiceLogHandler(
                label: label, isForPerson: true, now: { RunningServer.now }, write: { log.append($0) })
        }
        logger[metadataKey: "b"] = "2\n\u{1B}[31m"
        logger.info("Listening", metadata: ["address": "127.0.0.1:80"])
        logger.warning("Full")
        let details = "b=2\\x0A\\x1B[31m\n"
        #expect(log.text == "Listening address=127.0.0.1:80 \(details)warning: Full \(details)", "\(log.text)")
    }

    @Test("A failure is logged once in ten seconds for each kind, with the number of failures between")
    func logged() {
        let log = CollectedLog()
        let time = Mutex(NIODeadline.uptimeNanoseconds(1))
        let health = ServiceHealth(logger: Self.log(log), clock: { time.withLock { $0 } })
        let full = SessionStoreError(.diskFull, "/a", "the disk is full")
        for _ in 0..<100 { health.note(full, peer: "socket") }
        for _ in 0..<5 { health.note(ServiceFailure.tokenRefused, peer: "192.0.2.1") }
        // What is about one request alone.
        health.note(SessionStoreError(.jarNotFound, "a", "b"), peer: "socket")
        health.note(SessionStoreError(.databaseBusy, "a", "b"), peer: "socket")
        health.note(ServiceFailure.tokenMissing, peer: "socket")
        time.withLock { $0 = $0 + .seconds(10) }
        health.note(full, peer: "socket")
        let lines = Self.lines(log)
        #expect(lines.map { $0["code"] } == ["disk-full", "token-refused", "disk-full"])
        #expect(lines.map { $0["further"] } == [nil, nil, "99"])
        #expect(lines.map { $0["peer"] } == [nil, "192.0.2.1", nil])
        #expect(lines.allSatisfy { $0["level"] == "warning" })
    }

    @Test("Wrong tokens and connections beyond the limit are in the log")
    func attempts() async throws {
        let server = try await RunningServer.with {
            $0.limits.connections = 1
        } _: { server in
            let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer wr0ng"]
            try await RawConnection.with(port: server.port) { connection in
                let refused = try await connection.ask("GET", "/v1/jars", fields)
                #expect(refused.status == 401)
                try await RawConnection.with(port: server.port) { second in
                    let exhausted = try await second.ask("GET", "/v1/jars", fields)
                    #expect(exhausted.status == 503)
                }
            }
        }
        let codes = Self.lines(server.log).filter { $0["level"] == "warning" }.compactMap { $0["code"] }
        #expect(Set(codes).isSuperset(of: ["token-refused", "connections-exhausted"]))
        #expect(!server.log.text.contains("wr0ng"))
    }

    @Test("A server that confirms no heartbeat for three seconds makes the service unready, without being asked")
    func silentServer() throws {
        let fixture = try ServiceFixture()
        let time = Mutex(NIODeadline.uptimeNanoseconds(1))
        let health = ServiceHealth(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { time.withLock { $0 } })
        health.noteHeartbeat(nil)
        for (pause, isReady) in [(TimeAmount.milliseconds(2999), true), (.milliseconds(1), false)] {
            time.withLock { $0 = $0 + pause }
            health.noteHeartbeat(SessionStoreError(.databaseUnreachable, "a", "b"))
            let outcome = Result { try health.check(fixture.database, now: .distantPast) }
            #expect(((try? outcome.get()) != nil) == isReady)
            if case .failure(let error as ServiceFailure) = outcome {
                #expect(error.status == .serviceUnavailable && error.detail.contains("for 3 seconds"))
            }
        }
        health.noteHeartbeat(nil)
        try health.check(fixture.database, now: .distantPast)
    }

    @Test("A server that confirms no heartbeat for five seconds is not asked any more, until it confirms one")
    func refusal() throws {
        let fixture = try ServiceFixture()
        let time = Mutex(NIODeadline.uptimeNanoseconds(1))
        let health = ServiceHealth(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { time.withLock { $0 } })
        // A service that has just begun waits for its first one.
        time.withLock { $0 = $0 + .seconds(60) }
        try health.checkHeartbeat(fixture.database)
        health.noteHeartbeat(nil)
        for (pause, isAsked) in [(TimeAmount.milliseconds(4999), true), (.milliseconds(1), false)] {
            time.withLock { $0 = $0 + pause }
            health.noteHeartbeat(SessionStoreError(.databaseUnreachable, "a", "b"))
            let outcome = Result { try health.checkHeartbeat(fixture.database) }
            #expect(((try? outcome.get()) != nil) == isAsked && health.isSilent != isAsked)
            if case .failure(let error as SessionStoreError) = outcome { #expect(error.code == .databaseFenced) }
        }
        health.noteHeartbeat(nil)
        try health.checkHeartbeat(fixture.database)
    }

    @Test("After a write that found the disk full the service is ready once a write succeeds again")
    func recovery() throws {
        let fixture = try ServiceFixture()
        let health = ServiceHealth(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try health.check(fixture.database, now: .distantPast)
        let commits = fixture.database.writeLoad.commits
        health.note(SessionStoreError(.diskFull, "/a", "the disk is full"), peer: "socket")
        try health.check(fixture.database, now: .distantPast)
        #expect(fixture.database.writeLoad.commits == commits + 1)
        // Nobody who asks makes it write again.
        try health.check(fixture.database, now: .distantPast)
        #expect(fixture.database.writeLoad.commits == commits + 1)
    }

    @Test("A key that is locked and rotated during the service is a separate problem, which names the next step")
    func lockedKey() async throws {
        let folder = TemporaryFolder()
        let passphrase = Secret("correct horse")
        let server = try await RunningServer.with(keys: .file(folder.file("key"))) { server in
            let token = try server.ownerToken
            // Another process locks the key, which changes nothing for this one, and rotates it.
            let file = KeyFile(folder.file("key"), passphrase: .passphrase(passphrase))
            try file.changePassphrase(to: passphrase)
            let other = try SessionDatabase(path: server.database.path, keys: .file(file), now: RunningServer.now)
            try await RawConnection.with(path: server.socket) { connection in
                let before = try await connection.ask("GET", "/readyz")
                #expect(before.status == 200)
                _ = try other.rotateKey(now: RunningServer.now)
                for path in ["/readyz", "/v1/jars", "/v1/jars/work/cookies"] {
                    let answer = try await connection.ask("GET", path)
                    #expect(answer.status == 503 && answer.body.contains(#""code":"key-locked""#), "\(answer.body)")
                    #expect(answer.body.contains("The key is locked; restart with CRUMB_PASSPHRASE_FILE."))
                }
                let alive = try await connection.ask("GET", "/healthz")
                #expect(alive.status == 200)
                let page = try await connection.ask("GET", "/")
                #expect(page.status == 503 && page.body.contains("The key is locked; restart with"))
            }
            // With an access token it is the lookup of that which fails.
            try await RawConnection.with(port: server.port) { connection in
                let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"]
                let answer = try await connection.ask("GET", "/v1/jars", fields)
                #expect(answer.status == 503 && answer.body.contains("key-locked"), "\(answer.body)")
            }
        }
        #expect(Self.lines(server.log).contains { $0["code"] == "key-locked" && $0["level"] == "warning" })
    }
}
