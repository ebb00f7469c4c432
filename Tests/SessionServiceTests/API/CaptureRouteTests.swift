import CookieModel
import Foundation
import HTTPTypes
import SessionOperations
import SessionStore
import Testing

@testable import SessionService

@Suite("Captures that are sent")
struct CaptureRouteTests {
    private static let route = "/v1/jars/default/captures"
    private static let dump = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Domain=b.test\r\n\r\n"

    @Test("A posted capture is imported, and every line is accounted for")
    func taken() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(.post, "\(Self.route)?url=https://a.test/&source=dump", bytes: Array(Self.dump.utf8))
        }
        #expect(answer.object["taken"] as? Int == 1 && answer.object["source"] as? String == "dump")
        let refused = answer.object["refused"] as? [[String: Any]]
        #expect(refused?.first?["place"] as? String == "dump: entry 1, line 1")
    }

    @Test("A capture that is posted again changes nothing, unless that is requested")
    func again() async throws {
        try await ServiceFixture().run { client in
            let uri = "\(Self.route)?url=https://a.test/"
            _ = try await client.send(.post, uri, bytes: Array(Self.dump.utf8))
            let second = try await client.send(.post, uri, bytes: Array(Self.dump.utf8))
            #expect(second.object["alreadyImported"] != nil && second.object["taken"] as? Int == 0)
            let third = try await client.send(.post, "\(uri)&again=true", bytes: Array(Self.dump.utf8))
            #expect(third.object["alreadyImported"] == nil && third.object["replaced"] as? Int == 1)
        }
    }

    @Test("A cookie file that is imported again does not change properties that it cannot state")
    func returning() async throws {
        let dump = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Path=/; Secure; HttpOnly; SameSite=Strict\r\n\r\n"
        let file = "# Netscape HTTP Cookie File\na.test\tFALSE\t/\tTRUE\t0\tsid\t2\n"
        try await ServiceFixture().run { client in
            _ = try await client.send(.post, "\(Self.route)?url=https://a.test/", bytes: Array(dump.utf8))
            let report = try await client.send(.post, Self.route, bytes: Array(file.utf8)).object
            #expect(report["kept"] as? [String: Int] == ["http-only": 1, "same-site": 1])
            let list = try await client.send(.get, "/v1/jars/default/cookies").object
            let cookies = list["cookies"] as? [[String: Any]] ?? []
            let cookie = cookies.first { $0["domain"] as? String == "a.test" }
            #expect(cookie?["httpOnly"] as? Bool == true && cookie?["sameSite"] as? String == "Strict")
        }
    }

    @Test(
        "An expired cookie is not restored from an older request, as a dry run reports, too",
        arguments: [true, false])
    func expired(isDry: Bool) throws {
        let jar = try ServiceFixture().database.jar(named: "default", now: ServiceFixture.now)
        func entry(after seconds: Int64, _ request: String, _ response: String) -> String {
            let time = ServiceFixture.now.advanced(bySeconds: seconds).rfc3339
            return """
                {"log": {"version": "1.2", "entries": [{"startedDateTime": "\(time)", "request": {"method": "GET", "url": \
                "https://a.test/", "headers": [\(request)]}, "response": {"status": 200, "headers": [\(response)]}}]}}
                """
        }
        func run(_ capture: String, after seconds: Int64, _ target: LazyJar) throws -> ImportReport {
            let options = CaptureImport(takesRequestCookies: true)
            var importer = CaptureImporter(
                of: "x", into: target, options, now: ServiceFixture.now.advanced(bySeconds: seconds))
            try importer.read(Array(capture.utf8)[...])
            return try importer.finish()
        }
        let target = LazyJar(jar)
        let login = entry(after: 0, "", #"{"name": "Set-Cookie", "value": "sid=1; Path=/; Max-Age=60"}"#)
        #expect(try run(login, after: 0, target).taken == 1)
        let other = isDry ? LazyJar(named: "default", existing: jar, policy: jar.policy, creation: nil) : target
        for (sent, isTaken) in [(30, false), (61, true)] as [(Int64, Bool)] {
            let request = entry(after: sent, #"{"name": "Cookie", "value": "sid=1; b=2"}"#, "")
            let counts = try #require(try run(request, after: 100, other).requestCookies)
            #expect(counts.expired == (isTaken ? 0 : 1) && counts.taken == (isTaken ? 2 : 1))
        }
    }

    @Test("A response of unknown time sets a cookie again that an earlier entry deleted, as a dry run reports, too")
    func deletedBeforeUnknownTime() throws {
        func entry(_ time: String, _ line: String) -> String {
            """
            {"startedDateTime": "\(time)", "request": {"method": "GET", "url": "https://a.test/", "headers": []}, \
            "response": {"status": 200, "headers": [{"name": "Set-Cookie", "value": "\(line)"}]}}
            """
        }
        let earlier = ServiceFixture.now.advanced(bySeconds: -3600).rfc3339
        let untimed = entry("unknown", "sid=3")
        let rows: [(entries: [String], isStored: Bool)] = [
            ([entry(earlier, "a=1"), untimed], false),
            ([entry(earlier, "sid=2; Max-Age=0"), untimed], true),
        ]
        for (entries, isStored) in rows {
            let jar = try ServiceFixture().database.jar(named: "default", now: ServiceFixture.now)
            let context = RequestContext(url: try RequestURL("https://a.test/"))
            try jar.receive(ReceivedResponse(context: context, setCookie: ["sid=1"]), now: ServiceFixture.now)
            let dryRun = LazyJar(named: "default", existing: jar, policy: jar.policy, creation: nil)
            for target in [dryRun, LazyJar(jar)] {
                var importer = CaptureImporter(of: "x", into: target, CaptureImport(), now: ServiceFixture.now)
                let capture = #"{"log": {"version": "1.2", "entries": [\#(entries.joined(separator: ", "))]}}"#
                try importer.read(Array(capture.utf8)[...])
                let report = try importer.finish()
                let reasons = report.refused.flatMap(\.reasons).map(\.id)
                #expect(reasons == (isStored ? [] : ["time-unknown"]), "\(target.isDryRun)")
                #expect(report.taken == 1, "\(target.isDryRun)")
                #expect(report.deleted == (isStored ? 1 : 0), "\(target.isDryRun)")
            }
        }
    }

    @Test("A dry run returns the report of an import, stores nothing and needs no jar")
    func dryRun() async throws {
        try await ServiceFixture().run { client in
            let query = "captures?url=https://a.test/&dryRun=true"
            for jar in ["default", "third"] {
                let trial = try await client.send(.post, "/v1/jars/\(jar)/\(query)", bytes: Array(Self.dump.utf8))
                #expect(trial.object["taken"] as? Int == 1, "\(jar)")
            }
            let list = try await client.send(.get, "/v1/jars/default/cookies").object
            let domains = (list["cookies"] as? [[String: Any]] ?? []).compactMap { $0["domain"] as? String }
            #expect(!domains.isEmpty && !domains.contains("a.test"))
            #expect(try await client.send(.get, "/v1/jars/third").status == 404)
        }
    }

    @Test("A capture larger than the held-back part is read as it arrives, and followed")
    func followed() async throws {
        let lines = (0..<120_000).map {
            "a.test\tFALSE\t/\tFALSE\t0\tn\($0 % 90)\t\(String(repeating: "v", count: 30))\n"
        }
        let file = Array(("# Netscape HTTP Cookie File\n" + lines.joined()).utf8)
        #expect(file.count > 4 << 20)
        let answer = try await ServiceFixture().run { client in
            try await client.send(.post, Self.route, bytes: file, fields: [.accept: "application/x-ndjson"])
        }
        #expect(answer.mediaType == "application/x-ndjson")
        let decoder = JSONDecoder()
        let told = try answer.text.split(separator: "\n").map {
            try decoder.decode(CaptureProgressLine.self, from: Data($0.utf8))
        }
        let progress = told.compactMap(\.progress)
        #expect(progress.count >= 4 && progress.map(\.bytes) == progress.map(\.bytes).sorted())
        #expect(progress.last?.cookies ?? 0 > 0)
        let report = try #require(told.last?.report)
        #expect(report.lines == 120_000 && report.failures.isEmpty)
    }

    @Test("A large capture is recognized at its end, and changes nothing, unless that is requested")
    func largeAgain() async throws {
        let filler = "# " + String(repeating: "x", count: 1000) + "\n"
        let file = Array(
            ("# Netscape HTTP Cookie File\n" + String(repeating: filler, count: 5000)
                + "a.test\tFALSE\t/\tFALSE\t0\tbig\t1\n").utf8)
        #expect(file.count > 4 << 20)
        try await ServiceFixture().run { client in
            let first = try await client.send(.post, Self.route, bytes: file)
            #expect(first.object["taken"] as? Int == 1 && first.object["alreadyImported"] == nil, "\(first.text)")
            let before = try await client.send(.get, "/v1/jars/default/changes")
            let second = try await client.send(.post, "\(Self.route)?source=other", bytes: file)
            #expect(second.object["alreadyImported"] != nil && second.object["taken"] as? Int == 0, "\(second.text)")
            #expect(try await client.send(.get, "/v1/jars/default/changes").text == before.text)
            let third = try await client.send(.post, "\(Self.route)?again=true", bytes: file)
            #expect(third.object["alreadyImported"] == nil && third.object["replaced"] as? Int == 1)
            // One that differs in its last octet is another.
            let other = try await client.send(.post, Self.route, bytes: file.dropLast(2) + Array("2\n".utf8))
            #expect(other.object["replaced"] as? Int == 1)
        }
    }

    @Test("The problems of a capture are in its report")
    func broken() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(.post, Self.route, bytes: Array("nothing known".utf8))
        }
        let failures = answer.object["failures"] as? [[String: Any]]
        #expect(answer.status == 200 && failures?.first?["code"] as? String == "input-unrecognized")
    }

    @Test("The last line of a followed import is its failure")
    func refusedWhileFollowed() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                .post, Self.route, bytes: Array("SQLite format 3\0".utf8), fields: [.accept: "application/x-ndjson"])
        }
        #expect(answer.status == 200 && answer.text.contains(#""code":"input-unrecognized""#))
    }
}
