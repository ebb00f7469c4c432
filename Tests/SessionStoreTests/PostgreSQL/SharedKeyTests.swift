import CookieModel
import OAuth2
import StoreEngine
import Synchronization
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "A new key for services that share a database",
    .onlyOnServer)
struct SharedKeyTests {
    private let folder = TemporaryFolder()
    private let server: TestServer
    private let name: String

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
        _ = try KeyFile(folder.file("one")).load(mayCreate: true)
        try distribute(to: "other", "third")
    }

    /// Copies the key file of the first machine to others.
    private func distribute(to files: String...) throws {
        for file in files {
            let failure = PrivateFile.replace(try folder.bytes("one"), at: folder.file(file))
            try #require(failure == 0)
        }
    }

    /// The database as the service of a machine opens it.
    private func open(_ machine: String) throws -> SessionDatabase {
        try server.open(server.target(name), keys: .file(KeyFile(folder.file(machine))))
    }

    @Test("A new shared key is used by all services at once, and seals everything", arguments: [1, 7, 200])
    func rotated(batchSize: Int) throws {
        let (one, other) = (try open("one"), try open("other"))
        try FullDatabase.fill(one)
        let values = try FullDatabase.values(one)
        #expect(try FullDatabase.values(other) == values)
        #expect(errorCode { try one.rotateKey(now: Given.now) } == .keyRotationRefused)

        try KeyFile(folder.file("one")).addKey(now: Given.now)
        #expect(try one.keyUse() == .former)
        try distribute(to: "other")
        // Nothing uses it yet, and a service that begins now knows the old one.
        #expect(try FullDatabase.values(open("other")) == values)
        var counts: [Int] = []
        let rotation = try one.rotateKey(batchSize: batchSize, now: Given.now) { counts.append($0) }
        #expect(rotation.resealed == values.count && rotation.unreadable.isEmpty)
        #expect(counts == counts.sorted() && counts.last == values.count)
        #expect(try FullDatabase.count(one, under: 1) == 0)
        #expect(try one.number("SELECT count(*) FROM sealing_key") == 1)
        #expect(try one.keyUse() == .newest)
        #expect(try one.needed(one.formerKeys()).isEmpty)

        for database in [one, other, try open("other")] {
            #expect(try FullDatabase.values(database) == values)
        }
        for database in [one, other] {
            try database.jar(now: Given.now).receive("new=1; Path=/", from: "https://new.example/")
        }
        #expect(try FullDatabase.count(one, under: 1) == 0)
        // The former key is needed no more.
        let file = KeyFile(folder.file("one"))
        try file.forget(try file.formerKeys())
        #expect(try FullDatabase.values(open("one")).count == values.count + 1)
    }

    @Test("A new shared key is a clear error for a service whose file does not have it, until it does")
    func missing() throws {
        let (one, third) = (try open("one"), try open("third"))
        let jar = try third.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        try KeyFile(folder.file("one")).addKey(now: Given.now)
        _ = try one.rotateKey(now: Given.now)
        #expect(errorCode { try jar.receive("b=1; Path=/") } == .keyChanged)
        #expect(errorCode { try jar.cookies() } == .keyChanged)
        try distribute(to: "third")
        try jar.receive("b=1; Path=/")
        #expect(try jar.header() == "a=1; b=1")
    }

    @Test("A new shared key does not replace a missing key that values may need")
    func oldKeyMissing() throws {
        let one = try open("one")
        try FullDatabase.fill(one, cookies: 3)
        let values = try FullDatabase.values(one)
        let file = KeyFile(folder.file("one"))
        try file.addKey(now: Given.now)
        let both = try folder.bytes("one")
        // An interrupted rotation, after which the old key was removed too early.
        let new = try #require(try file.load(mayCreate: false).last)
        try one.write { try SealingKeyRows(database: $0).append(new, now: Given.now) }
        try folder.write(Array(try #require(both.split(separator: 10).last)) + [10], to: "one")
        let next = try open("one")
        #expect(errorCode { try next.rotateKey(now: Given.now) } == .keyMissing)
        #expect(try next.number("SELECT count(*) FROM sealing_key") == 2)
        #expect(try next.check().findings.first?.subject == folder.file("one"))
        try folder.write(both, to: "one")
        let back = try open("one")
        #expect(try back.rotateKey(now: Given.now).resealed == values.count)
        #expect(try FullDatabase.values(back) == values)
    }

    @Test("A shared key rotation loses no value that services write meanwhile, and restores no deleted one")
    func busy() throws {
        let first = try open("one")
        try FullDatabase.fill(first, cookies: 10)
        let isDone = Mutex(false)
        let rounds = Mutex(0)
        _ = try onThreads(5) { thread in
            if thread == 0 {
                defer { isDone.withLock { $0 = true } }
                let own = try open("one")
                for _ in 0..<6 {
                    try KeyFile(folder.file("one")).addKey(now: Given.now)
                    try distribute(to: "other", "third")
                    _ = try own.rotateKey(batchSize: 3, now: Given.now)
                }
                return
            }
            let own = try open(thread % 2 == 0 ? "other" : "third")
            let jar = try own.jar(named: "writer \(thread)", now: Given.now)
            var number = 0
            while !isDone.withLock({ $0 }) || number < 20 {
                try jar.receive("kept=\(number); Path=/")
                try jar.receive("gone=\(number); Path=/")
                try jar.setHeaderField(Secret("\(number)"), named: "X-Number", scope: nil)
                try jar.receive("gone=; Path=/; Max-Age=0")
                let header = try jar.header()
                #expect(header == "kept=\(number)")
                number += 1
            }
            rounds.withLock { $0 += number }
            #expect(try jar.headerFields().map { $0.value } == [Secret("\(number - 1)")])
        }
        #expect(rounds.withLock { $0 } >= 80)
        let after = try open("one")
        #expect(try after.check().findings.isEmpty)
        #expect(try after.number("SELECT count(*) FROM sealing_key") == 1)
        for number in 1...4 {
            #expect(try after.jar(named: "writer \(number)", now: Given.now).cookies().readable.map(\.name) == ["kept"])
        }
    }
}
