import Foundation
import TestSupport
import Testing

@Suite("crumb import: formats, browsers, notes and Control-C")
struct ImportFormatTests {
    private let home = CrumbHome()

    @Test("A format that cannot be detected is named by the user, with the rights of scripts only")
    func format() throws {
        let path = try home.write("a=1; b=2", to: "string")
        let url = "https://www.example.com/"
        #expect(try home.crumb("import", "--url", url, path).status == 11)
        let result = try home.crumb("import", "--format", "document-cookie", "--url", url, path)
        #expect(result.status == 0)
        #expect(result.text == "\(path): 2 Set-Cookie lines in 1 response: 2 taken, 0 replaced, 0 deleted, 0 refused\n")
        #expect(try home.header() == "Cookie: a=1; b=2")
        let message = #"{"crumb":"capture","kind":"cookie","url":"https://www.example.com/","line":"c=3; HttpOnly"}"#
        let refused = try home.crumb("import", try home.write(message, to: "messages"))
        #expect(refused.text.contains("0 taken") && refused.text.contains("(http-only-from-script)"))
    }

    @Test("A compressed capture is imported like the capture in it")
    func compressed() throws {
        let text =
            "H4sIAAAAAAACA1NW8EstKU5OLEhV8AgJCVBwzs/PzkxVcMvMSeUqLy/XS61IzC3ISdVLzs/ldHP0CXbl1IfSBpzp+fkpnIZcAN7Eg91D"
            + "AAAA"
        let bytes = try #require(Data(base64Encoded: text))
        let path = try home.write(bytes, to: "cookies.txt.gz")
        #expect(try home.crumb("import", path).text == "\(path): 1 cookie: 1 taken, 0 replaced, 0 deleted, 0 refused\n")
        #expect(try home.crumb("import", path).text.contains("imported before"))
        let damaged = try home.write(bytes.dropLast(4), to: "damaged.gz")
        let result = try home.crumb("import", damaged)
        #expect(result.status != 0 && result.text.contains("1 cookie: 0 taken, 1 replaced"))
        #expect(result.messages.contains("The compressed file ends early"))
    }

    @Test("A format that there is none of is a wrong argument, and so is a browser with one")
    func wrongFormat() throws {
        let path = try home.write("a=1", to: "string")
        let result = try home.crumb("import", "--format", "cookies", path)
        #expect(result.status == 64 && result.messages.contains("storage-state"))
        #expect(try home.crumb("import", "--browser", "firefox", "--format", "har").status == 64)
        #expect(try home.crumb("import", "--browser-profile", home.path, path).status == 64)
        #expect(try home.crumb("import").status == 64)
    }

    @Test("A line that is not a cookie is a note: the import succeeds, and the capture is recognized later")
    func notes() throws {
        let state =
            #"{"cookies":[{"name":"a","value":"1","domain":"www.example.com","path":"/","expires":-1}],"#
            + #""origins":[{"origin":"https://www.example.com","indexedDB":[{"name":"k","stores":[]}]}]}"#
        let path = try home.write(state, to: "state.json")
        let result = try home.crumb("import", path)
        #expect(result.status == 0 && result.text == "\(path): 1 cookie: 1 taken, 0 replaced, 0 deleted, 0 refused\n")
        #expect(result.messages.hasPrefix("note: \(path): One IndexedDB database"))
        #expect(try home.crumb("import", path).text.contains("imported before"))
        let object = try #require(try home.crumb("import", "--again", "--json", path).objects().first)
        #expect((object["notes"] as? [[String: Any]])?.first?["code"] as? String == "storage-ignored")
        #expect((object["failures"] as? [Any])?.isEmpty == true && object["unreadable"] as? Int == 0)
    }

    @Test("Cookies that have expired since are counted separately from those that a server deleted")
    func expired() throws {
        let lines = [".a.test\tTRUE\t/\tFALSE\t1\told\tv", ".a.test\tTRUE\t/\tFALSE\t0\tnew\tv", "broken\tline"]
        let path = try home.write(lines.joined(separator: "\n"), to: "cookies.txt")
        let result = try home.crumb("import", "--format", "netscape", path)
        #expect(
            result.text
                == "\(path): 2 cookies: 1 taken, 0 replaced, 0 deleted, 1 expired, 0 refused, 1 unreadable\n"
                + "  1 had expired (old).\n")
        #expect(result.status == 13)
    }

    @Test("A profile without cookies is named")
    func missingProfile() throws {
        let result = try home.crumb("import", "--browser", "chromium", "--browser-profile", home.path)
        #expect(result.status == 17 && result.messages.contains("no cookies of chromium"))
        let none = try home.crumb("import", "--browser", "firefox")
        #expect(none.status == 17 && none.messages.contains("--profile"))
        #expect(none.messages.contains(home.file(".mozilla/firefox")))
    }

    @Test(
        "A browser's profile is found where the browser keeps it, and nothing of the copy stays",
        .enabled(if: Samples.exist, "shared/samples is not beside the package"),
        arguments: [
            ("firefox", "firefox-153-cookies.sqlite", ".mozilla/firefox/x.default", "cookies.sqlite", 14),
            ("chromium", "chromium-156-Cookies.sqlite", ".config/chromium/Default", "Cookies", 17),
            ("webkitgtk", "webkitgtk-2.50-cookies.sqlite", ".local/share/epiphany", "cookies.sqlite", 13),
        ])
    func profiles(browser: String, sample: String, folder: String, name: String, count: Int) throws {
        try FileManager.default.createDirectory(atPath: home.file(folder), withIntermediateDirectories: true)
        if browser == "firefox" {
            try home.write(
                "[Install1]\nDefault=x.default\nLocked=1\n\n[Profile0]\nPath=gone\n",
                to: ".mozilla/firefox/profiles.ini")
        }
        let bytes = try Data(contentsOf: Repository.shared.appending(path: "samples/db/\(sample)"))
        try home.write(bytes, to: "\(folder)/\(name)")
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: home.path))
        let variables = ["XDG_DATA_HOME": nil, "CRUMB_DATABASE": home.file("crumb.sqlite")]
        let result = try home.crumb("import", "--browser", browser, variables: variables)
        #expect(result.status == 0 && result.text.contains(": \(count) cookies: "), "\(result.text)\(result.messages)")
        let left = try Set(FileManager.default.contentsOfDirectory(atPath: home.path)).subtracting(before)
        #expect(left.allSatisfy { !$0.hasPrefix("crumb-") }, "\(left)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.file(folder)).contains { $0.hasSuffix("-wal") }
                == false)
        #expect(try Data(contentsOf: URL(filePath: home.file("\(folder)/\(name)"))) == bytes)
        // Another browser's format is not taken for it.
        let wrong = try home.crumb(
            "import", "--format", browser == "firefox" ? "chromium" : "firefox", home.file("\(folder)/\(name)"))
        #expect(wrong.status == 11)
    }

    @Test("Control-C stores the part that was read and reports where it stopped")
    func interruption() throws {
        let entry = Capture.entry("https://www.example.com/", ["a=1; Path=/"])
        let beginning = String(Capture.har([entry, entry]).dropLast(4))
        let start = try home.write(beginning, to: "start")
        // The pipe stays open: nothing but the signal ends the wait.
        let command = """
            rm -f pipe; mkfifo pipe; (cat \(start); exec sleep 30) > pipe & writer=$!; \
            crumb import --again pipe & reader=$!; sleep 3; kill -INT $reader; wait $reader; status=$?; \
            kill $writer; exit $status
            """
        let result = try home.shell(command)
        #expect(result.status == 130, "\(result.text)\(result.messages)")
        #expect(result.text.contains("1 taken, 1 replaced"))
        #expect(result.messages.contains("stopped after \(beginning.utf8.count) bytes, at pipe: entry 2"))
        #expect(try home.header() == "Cookie: a=1")
    }
}
