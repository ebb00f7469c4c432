import Foundation
import TestSupport
import Testing

@Suite("crumb plan")
struct PlanCommandTests {
    private let home = CrumbHome()
    private let url = "https://www.example.com/"

    private func steps(_ result: RunResult) throws -> [[String: Any]] {
        try #require(try result.objects().first?["steps"] as? [[String: Any]])
    }

    private func names(_ step: [String: Any]) -> [String] {
        (step["cookies"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }

    @Test("The store first, then the script, the page, and the cookies to verify")
    func steps() throws {
        try home.receive("sid=secret; HttpOnly; Path=/", "theme=dark; Path=/; Domain=example.com; Max-Age=60")
        try home.receive("else=1; Path=/", from: "https://www.example.net/")
        let result = try home.crumb("plan", url)
        #expect(result.status == 0 && result.messages.isEmpty)
        let steps = try steps(result)
        #expect(
            steps.compactMap { $0["step"] as? String } == ["put-into-store", "install-script", "load", "verify"])
        #expect(Set(names(steps[0])) == ["sid", "theme", "else"] && Set(names(steps[3])) == ["sid", "theme"])
        let cookies = try #require(steps[0]["cookies"] as? [[String: Any]])
        let sid = try #require(cookies.first { $0["name"] as? String == "sid" })
        #expect(sid["value"] as? String == "secret" && sid["httpOnly"] as? Bool == true)
        #expect(sid["domain"] as? String == "www.example.com" && sid["hostOnly"] as? Bool == true)
        #expect(sid["expires"] == nil)
        let theme = try #require(cookies.first { $0["name"] as? String == "theme" })
        #expect(theme["domain"] as? String == "example.com" && theme["hostOnly"] as? Bool == false)
        #expect(theme["expires"] is String)
        #expect((steps[1]["script"] as? String)?.contains("theme") == true)
        #expect((steps[1]["script"] as? String)?.contains("secret") == false)
        #expect(steps[2]["url"] as? String == url && steps[2]["cookie"] == nil)
    }

    @Test("Cookies that the store has are not put into it again, in each form of its dump")
    func native() throws {
        try home.receive("sid=secret; HttpOnly; Path=/", "theme=dark; Path=/")
        let dump = try home.crumb("list", "--json", "--values").output
        try home.write(dump, to: "lines")
        try home.write(
            Array("[".utf8) + dump.split(separator: 0x0A).joined(separator: [0x2C]) + Array("]".utf8), to: "array")
        for file in ["lines", "array"] {
            let steps = try steps(try home.crumb("plan", "--native", home.file(file), url))
            #expect(steps.compactMap { $0["step"] as? String } == ["install-script", "load", "verify"])
        }
        try home.write(#"{"name":"theme","value":"light","domain":"www.example.com","hostOnly":true}"#, to: "other")
        let steps = try steps(try home.crumb("plan", "--native", home.file("other"), url))
        #expect(Set(names(steps[0])) == ["sid", "theme"])
    }

    @Test("Without a store the request carries everything")
    func withoutStore() throws {
        try home.receive("sid=secret; HttpOnly; Path=/")
        let steps = try steps(try home.crumb("plan", "--without-store", url))
        #expect(steps.compactMap { $0["step"] as? String } == ["load"])
        #expect(steps[0]["cookie"] as? String == "sid=secret")
    }

    @Test("Cookies that no store can hold are listed with the reason, and sent with the request")
    func omitted() throws {
        try home.receive("=nameless; Path=/")
        let result = try home.crumb("plan", url)
        let omitted = try #require(try result.objects().first?["omitted"] as? [[String: Any]])
        #expect((omitted.first?["reasons"] as? [[String: Any]])?.first?["id"] as? String == "nameless-not-held")
        #expect(try steps(result).last?["cookie"] as? String == "nameless")
    }

    @Test("A jar with nothing in it leads to the page all the same")
    func nothing() throws {
        let result = try home.crumb("plan", url)
        #expect(result.status == 0)
        #expect(try steps(result).compactMap { $0["step"] as? String } == ["load"])
    }

    @Test("Through a gateway, the plan has no cookie")
    func gateway() throws {
        try home.receive("sid=hidden; Path=/")
        let result = try home.crumb("plan", "--gateway", "127.0.0.1:8080", url)
        #expect(try steps(result).compactMap { $0["step"] as? String } == ["use-gateway", "load"])
        #expect(try steps(result).first?["url"] as? String == "http://127.0.0.1:8080")
        #expect(!result.text.contains("hidden"))
        #expect(try home.crumb("plan", "--gateway", "8080", url).status == 64)
        #expect(try home.crumb("plan", "--gateway", ":8080", "--without-store", url).status == 64)
    }

    @Test("For a user of a gateway, the plan has the name and the secret, which is not in the URL")
    func gatewayUser() throws {
        let added = try home.crumb("gateway", "user", "add", "anna", "--users", home.file("users.json"))
        let file = try home.write(added.output, to: "anna.secret")
        let user = ["--gateway-user", "anna", "--gateway-secret-file"]
        func plan(_ words: [String]) throws -> RunResult {
            try home.start(["plan", "--gateway", ":8080"] + words + [url]).wait()
        }
        let step = try #require(try steps(try plan(user + [file])).first)
        let secret = String(added.text.dropLast())
        #expect(step["step"] as? String == "use-gateway" && step["url"] as? String == "http://127.0.0.1:8080")
        #expect(step["user"] as? String == "anna" && step["secret"] as? String == secret)
        let without = try #require(try steps(try plan([])).first)
        #expect(without["user"] == nil && without["secret"] == nil)

        #expect(try plan(Array(user.prefix(2))).status == 64)
        #expect(try plan(["--gateway-secret-file", file]).status == 64)
        #expect(try home.crumb("plan", "--gateway-user", "anna", "--gateway-secret-file", file, url).status == 64)
        #expect(try plan(["--gateway-user", "a:b", "--gateway-secret-file", file]).status == 36)
        try home.write("hidden", to: "other")
        let other = try plan(user + [home.file("other")])
        #expect(other.status == 11 && other.output.isEmpty && !other.messages.contains("hidden"), "\(other.messages)")
        try home.write(added.output, to: "exposed", mode: 0o644)
        let exposed = try plan(user + [home.file("exposed")])
        #expect(exposed.status == 33 && !exposed.messages.contains(secret), "\(exposed.messages)")
    }

    @Test(
        "A malformed dump exits with status 13 and its position, and prints no value",
        arguments: [
            ("{}", "line 1"), ("\n{\"name\":\"hidden\"}", "line 2"), ("[{\"value\":\"hidden\"}]", "dump"),
            (#"[{"name":"a","value":"hidden","domain":"b","hostOnly":true,"expires":"x"}]"#, "entry 1"),
            (#"{"name":"a","value":"hidden","domain":"b","hostOnly":true,"sameSite":"lax "}"#, "line 1"),
        ])
    func broken(text: String, place: String) throws {
        try home.write(text, to: "dump")
        let result = try home.crumb("plan", "--native", home.file("dump"), url)
        #expect(result.status == 13 && result.output.isEmpty)
        #expect(result.messages.contains(place) && !result.messages.contains("hidden"))
    }
}
