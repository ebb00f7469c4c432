import CookieModel
import Foundation
import SessionStore
import TestSupport
import Testing

@Suite("crumb session")
struct SessionCommandTests {
    private let home = CrumbHome()

    @Test("Session cookies stay until the session ends")
    func end() throws {
        try home.receive("s=1; Path=/", "p=2; Path=/; Max-Age=1000")
        #expect(try home.header() == "Cookie: s=1; p=2")
        let result = try home.crumb("session", "end")
        #expect(
            result.messages
                == "ended the session of jar 'default': 1 session cookie removed, 1 with an expiry kept\n"
        )
        #expect(try home.header() == "Cookie: p=2")
        let object = try home.crumb("session", "end", "--json").objects().first
        #expect(object?["removed"] as? Int == 0 && object?["kept"] as? Int == 1)
    }

    @Test("A login is saved, lost and brought back whole")
    func restore() throws {
        try home.receive("s=1; Path=/", "p=2; Path=/; Max-Age=1000", "h=3; Path=/; HttpOnly; Secure")
        #expect(try home.crumb("session", "save", "login").messages == "saved 3 cookies of jar 'default' as 'login'\n")
        try home.receive("s=other; Path=/", "p=; Path=/; Max-Age=0", "n=4; Path=/")
        let restored = try home.crumb("session", "restore", "login")
        #expect(restored.status == 0 && restored.output.isEmpty)
        #expect(
            restored.messages
                == "restored 'login' in jar 'default': 3 cookies; 1 added, 1 changed, 1 removed\n")
        #expect(try home.header() == "Cookie: s=1; p=2; h=3")
        #expect(try home.crumb("session", "list", "--json").objects().first?["cookies"] as? Int == 3)
        #expect(try home.crumb("session", "list").text.hasPrefix("NAME   SAVED"))
        let again = try home.crumb("session", "save", "login")
        #expect(again.status == 0 && again.messages.contains("replaced the session of "))
        #expect(
            try home.crumb("session", "remove", "login").messages
                == "removed saved session 'login' of jar 'default' with 3 cookies\n")
        #expect(try home.header() == "Cookie: s=1; p=2; h=3")
    }

    @Test("Sessions report cookies that have expired since")
    func expired() throws {
        let past = Timestamp.now.advanced(bySeconds: -60)
        let jar = try home.receive("s=1; Path=/", "p=2; Path=/; Max-Age=1", at: past)
        #expect(try jar.saveSession(named: "login", now: past).session.cookieCount == 2)
        let restored = try home.crumb("session", "restore", "login")
        #expect(
            restored.messages.contains("1 cookie; ") && restored.messages.contains("  expired p  www.example.com/\n"))
        let object = try home.crumb("session", "restore", "login", "--json").objects().first
        #expect((object?["expired"] as? [[String: Any]])?.first?["name"] as? String == "p")
        #expect(try home.header() == "Cookie: s=1")
    }

    @Test("A session that is not there is exit status 38, whether there is a database or not")
    func unknown() throws {
        for _ in 0..<2 {
            for command in ["restore", "remove"] {
                let result = try home.crumb("session", command, "x")
                #expect(result.status == 38 && result.messages.hasPrefix("crumb: x: "), "\(result.messages)")
            }
            #expect(try home.crumb("session", "list").messages.hasPrefix("no saved sessions of jar 'default'"))
            #expect(try home.crumb("session", "end", "--jar", "nowhere").status == 34)
            #expect(try home.crumb("session", "save", "s", "--jar", "nowhere").status == 34)
            try home.receive("a=1; Path=/")
        }
    }

    @Test("A reader gets one whole session while two sessions are restored in turns")
    func whole() throws {
        func expected(_ prefix: String) -> String {
            "Cookie: " + (0..<60).map { "\(prefix)\($0)=\(String(repeating: "v", count: 20))" }.joined(separator: "; ")
        }
        for prefix in ["a", "b"] {
            let capture = try home.write(Capture.har(cookies: 60, named: prefix), to: "har")
            _ = try home.crumb("jars", "clear", "default")
            #expect(try home.crumb("import", capture).status == 0)
            #expect(try home.crumb("session", "save", prefix).status == 0)
        }
        for round in 0..<15 {
            let restoring = try home.start(["session", "restore", round % 2 == 0 ? "a" : "b"])
            let other = try home.start(["session", "restore", round % 2 == 0 ? "b" : "a"])
            let header = try home.header("https://many.example/")
            #expect(header == expected("a") || header == expected("b"), "round \(round)")
            if round % 3 == 0 { restoring.kill() } else { #expect(restoring.wait().status == 0) }
            if round % 3 == 0 { _ = restoring.wait() }
            #expect(other.wait().status == 0)
        }
        #expect(try home.crumb("session", "restore", "a").status == 0)
        #expect(try home.header("https://many.example/") == expected("a"))
    }
}
