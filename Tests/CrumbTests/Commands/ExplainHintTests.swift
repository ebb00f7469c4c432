import Foundation
import TestSupport
import Testing

@Suite("The next steps of crumb explain")
struct ExplainHintTests {
    private let home = CrumbHome()
    private let url = "https://app.example/"

    private func explain(_ words: String...) throws -> String { try home.explanation(words) }

    /// A login rule `app` with a login `work`, which the server has ended.
    private func setRule(scope: String) throws {
        #expect(try home.crumb("token", "import", "work", input: "access-token\n").status == 0)
        let rule = try home.crumb("token", "fallback", "set", "app", scope, "--profile", "work", "--authorization")
        #expect(rule.status == 0, "\(rule.messages)")
        #expect(try !explain(url).contains("login 'work'"))
        #expect(try home.shell("sqlite3 crumb.sqlite 'UPDATE token_profile SET refused_at = 1'").status == 0)
        #expect(try home.crumb("token", "status", "work").text.contains("login-required"))
    }

    private func lostLogins() throws -> [[String: Any]]? {
        try home.crumb("explain", "--json", url).objects().first?["lostLogins"] as? [[String: Any]]
    }

    @Test("A login that the server has ended, or that was removed, is named with the command that helps")
    func lostLogin() throws {
        try setRule(scope: url)
        #expect(try explain(url).contains("the login 'work' of rule 'app' needs a new login: crumb token login work\n"))
        let database = "--database=\(home.file("crumb.sqlite"))"
        #expect(try explain(database, url).contains("needs a new login: crumb token login \(database) work\n"))
        let ended = try #require(try lostLogins()?.first)
        #expect(ended["rule"] as? String == "app" && ended["login"] as? String == "work")
        #expect(ended["isStored"] as? Bool == true)
        #expect(try home.crumb("token", "remove", "work").status == 0)
        let text = try explain(url)
        let lost = "the login 'work' of rule 'app' is not stored any more: crumb token login work "
        #expect(text.contains(lost), "\(text)")
        #expect(text.contains("or crumb token fallback remove app\n"), "\(text)")
        #expect(try lostLogins()?.first?["isStored"] as? Bool == false)
    }

    @Test("A login rule for other URLs is not mentioned")
    func otherRule() throws {
        try setRule(scope: "https://other.example/")
        #expect(try !explain(url).contains("login 'work'"))
        #expect(try lostLogins() == nil)
    }

    @Test("Three other jars that have the session are named, and the rest are counted")
    func manyJars() throws {
        for number in 1...5 { try home.receive("sid=secret; Path=/", from: url, jar: "j\(number)") }
        let text = try explain(url)
        for number in 1...3 { #expect(text.contains("jar 'j\(number)' would send 1 cookie, including sid"), "\(text)") }
        #expect(!text.contains("'j4'"))
        #expect(
            text.contains("2 more jars would send cookies that this jar does not send; --json lists them\n"), "\(text)")
        let others = try home.crumb("explain", "--json", url).objects().first?["otherJars"] as? [Any]
        #expect(others?.count == 5)
        #expect(try home.crumb("jars", "remove", "j5").status == 0)
        #expect(try explain(url).contains("\n1 more jar would send"))
    }

    @Test("For a jar that no cookie has created, the error names the command that explains a refused cookie")
    func refusedFirstCookie() throws {
        try home.receive("a=secret")
        try home.write("HTTP/1.1 200 OK\r\nSet-Cookie: a=secret; Domain=other.test\r\n\r\n", to: "response")
        let response = home.file("response")
        #expect(try home.crumb("import", "--jar", "new", "--url", url, response).status == 9)
        let result = try home.crumb("explain", "--jar", "new", url)
        #expect(result.status == 34 && result.messages.contains("new: no such jar in "), "\(result.messages)")
        let trial = "crumb explain --set-cookie FILE \(url)"
        #expect(result.messages.contains("'\(trial)' explains its Set-Cookie lines"), "\(result.messages)")
        #expect(try explain("--set-cookie", response, url).contains("(domain-mismatch)"))
    }
}
