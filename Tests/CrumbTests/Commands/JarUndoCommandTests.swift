import Foundation
import TestSupport
import Testing

@Suite("Restoring jars, through the command")
struct JarUndoCommandTests {
    private let home = CrumbHome()

    @Test("A removed jar is listed and comes back with its saved sessions; its name is free in the meantime")
    func removed() throws {
        try home.receive("a=1; Path=/", jar: "work")
        #expect(try home.crumb("session", "save", "s", "--jar", "work").status == 0)
        let removal = try home.crumb("jars", "remove", "work")
        #expect(
            removal.messages.hasSuffix("to undo this within a day: crumb jars restore work\n"), "\(removal.messages)")
        #expect(try home.crumb("header", "--jar", "work", "https://www.example.com/").status == 34)
        let entry = try #require(try home.crumb("jars", "list", "--removed", "--json").objects().first)
        #expect(entry["jar"] as? String == "work" && entry["cause"] as? String == "removed")
        #expect(entry["cookies"] as? Int == 1 && entry["savedSessions"] as? Int == 1)
        #expect(try home.crumb("status").text.contains("crumb jars list --removed"))
        #expect(try home.crumb("check").status == 0)
        let restored = try home.crumb("jars", "restore", "work")
        #expect(restored.messages == "restored jar 'work' with 1 cookie and 1 saved session\n", "\(restored.messages)")
        #expect(try home.header(jar: "work") == "Cookie: a=1")
        #expect(try home.crumb("session", "restore", "s", "--jar", "work").status == 0)

        #expect(try home.crumb("jars", "remove", "work").status == 0)
        try home.receive("b=2; Path=/", jar: "work")
        let taken = try home.crumb("jars", "restore", "work")
        #expect(taken.status == 37 && taken.messages.contains("--to"), "\(taken.messages)")
        #expect(try home.crumb("jars", "restore", "work", "--to", "old").status == 0)
        #expect(try home.header(jar: "old") == "Cookie: a=1" && home.header(jar: "work") == "Cookie: b=2")
    }

    @Test("Clearing and merging are undone")
    func undone() throws {
        try home.receive("a=1; Path=/", jar: "work")
        try home.receive("a=2; Path=/", "b=2; Path=/", jar: "other")
        for command in [["clear", "work"], ["merge", "other", "work"]] {
            #expect(try home.start(["jars"] + command).wait().status == 0)
            #expect(try home.crumb("jars", "restore", "work").status == 0)
            #expect(try home.header(jar: "work") == "Cookie: a=1")
        }
    }

    @Test("With --now, a jar is removed for good, and 'prune --now' empties the bin")
    func atOnce() throws {
        for name in ["one", "two"] { try home.receive("a=1; Path=/", jar: name) }
        #expect(try home.crumb("jars", "remove", "one", "--now").messages.contains("undo") == false)
        #expect(try home.crumb("jars", "remove", "two").status == 0)
        #expect(try home.crumb("prune").status == 0)
        #expect(try home.crumb("prune", "--now").text.hasPrefix("removed jars: 1 removed for good"))
        for name in ["one", "two"] { #expect(try home.crumb("jars", "restore", name).status == 34) }
        #expect(try home.crumb("jars", "list", "--removed").messages == "there is nothing to restore\n")
    }

    @Test("The three commands that restore name each other")
    func names() throws {
        try home.receive("a=1; Path=/")
        let jar = try home.crumb("jars", "restore", "backup.sqlite")
        #expect(jar.status == 34 && jar.messages.contains("'crumb restore' a backup"), "\(jar.messages)")
        #expect(jar.messages.contains("crumb session restore"))
        let backup = try home.crumb("restore", "work")
        #expect(backup.status == 17 && backup.messages.contains("'crumb jars restore'"), "\(backup.messages)")
        #expect(backup.messages.contains("crumb session restore"))
    }

    @Test("A service restores jars too")
    func service() throws {
        let service = try RunningService(.socket) { home in
            try home.receive("a=1; Path=/", jar: "work")
            return []
        }
        func ask(_ arguments: String...) throws -> RunResult { try service.ask(arguments) }
        #expect(try ask("jars", "remove", "work").messages.contains("crumb jars restore work"))
        #expect(try ask("jars", "list", "--removed", "--json").objects().first?["jar"] as? String == "work")
        #expect(try ask("jars", "restore", "work").status == 0)
        #expect(try ask("jars", "clear", "work").status == 0)
        #expect(try ask("jars", "restore", "work").status == 0)
        #expect(try ask("header", "--jar", "work", "https://www.example.com/").text == "Cookie: a=1\n")
        let none = try ask("jars", "restore", "nothing")
        #expect(none.status == 34 && none.messages.contains("--removed"), "\(none.messages)")
    }
}
