import CookieModel
import Foundation
import Synchronization
import Testing

@testable import SessionStore

@Suite("No other data of a jar contains a secret in plain text")
struct ColumnSecretTests {
    private let folder = TemporaryFolder()
    private let search = SecretSearch(secrets: [
        "s3cr3t-s3ssion-valu3", "c0de-in-a-qu3ry-0123456", "h1dden-fragm3nt-012345",
    ])

    private func jar() throws -> CookieJar {
        try SessionDatabase(
            path: folder.file("crumb.sqlite"), keys: .file(folder.file("key")), now: Given.now
        ).jar(now: Given.now)
    }

    private func line(_ name: String, _ attributes: String = "Path=/") -> Octets {
        Octets("\(name)=\(search.secrets[0]); \(attributes)")
    }

    @Test("Shared commits leave no secret in other columns, even if some writes fail")
    func sharedCommits() throws {
        do {
            let jar = try jar()
            let context = try Given.context()
            let isDone = Mutex(false)
            let group = DispatchGroup()
            group.enter()
            // A reader beside the writers: it sees the files in the middle of commits.
            let watcher = Thread {
                while !isDone.withLock({ $0 }) {
                    search.expectNothing(in: (try? folder.contents()) ?? [:], "while they write")
                }
                group.leave()
            }
            watcher.start()
            let failures = try onThreads(8) { index in
                (0..<10).count { round in
                    errorCode {
                        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                            try batch.receive(
                                ReceivedResponse(context: context, setCookie: [line("c\(index)-\(round)")]),
                                at: Given.now)
                            if round % 4 == 0 { throw SessionStoreError(.valueDamaged, "test", "thrown by the test") }
                        }
                    } != nil
                }
            }
            isDone.withLock { $0 = true }
            group.wait()
            #expect(failures == Array(repeating: 3, count: 8))
            #expect(try jar.cookies().readable.count == 56)
            search.expectNothing(in: try folder.contents(), "before closing")
        }
        search.expectNothing(in: try folder.contents(), "after closing")
    }

    @Test("The journal has no secret, after any change of a cookie")
    func journal() throws {
        let jar = try jar()
        let secret = search.secrets[0]
        for line in ["a=\(secret)", "a=\(secret)x", "a=\(secret); Max-Age=0", "b=\(secret); Max-Age=5"] {
            try jar.receive("\(line); Path=/")
        }
        try jar.receive("c=\(secret)", now: Given.now.advanced(bySeconds: 100))
        try jar.database.pruneConfirmed(at: Given.now.advanced(bySeconds: 100))
        let page = try jar.changes(after: 0)
        #expect(Set(page.changes.map(\.cause)) == [.stored, .replaced, .deleted, .expired])
        var dumped = ""
        dump(page, to: &dumped)
        #expect(!dumped.contains(secret))
        search.expectNothing(in: try folder.contents(), "with the journal in it")
    }

    @Test("A cookie's origin has no query, fragment or user name of a URL")
    func provenance() throws {
        let (query, fragment) = (search.secrets[1], search.secrets[2])
        do {
            let jar = try jar()
            let url = "https://www.example.com/login/known-path?code=\(query)&x=1#\(fragment)"
            let response = ReceivedResponse(
                context: try Given.context(url), setCookie: [line("live"), line("deep", "Path=/login")])
            try jar.receive(response, now: Given.now)
            let capture = try jar.beginCapture(named: "login.har", now: Given.now)
            try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(response, at: Given.now)
            }
            // No Path attribute: the default path is made of the URL's path alone.
            try jar.receive("default=1", from: url)
            search.expectNothing(in: try folder.contents(), "after writing")
        }
        let files = try folder.contents()
        search.expectNothing(in: files, "after closing")
        // The path is there, so the search would have found what stood beside it.
        #expect(SecretSearch(secrets: ["known-path"]).findings(in: files) == ["crumb.sqlite"])
    }
}
