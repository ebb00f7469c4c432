import CookieModel
import Foundation
import OAuth2
import Synchronization
import Testing

@testable import SessionStore

@Suite("Secrets are nowhere in the clear")
struct SecretSearchTests {
    private let folder = TemporaryFolder()
    private let secrets = [
        "s3cr3t-s3ssion-valu3", "an0ther-v3ry-secret-value", "acc3ss-tok3n-0123456789", "refr3sh-tok3n-0123456789",
        "id.tok3n.0123456789",
    ]

    private func tokens() -> TokenSet {
        TokenSet(
            accessToken: Secret(secrets[2]), refreshToken: Secret(secrets[3]), idToken: Secret(secrets[4]),
            receivedAt: Given.now)
    }

    private func expectNoSecret(in files: [String: [UInt8]], _ moment: Comment) {
        SecretSearch(secrets: secrets).expectNothing(in: files, moment)
    }

    @Test("No secret is in the clear in the database, its log, its index or any other file, at any moment")
    func files() throws {
        let path = folder.file("crumb.sqlite")
        do {
            let database = try SessionDatabase(path: path, keys: .file(folder.file("key")), now: Given.now)
            let jar = try database.jar(now: Given.now)
            try jar.receive(
                "sid=\(secrets[0]); Path=/", "\(secrets[1])", "long=\(secrets[0])\(String(repeating: "x", count: 4000))"
            )
            try database.tokens.put(tokens(), for: Profile(id: ProfileID(), name: "p"), now: Given.now)
            let files = try folder.contents()
            #expect(files.keys.contains("crumb.sqlite-wal") && files.keys.contains("crumb.sqlite-shm"))
            expectNoSecret(in: files, "after writing")
            #expect(try jar.header().contains(secrets[0]))
            try jar.receive("sid=\(secrets[1]); Path=/", "\(secrets[0])")
            expectNoSecret(in: try folder.contents(), "after replacing")
            let response = ReceivedResponse(
                context: try Given.context(), setCookie: [Octets("sid=\(secrets[0]); Path=/")])
            try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(response, at: Given.now)
                expectNoSecret(in: (try? folder.contents()) ?? [:], "within a transaction")
            }
            try jar.setHeaderField(Secret(secrets[0]), named: "X-Key", scope: nil)
            try jar.setHeaderField(Secret(secrets[1]), named: "X-Key", scope: nil)
            try jar.saveSession(named: "s", now: Given.now)
            try jar.restoreSession(named: "s", now: Given.now)
            try database.copyJar(named: "default", to: "copy", now: Given.now)
            try database.mergeJar(named: "default", into: "copy", now: Given.now)
            expectNoSecret(in: try folder.contents(), "after saving, restoring, copying and merging")
            try jar.receive("sid=; Max-Age=0; Path=/")
            _ = try database.tokens.remove("p", now: Given.now)
            _ = try jar.removeHeaderField(named: "X-Key", scope: nil)
            expectNoSecret(in: try folder.contents(), "after deleting")
        }
        let files = try folder.contents()
        #expect(files.keys.sorted() == ["crumb.sqlite", "key"])
        expectNoSecret(in: files, "after closing")
    }

    @Test("No secret is in the clear in any file during and after key rotation, backup, pruning and VACUUM")
    func maintenance() throws {
        let path = folder.file("crumb.sqlite")
        do {
            let database = try SessionDatabase(path: path, keys: .file(folder.file("key")), now: Given.now)
            let jar = try database.jar(now: Given.now)
            try jar.receive("sid=\(secrets[0]); Path=/", "gone=\(secrets[1]); Path=/; Max-Age=10")
            try FullDatabase.saveSession("saved", of: jar)
            try database.tokens.put(tokens(), for: Profile(id: ProfileID(), name: "p"), now: Given.now)
            let log = try folder.bytes("crumb.sqlite-wal")
            let sealed = try ["SELECT value FROM cookie", "SELECT access_token FROM token_profile"].map(database.blob)
            #expect(sealed.allSatisfy { Data(log).firstRange(of: Data($0)) != nil })
            try database.backUp(to: folder.file("backup"))
            _ = try database.rotateKey(batchSize: 1, now: Given.now)
            expectNoSecret(in: try folder.contents(), "after rotating")
            // What was sealed under the old key is gone from file and log too, but for the backup.
            for (name, bytes) in try folder.contents() {
                for value in sealed {
                    #expect((Data(bytes).firstRange(of: Data(value)) != nil) == (name == "backup"), "\(name)")
                }
            }
            _ = try database.prune(vacuum: .always, now: Given.now.advanced(bySeconds: 100))
            _ = try database.check()
            expectNoSecret(in: try folder.contents(), "after pruning")
            #expect(try jar.header().contains("sid=\(secrets[0])"))
        }
        let files = try folder.contents()
        #expect(files.keys.sorted() == ["backup", "crumb.sqlite", "key"])
        expectNoSecret(in: files, "after closing")
        for key in try KeyFile(folder.file("key")).load(mayCreate: false) {
            for name in ["backup", "crumb.sqlite"] {
                #expect(Data(try folder.bytes(name)).firstRange(of: Data(key.exposedBytes)) == nil)
            }
        }
    }

    @Test("No secret is in the clear in the files of a process in the middle of a key rotation, a backup or VACUUM")
    func temporaryFiles() throws {
        let path = folder.file("crumb.sqlite")
        let database = try SessionDatabase(path: path, keys: .file(folder.file("key")), now: Given.now)
        let jar = try database.jar(now: Given.now)
        for number in 0..<300 {
            try jar.receive(
                "c=\(secrets[number % 2])\(String(repeating: "x", count: 2000)); Path=/",
                from: "https://h\(number).example/")
        }
        let isDone = Mutex(false)
        let looks = try onThreads(2) { index in
            var looks = 0
            if index == 0 {
                defer { isDone.withLock { $0 = true } }
                for round in 0..<3 {
                    _ = try database.rotateKey(batchSize: 10, now: Given.now)
                    try database.backUp(to: folder.file("backup\(round)"))
                }
            } else {
                while !isDone.withLock({ $0 }) {
                    expectNoSecret(in: (try? folder.contents()) ?? [:], "meanwhile")
                    looks += 1
                }
            }
            return looks
        }
        #expect(looks[1] > 0)
    }

    @Test("The search for secrets finds existing text")
    func control() throws {
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        try jar.receive("\(secrets[0])=1")
        let log = Data(try folder.bytes("crumb.sqlite-wal"))
        #expect(log.firstRange(of: Data(secrets[0].utf8)) != nil)
    }

    @Test("The key is in no file of the database")
    func key() throws {
        let path = folder.file("crumb.sqlite")
        let database = try SessionDatabase(path: path, keys: .file(folder.file("key")), now: Given.now)
        try database.jar(now: Given.now).receive("a=1")
        let text = String(decoding: try folder.bytes("key"), as: UTF8.self).dropFirst("crumb-key-1:".count)
        let key = try #require(Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(key.count == 32)
        for (name, bytes) in try folder.contents() where name != "key" {
            #expect(Data(bytes).firstRange(of: key) == nil, "\(name)")
        }
    }

    @Test("No error shows a secret, printed or dumped")
    func errors() throws {
        let path = folder.file("crumb.sqlite")
        let database = try Given.database(path, busyTimeout: 0)
        let jar = try database.jar(now: Given.now)
        try jar.receive("sid=\(secrets[0])")
        let profile = Profile(id: ProfileID(), name: "p")
        try database.tokens.put(tokens(), for: profile, now: Given.now)
        var errors: [any Error] = []
        func collect(_ body: () throws -> Void) {
            do { try body() } catch { errors.append(error) }
        }
        try Given.jar(path).withBatch(now: Given.now) { _ throws(SessionStoreError) in
            collect { try jar.receive("sid=\(secrets[1])") }
            collect { try database.tokens.put(tokens(), for: profile, now: Given.now) }
        }
        try database.execute("CREATE TRIGGER t BEFORE INSERT ON cookie BEGIN SELECT raise(ABORT, 'no'); END")
        collect { try jar.receive("new=\(secrets[1])") }
        try database.execute("UPDATE token_profile SET access_token = x'00'")
        collect { _ = try database.tokens.get("p") }
        collect { _ = try database.tokens.get(secrets[0] + "\n") }
        try database.execute("DROP TABLE cookie")
        collect { try jar.receive("sid=\(secrets[1])") }
        collect { _ = try jar.header() }
        #expect(errors.count == 7)
        for error in errors {
            var dumped = ""
            dump(error, to: &dumped)
            let texts = [dumped, "\(error)", String(reflecting: error), error.localizedDescription]
            for secret in secrets { #expect(texts.allSatisfy { !$0.contains(secret) }, "\(error)") }
        }
    }
}
