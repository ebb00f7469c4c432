import CookieModel
import Testing

@testable import SessionStore

@Suite("Where a cookie came from")
struct ProvenanceTests {
    private func id(_ name: String, _ jar: CookieJar) throws -> Cookie.ID {
        try #require(try jar.cookies().readable.first { $0.name == Octets(name) }).id
    }

    private func digest(_ text: String) -> CaptureDigest {
        var digest = CaptureDigest()
        digest.update(text.utf8)
        return digest
    }

    @Test("The origin of a live cookie is the URL of its last response, without the query, and the time")
    func live() throws {
        let jar = try Given.jar()
        try jar.receive("a=1; Path=/", from: "https://www.example.com:8443/login?code=s3cr3t")
        #expect(
            try jar.origin(of: id("a", jar))
                == CookieOrigin(capture: nil, url: "https://www.example.com:8443/login", received: Given.now))
        let later = Given.now.advanced(bySeconds: 5)
        try jar.receive("a=2; Path=/", from: "https://www.example.com/other", now: later)
        #expect(
            try jar.origin(of: id("a", jar))
                == CookieOrigin(capture: nil, url: "https://www.example.com/other", received: later))
        #expect(
            try jar.origin(
                of: Cookie.ID(
                    name: "x", domain: try #require(WebHost("example.com")), isHostOnly: true, path: "/",
                    partitionKey: nil)) == nil)
    }

    @Test("The origin of an imported cookie has the capture's name and the time of its response; a record has no URL")
    func capture() throws {
        let jar = try Given.jar()
        let capture = try jar.beginCapture(named: "login.har", now: Given.now)
        let earlier = Given.now.advanced(bySeconds: -50)
        let response = ReceivedResponse(context: try Given.context(), setCookie: ["a=1; Path=/"])
        let record = CookieRecord(name: "b", value: "1", domain: "www.example.com", isHostOnly: true)
        try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
            try batch.receive(response, at: earlier)
            try batch.receive(record)
        }
        #expect(
            try jar.origin(of: id("a", jar))
                == CookieOrigin(capture: "login.har", url: "https://www.example.com/", received: earlier))
        #expect(
            try jar.origin(of: id("b", jar)) == CookieOrigin(capture: "login.har", url: nil, received: Given.now))
        let origins = try jar.origins()
        #expect(origins.count == 2)
        for name in ["a", "b"] { #expect(try origins[id(name, jar)] == jar.origin(of: id(name, jar))) }
    }

    @Test("A completely imported capture is recognized by its octets, in the jar that has imported it")
    func known() throws {
        let database = try Given.database()
        let jar = try database.jar(now: Given.now)
        let other = try database.jar(named: "other", now: Given.now)
        let capture = try jar.beginCapture(named: "login.har", now: Given.now)
        #expect(try jar.importedCapture(digest("x")) == nil)
        try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
            try batch.finishCapture(digest("x"))
        }
        #expect(try jar.importedCapture(digest("x")) == CaptureRecord(name: "login.har", imported: Given.now))
        #expect(try jar.importedCapture(digest("y")) == nil)
        #expect(try other.importedCapture(digest("x")) == nil)
        // Imported again, the later one counts.
        let later = Given.now.advanced(bySeconds: 5)
        let again = try jar.beginCapture(named: "copy.har", now: later)
        try jar.withBatch(from: again, now: later) { batch throws(SessionStoreError) in
            try batch.finishCapture(digest("x"))
        }
        #expect(try jar.importedCapture(digest("x")) == CaptureRecord(name: "copy.har", imported: later))
    }
}
