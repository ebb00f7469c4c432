import CookieModel
import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("Pages of jars, and jars that are made by PUT")
struct JarPageTests {
    private func names(_ answer: ServiceAnswer) -> [String] {
        (answer.object["jars"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }

    @Test("A list of jars has a bounded page, and 'next' leads to all of them", arguments: [1, 2, 3, 100])
    func pages(limit: Int) async throws {
        let fixture = try ServiceFixture()
        for name in ["a/b", "Ü", "z"] { try fixture.database.createJar(named: name, now: ServiceFixture.now) }
        try await fixture.run { client in
            var found: [String] = []
            var cursor = ""
            for _ in 0..<10 {
                let answer = try await client.send(.get, "/v1/jars?limit=\(limit)\(cursor)")
                #expect(answer.status == 200 && names(answer).count <= limit)
                #expect(try APIDocument().faults(of: answer, to: "GET /v1/jars") == [])
                found += names(answer)
                guard let next = answer.object["next"] as? String else { break }
                cursor = "&cursor=\(next)"
            }
            #expect(found == ["a/b", "default", "other", "z", "Ü"])
        }
    }

    @Test("Without a limit, a page has a thousand jars")
    func bounded() async throws {
        let fixture = try ServiceFixture()
        for number in 0..<1000 { try fixture.database.createJar(named: "x\(number)", now: ServiceFixture.now) }
        try await fixture.run { client in
            let answer = try await client.send(.get, "/v1/jars")
            #expect(names(answer).count == 1000 && answer.object["next"] != nil)
        }
    }

    @Test("Pages have only the jars of the token, and bad parameters are rejected")
    func grants() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run(AccessGrant(verbs: [.read], jars: .named(["other", "none"]))) { client in
            let answer = try await client.send(.get, "/v1/jars?limit=1")
            #expect(names(answer) == ["other"] && answer.object["next"] == nil)
            for query in [
                "limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=ff", "cursor=6", "page=2", "cursor=", "cursor",
                "cursor=00",
                "cursor=2e2e",
            ] {
                let refused = try await client.send(.get, "/v1/jars?\(query)")
                #expect(refused.status == 400 && refused.code == "parameter-invalid", "\(query)")
            }
        }
    }

    @Test("The sites of all jars come in bounded pages, each once for each of its jars", arguments: [1, 2, 100])
    func sites(limit: Int) async throws {
        let fixture = try ServiceFixture()
        let more = try fixture.database.jar(named: "a/b", now: ServiceFixture.now)
        for site in ["example.com", "other.test"] {
            let context = CookieModel.RequestContext(url: try RequestURL("https://www.\(site)/"))
            let lines: [Octets] = ["a=1; Path=/; Max-Age=100", "b=1; Path=/"]
            try more.receive(ReceivedResponse(context: context, setCookie: lines), now: ServiceFixture.now)
        }
        try await fixture.run { client in
            var found: [[String: Any]] = []
            var cursor = ""
            for _ in 0..<10 {
                let answer = try await client.send(.get, "/v1/sites?limit=\(limit)\(cursor)")
                let page = answer.object["sites"] as? [[String: Any]] ?? []
                #expect(answer.status == 200 && page.count <= limit, "\(answer.text)")
                #expect(try APIDocument().faults(of: answer, to: "GET /v1/sites") == [])
                found += page
                guard let next = answer.object["next"] as? String else { break }
                cursor = "&cursor=\(next)"
            }
            let names = found.map { "\($0["site"] as? String ?? "") in \($0["jar"] as? String ?? "")" }
            #expect(Set(names).count == names.count && names.last == "other.test in a/b")
            #expect(
                Set(names).isSuperset(of: ["example.com in a/b", "example.com in default", "example.com in other"]))
            #expect(found.last?["cookies"] as? Int == 2 && found.last?["nextExpiry"] is String)
        }
    }

    @Test("Sites of other jars than those of the token are not listed, not even with their names")
    func sitesOfGrant() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run(AccessGrant(verbs: [.read], jars: .named(["other"]))) { client in
            for query in ["", "?jar=other"] {
                let answer = try await client.send(.get, "/v1/sites\(query)")
                let sites = answer.object["sites"] as? [[String: Any]] ?? []
                #expect(!sites.isEmpty && sites.allSatisfy { $0["jar"] as? String == "other" }, "\(answer.text)")
            }
            for jar in ["default", "none"] {
                let refused = try await client.send(.get, "/v1/sites?jar=\(jar)")
                #expect(refused.status == 404 && refused.code == "jar-not-found")
            }
            let refused = try await client.send(.get, "/v1/sites?cursor=x")
            #expect(refused.status == 400 && refused.code == "parameter-invalid")
        }
    }

    @Test("PUT creates a jar once, and finds it the second time; the body determines the settings")
    func put() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            for (body, status, profile) in [
                (nil, 201, "rfc6265bis"), (nil, 200, "rfc6265bis"), ("{}", 200, "rfc6265bis"),
                (#"{"name":"new","profile":"browser"}"#, 200, "browser"), (nil, 200, "browser"),
            ] as [(String?, Int, String)] {
                let answer = try await client.send(.put, "/v1/jars/new", body)
                #expect(answer.status == status && answer.object["profile"] as? String == profile, "\(answer.text)")
                #expect(try APIDocument().faults(of: answer, to: "PUT /v1/jars/{jar}") == [])
            }
            let strict = try await client.send(.put, "/v1/jars/strict", #"{"limits":{"total-cookies":7}}"#)
            let limits = strict.object["limits"] as? [String: Any]
            #expect(strict.status == 201 && limits?["total-cookies"] as? Int == 7)
            let other = try await client.send(.put, "/v1/jars/new", #"{"name":"another"}"#)
            #expect(other.status == 400 && other.code == "body-invalid", "\(other.text)")
        }
        #expect(try fixture.database.jars(now: ServiceFixture.now).map(\.name).contains("new"))
    }

    @Test("A token for a jar can create that jar, and no other")
    func limitedPut() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run(AccessGrant(verbs: [.write], jars: .named(["mine"]))) { client in
            let statuses = [
                try await client.send(.put, "/v1/jars/mine").status,
                try await client.send(.put, "/v1/jars/mine").status,
                try await client.send(.put, "/v1/jars/else").status,
            ]
            #expect(statuses == [201, 200, 404])
        }
    }
}
