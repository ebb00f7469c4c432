import Foundation
import Platform
import TestSupport
import Testing

@Suite("Rotating the key, through the command")
struct KeyRotateCommandTests {
    private let home = CrumbHome()

    private func fill(cookies: Int) throws {
        let capture = try home.write(Capture.har(cookies: cookies, named: "c"), to: "har")
        #expect(try home.crumb("import", capture).status == 0)
        let token = try home.crumb("token", "import", "work", input: "access-token-of-work\n")
        #expect(token.status == 0, "\(token.messages)")
    }

    /// How many cookies can be read; `nil` where something is wrong.
    private func readable() throws -> Int? {
        let result = try home.crumb("list", "--json", "--values")
        let values = try result.objects().compactMap { $0["value"] as? String }
        return result.status == 0 && values.allSatisfy { $0 == "vvvvvvvvvvvvvvvvvvvv" } ? values.count : nil
    }

    @Test("A rotation prints its result, and what was resealed cannot be read with the former key")
    func rotated() throws {
        try fill(cookies: 100)
        let old = home.bytes("key")
        let result = try home.crumb("key", "rotate")
        #expect(result.status == 0 && result.text == "rotated the key: 101 values resealed\n", "\(result.messages)")
        #expect(result.messages.contains("earlier backups"))
        #expect(try readable() == 100)
        #expect(try home.crumb("token", "get", "work").text == "access-token-of-work\n")
        #expect(try home.mode("key") == 0o600 && home.bytes("key") != old)
        let again = try #require(try home.crumb("key", "rotate", "--json").objects().first)
        #expect(again["resealed"] as? Int == 101 && again["resumed"] as? Bool == false)
        #expect((again["formerKeys"] as? [Any])?.count == 2)
        try home.write(old, to: "key")
        #expect(try home.crumb("list").status == 31)
    }

    @Test("A rotation that is killed at any moment loses nothing, and the next one ends it")
    func killed() throws {
        try fill(cookies: 150)
        // How long it takes where nobody kills it, which depends on what else the machine does.
        let start = ContinuousClock.now
        #expect(try home.crumb("key", "rotate").status == 0)
        let duration = ContinuousClock.now - start
        var moments = KillMoments()
        var interrupted = 0
        var unfinished = 0
        for round in 0..<30 {
            let before = keyCount
            let process = try home.start(["key", "rotate"])
            if round % 3 == 1 {
                // Most of the time goes into the start and the end of the process.
                let deadline = ContinuousClock.now + duration * 4
                while keyCount == before, ContinuousClock.now < deadline { usleep(20) }
                moments.wait(atMost: 1000)
            } else {
                moments.wait(atMost: Int(duration / .microseconds(1)))
            }
            process.kill()
            if process.wait().status == -SIGKILL {
                interrupted += 1
                if keyCount > before { unfinished += 1 }
            }
            #expect(try readable() == 150, "round \(round); \(moments)")
            #expect(try home.crumb("token", "get", "work").text == "access-token-of-work\n")
            #expect(try home.mode("key") == 0o600)
            if round % 3 == 0 {
                try home.receive("n\(round)=1; Path=/", from: "https://during.example/")
            }
            if round % 3 == 2 {
                let result = try home.crumb("key", "rotate")
                #expect(result.status == 0, "round \(round): \(result.messages)")
                let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
                #expect(!names.contains { $0.hasSuffix(".new") }, "\(names)")
            }
            try clearDuring()
        }
        #expect(interrupted >= 10 && unfinished >= 1, "\(interrupted) killed, \(unfinished) within the rotation")
        #expect(try home.crumb("check").status == 0)
    }

    /// How many keys the file has: the newest one, and former ones.
    private var keyCount: Int { home.bytes("key").count { $0 == UInt8(ascii: "\n") } }

    /// Takes the cookies away that a round has added, so that the counts stay what they are.
    private func clearDuring() throws {
        let header = try home.header("https://during.example/")
        guard !header.isEmpty else { return }
        let names = header.dropFirst("Cookie: ".count).components(separatedBy: "; ").map { $0.prefix { $0 != "=" } }
        for name in names { try home.receive("\(name)=; Path=/; Max-Age=0", from: "https://during.example/") }
    }

    @Test("Processes that read and write during a rotation lose nothing")
    func beside() throws {
        try fill(cookies: 150)
        let captures = try (0..<4).map { number in
            try home.write(Capture.har(cookies: 50, named: "x\(number)-", host: "x.example"), to: "har\(number)")
        }
        let rotation = try home.start(["key", "rotate"])
        let imports = try captures.map { try home.start(["import", $0]) }
        for process in [rotation] + imports {
            let result = process.wait()
            #expect(result.status == 0, "\(result.messages)")
        }
        #expect(try home.crumb("key", "rotate").status == 0)
        // A jar keeps 180 cookies of a domain.
        #expect(try readable() == 150 + 180)
    }

    /// Without the variables that name a database and a key file: both are the default ones.
    private static let defaults: [String: String?] = ["CRUMB_DATABASE": nil, "CRUMB_KEY_FILE": nil]

    private func importCookie(_ line: String, into database: String) throws -> RunResult {
        let capture = try home.write(Capture.dump([line]), to: "response")
        return try home.crumb(
            "import", "--url", "https://www.example.com/", capture, "--database", home.file(database),
            variables: KeyRotateCommandTests.defaults)
    }

    private func header(_ database: String) throws -> String {
        try home.crumb(
            "header", "https://www.example.com/", "--database", home.file(database),
            variables: KeyRotateCommandTests.defaults
        ).text
    }

    private func key(_ arguments: String...) throws -> RunResult {
        try home.start(["key"] + arguments, prefix: ["setsid", "--wait"], variables: KeyRotateCommandTests.defaults)
            .wait()
    }

    @Test(
        "Other databases and earlier backups can be read after a rotation, and are named until they need no former key")
    func others() throws {
        let folder = home.file("elsewhere")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(try importCookie("a=1; Path=/", into: "crumb.sqlite").messages.contains("is sealed with") == false)
        let second = try importCookie("b=2; Path=/", into: "elsewhere/b.sqlite")
        #expect(second.messages.contains("b.sqlite is sealed with the key in "), "\(second.messages)")
        #expect(try !importCookie("b=2; Path=/", into: "elsewhere/b.sqlite").messages.contains("is sealed with"))
        let backup = try home.crumb(
            "backup", "--database", home.file("crumb.sqlite"), home.file("elsewhere/backup"),
            variables: KeyRotateCommandTests.defaults)
        #expect(backup.status == 0, "\(backup.messages)")

        let rotated = try key("rotate", "--database", home.file("crumb.sqlite"))
        #expect(rotated.status == 0)
        for name in ["elsewhere/b.sqlite", "elsewhere/backup"] { #expect(rotated.messages.contains(home.file(name))) }
        for (name, header) in [("crumb.sqlite", "a=1"), ("elsewhere/b.sqlite", "b=2"), ("elsewhere/backup", "a=1")] {
            #expect(try self.header(name) == "Cookie: \(header)\n")
        }
        let status = try #require(try key("status", "--json").objects().first)
        let former = try #require((status["formerKeys"] as? [[String: Any]])?.first)
        #expect((former["neededBy"] as? [String])?.count == 2 && former["replaced"] != nil)

        let place = "--database=\(home.file("elsewhere/b.sqlite"))"
        #expect(try key("status", place).text.contains("'crumb key rotate \(place)' moves it"))
        for words in [["check", place], ["check", "--json", place]] {
            let check = try home.start(words, variables: KeyRotateCommandTests.defaults).wait()
            #expect(check.text.contains("'crumb key rotate \(place)' seals them under the newest one"), "\(check.text)")
        }

        let kept = try key("forget", "--yes")
        #expect(kept.status == 0 && kept.text.contains("keep    former key replaced "), "\(kept.text)")
        for messages in [rotated.messages, kept.messages] {
            #expect(messages.contains("'crumb key rotate --database \(home.file("elsewhere/"))"), "\(messages)")
            #expect(!messages.contains("no former key to remove") && !messages.contains("'crumb key forget'"))
        }
        #expect(try header("elsewhere/b.sqlite") == "Cookie: b=2\n")
        let moved = try key("rotate", "--database", home.file("elsewhere/b.sqlite"))
        #expect(moved.text == "moved to the newest key: 1 value resealed\n", "\(moved.text)")
        try FileManager.default.removeItem(atPath: home.file("elsewhere/backup"))
        let unsure = try key("forget", "--yes", "--quiet")
        #expect(unsure.text.contains("not checked: \(home.file("elsewhere/backup")): no such file\n"), "\(unsure.text)")
        let unchecked = try #require(try key("status", "--json").objects().first)
        #expect((unchecked["notChecked"] as? [String])?.count == 1)
        #expect(try key("status").text.contains("not every known database could be checked"))
        let hint = try key("forget", "--yes").messages
        #expect(hint.contains("'crumb key forget --gone \(home.file("elsewhere/backup"))'"), "\(hint)")
        let forgotten = try key("forget", "--yes", "--gone", folder)
        #expect(forgotten.text.hasSuffix(": removed 1 former key\n"), "\(forgotten.text)")
        #expect(try key("status", "--json").objects().first?["notChecked"] as? [String] == [])
        for name in ["crumb.sqlite", "elsewhere/b.sqlite"] { #expect(try header(name).hasPrefix("Cookie: ")) }
    }

    @Test("Former keys are forgotten by age, after a question, and never printed")
    func forget() throws {
        try home.receive("a=1")
        #expect(try key("forget").messages.contains("no former key"))
        for _ in 0..<2 { #expect(try home.crumb("key", "rotate").status == 0) }
        let keys = String(decoding: home.bytes("key"), as: UTF8.self).split(separator: "\n").map { $0.dropFirst(12) }
        let none = try home.crumb("key", "forget", "--older-than", "1d", "--yes")
        #expect(none.status == 0 && none.messages.contains("no former key was removed"), "\(none.messages)")
        #expect(keyCount == 3)
        let silent = try home.start(["key", "forget"], prefix: ["setsid", "--wait"]).wait()
        #expect(silent.status == 64 && silent.messages.contains("--yes"), "\(silent.messages)")
        try #require(try home.shell("command -v script").status == 0, "script, of bsdutils, is needed")
        for (answer, count) in [("no", 3), ("yes", 1)] {
            let result = try home.shell(
                "(sleep 1; printf '\(answer)\\n'; sleep 1) | script -qec 'crumb key forget' /dev/null")
            #expect(result.text.contains("Remove 2 former keys from "), "\(result.text)")
            #expect(keyCount == count, "\(result.text)")
            for key in keys { #expect(!result.text.contains(key.prefix(44))) }
        }
        #expect(try home.mode("key") == 0o600 && home.header() == "Cookie: a=1")
    }

    @Test("With --force, a key that is still needed goes too, and what needs it is named")
    func forced() throws {
        try home.receive("a=1")
        #expect(try home.crumb("backup", home.file("backup")).status == 0)
        #expect(try home.crumb("key", "rotate").status == 0)
        let result = try home.crumb("key", "forget", "--force", "--yes")
        #expect(result.text.contains("needed by \(home.file("backup"))") && keyCount == 1, "\(result.text)")
        #expect(try home.crumb("list", "--database", home.file("backup")).status == 31)
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A default folder that does not exist needs no key, since the list beside the key file has its databases")
    func absentFolder() throws {
        try home.receive("a=1; Path=/")
        #expect(try home.crumb("key", "rotate").status == 0)
        let variables = ["XDG_DATA_HOME": home.file("nowhere")]
        let forgotten = try home.start(["key", "forget", "--yes"], variables: variables).wait()
        #expect(forgotten.status == 0 && forgotten.text.contains("removed 1 former key"), "\(forgotten.text)")
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A key that a database under another HOME needs is kept, and the list of them is beside the key file")
    func otherHome() throws {
        let capture = try home.write(Capture.dump(["a=1; Path=/"]), to: "response")
        func crumb(_ user: String, _ arguments: String...) throws -> RunResult {
            try home.start(
                arguments, prefix: ["setsid", "--wait"],
                variables: [
                    "HOME": home.file(user), "XDG_DATA_HOME": nil, "XDG_CONFIG_HOME": nil, "CRUMB_DATABASE": nil,
                ]
            ).wait()
        }
        for user in ["a", "b"] {
            #expect(try crumb(user, "import", "--url", "https://www.example.com/", capture).status == 0)
        }
        #expect(try home.mode("key.databases") == 0o600)
        #expect(try crumb("a", "key", "rotate").messages.contains(home.file("b") + "/"))
        #expect(try crumb("a", "key", "status").text.contains("needed by \(home.file("b"))/"))
        #expect(try crumb("a", "key", "forget", "--yes").status == 0)
        #expect(keyCount == 2)
        #expect(try crumb("b", "header", "https://www.example.com/").text == "Cookie: a=1\n")
        try FileManager.default.removeItem(atPath: home.file("key.databases"))
        #expect(try crumb("a", "key", "forget").messages.contains("another HOME"))
    }

    @Test("No other key is created if a database is sealed with a key whose file is missing, except with --force")
    func missing() throws {
        try home.receive("a=1")
        let key = home.bytes("key")
        try FileManager.default.removeItem(atPath: home.file("key"))
        let refused = try home.crumb("key", "create")
        #expect(refused.status == 30 && refused.messages.contains("put it back"), "\(refused.messages)")
        let capture = try home.write(Capture.dump(["a=1; Path=/"]), to: "response")
        let second = try home.crumb(
            "import", "--url", "https://www.example.com/", capture, "--database", home.file("second.sqlite"))
        #expect(second.status == 30 && second.messages.contains("put it back"), "\(second.messages)")
        #expect(home.bytes("key").isEmpty)
        #expect(try home.crumb("key", "create", home.file("other")).status == 0)
        #expect(try home.crumb("key", "create", "--force").status == 0)
        let wrong = try home.crumb("list")
        #expect(wrong.status == 31 && wrong.messages.contains("put the right key back"), "\(wrong.messages)")
        try home.write(key, to: "key")
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("'key create' creates a key file once, locked if there is a passphrase")
    func create() throws {
        let made = try home.crumb("key", "create")
        #expect(made.status == 0 && made.text == "\(home.file("key"))\n" && keyCount == 1, "\(made.messages)")
        #expect(try home.mode("key") == 0o600)
        let bytes = home.bytes("key")
        #expect(try home.crumb("key", "create").status == 28 && home.bytes("key") == bytes)
        try home.receive("a=1")
        #expect(home.bytes("key") == bytes)
        try home.write("one\n", to: "passphrase")
        let locked = try home.crumb(
            "key", "create", home.file("other"), variables: ["CRUMB_PASSPHRASE_FILE": home.file("passphrase")])
        #expect(locked.status == 0, "\(locked.messages)")
        #expect(String(decoding: home.bytes("other"), as: UTF8.self).hasPrefix("crumb-scrypt-1:"))
    }

    @Test("Without a database there is nothing to rotate, and nothing is made")
    func nothing() throws {
        #expect(try home.crumb("key", "rotate").status == 23)
        #expect(!FileManager.default.fileExists(atPath: home.file("key")))
    }
}
