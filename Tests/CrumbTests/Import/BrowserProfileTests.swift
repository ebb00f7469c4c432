import Foundation
import TestSupport
import Testing

@testable import CrumbCommands

/// Homes that are made up: empty files stand for databases.
@Suite("Where browsers keep their profiles")
struct BrowserProfileTests {
    private let home = CrumbHome()

    private func make(_ path: String, _ text: String = "", mode: Int = 0o600) throws {
        let folder = (home.file(path) as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try home.write(text, to: path, mode: mode)
    }

    private func find(_ browser: Browser, _ name: String? = nil) throws -> String {
        let profile = try BrowserProfiles(of: browser, environment: ["HOME": home.path]).profile(named: name)
        return String(try #require(profile.database(of: browser)).dropFirst(home.path.count + 1))
    }

    private func message(_ browser: Browser, _ name: String? = nil) -> String {
        do {
            return try find(browser, name)
        } catch {
            return (error as? CommandFailure)?.message ?? "\(error)"
        }
    }

    private static let chromiumFolders: [(Browser, String)] = [
        (.chrome, ".config/google-chrome"), (.chrome, ".var/app/com.google.Chrome/config/google-chrome"),
        (.chromeBeta, ".config/google-chrome-beta"), (.chromium, ".config/chromium"),
        (.chromium, "snap/chromium/common/chromium"), (.chromium, ".var/app/org.chromium.Chromium/config/chromium"),
        (.edge, ".config/microsoft-edge"), (.edge, ".var/app/com.microsoft.Edge/config/microsoft-edge"),
        (.brave, ".config/BraveSoftware/Brave-Browser"),
        (.brave, "snap/brave/current/.config/BraveSoftware/Brave-Browser"),
        (.brave, ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser"), (.vivaldi, ".config/vivaldi"),
        (.vivaldi, ".var/app/com.vivaldi.Vivaldi/config/vivaldi"), (.opera, ".config/opera"),
        (.opera, "snap/opera/current/.config/opera"),
    ]

    @Test("Chromium and its kin are found in their folders, snaps and Flatpaks", arguments: chromiumFolders)
    func chromium(browser: Browser, folder: String) throws {
        try make("\(folder)/Default/Cookies")
        #expect(try find(browser) == "\(folder)/Default/Cookies")
        #expect(Browser.allCases.filter { message($0).hasPrefix(folder) } == [browser])
    }

    private static let firefoxFolders: [(Browser, String)] = [
        (.firefox, ".mozilla/firefox"), (.firefox, ".config/mozilla/firefox"),
        (.firefox, "snap/firefox/common/.mozilla/firefox"), (.firefox, ".var/app/org.mozilla.firefox/.mozilla/firefox"),
        (.librewolf, ".librewolf"), (.librewolf, ".var/app/io.gitlab.librewolf-community/.librewolf"),
        (.zen, ".zen"), (.zen, ".config/zen"), (.zen, ".var/app/app.zen_browser.zen/.zen"), (.waterfox, ".waterfox"),
    ]

    @Test("Firefox and its kin are found in their folders, snaps and Flatpaks", arguments: firefoxFolders)
    func firefox(browser: Browser, folder: String) throws {
        try make("\(folder)/profiles.ini", "[Profile0]\nName=default\nIsRelative=1\nPath=x.default\n")
        try make("\(folder)/x.default/cookies.sqlite")
        #expect(try find(browser) == "\(folder)/x.default/cookies.sqlite")
        #expect(Browser.allCases.filter { message($0).hasPrefix(folder) } == [browser])
    }

    @Test("Opera's folder may be its only profile")
    func opera() throws {
        try make(".config/opera/Cookies")
        #expect(try find(.opera) == ".config/opera/Cookies")
    }

    private static let state = """
        {"profile": {"last_used": "Profile 1", "info_cache": {
            "Default": {"name": "Person 1", "user_name": ""}, "Profile 1": {"name": "Work", "user_name": "a@b.test"},
            "Profile 2": {"name": "Twin"}, "Profile 3": {"name": "Twin"}, "Gone": {"name": "Gone"}}}}
        """

    @Test(
        "A profile of Chromium is known by its folder, its name and its account",
        arguments: [
            (nil, "Profile 1"), ("Default", "Default"), ("Person 1", "Default"), ("Work", "Profile 1"),
            ("work", "Profile 1"), ("a@b.test", "Profile 1"), ("profile 2", "Profile 2"),
        ] as [(String?, String)])
    func chromiumProfiles(name: String?, folder: String) throws {
        try make(".config/google-chrome/Local State", Self.state)
        for profile in ["Default", "Profile 1", "Profile 2", "Profile 3"] {
            try make(".config/google-chrome/\(profile)/Network/Cookies")
        }
        #expect(try find(.chrome, name) == ".config/google-chrome/\(folder)/Network/Cookies")
        #expect(message(.chrome, "Gone").contains("no profile 'Gone'; profiles: Profile 1 (Work), Default (Person 1)"))
        #expect(message(.chrome, "Twin").contains("has 2 profiles 'Twin'"))
    }

    @Test(
        "A profile of Firefox is known by its name and its folder",
        arguments: [
            (nil, "b.work"), ("Work", "b.work"), ("default", "a.default"), ("a.default", "a.default"),
            ("c.old", "c.old"), ("old", "c.old"),
        ] as [(String?, String)])
    func firefoxProfiles(name: String?, folder: String) throws {
        try make(
            ".mozilla/firefox/profiles.ini",
            """
            [Profile2]
            Name=old
            Path=c.old
            [Profile1]
            Name=default
            Default=1
            Path=a.default
            [Profile0]
            Name=Work
            Path=b.work
            [InstallABC]
            Default=b.work
            Locked=1

            """)
        for profile in ["a.default", "b.work", "c.old"] { try make(".mozilla/firefox/\(profile)/cookies.sqlite") }
        #expect(try find(.firefox, name) == ".mozilla/firefox/\(folder)/cookies.sqlite")
        #expect(try find(.firefox, home.file(".mozilla/firefox/c.old")) == ".mozilla/firefox/c.old/cookies.sqlite")
    }

    @Test("A profile that is not found is reported with the places searched")
    func missing() {
        for browser in Browser.allCases {
            for folder in browser.folders(["HOME": home.path]) {
                #expect(message(browser).contains(folder), "\(browser)")
            }
            #expect(message(browser, "x").contains(home.path), "\(browser)")
        }
    }

    @Test("A browser's argument is its name, and a profile behind a colon")
    func argument() {
        #expect(BrowserChoice(argument: "chrome")?.browser == .chrome)
        let choice = BrowserChoice(argument: "Chrome-Beta:Profile 1")
        #expect(choice?.browser == .chromeBeta && choice?.profile == "Profile 1")
        #expect(BrowserChoice(argument: "chrome:") == nil && BrowserChoice(argument: "safari") == nil)
    }

    // MARK: - The whole way

    private func fake(_ program: String, _ script: String) throws -> [String: String?] {
        try make("bin/\(program)", "#!/bin/sh\n\(script)\n", mode: 0o700)
        return ["PATH": "\(home.file("bin")):/usr/bin:/bin"]
    }

    /// A database of Chromium with one value that the keyring's password `pass` opens.
    private func makeEncryptedDatabase(_ path: String) throws {
        let folder = (home.file(path) as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // "secret" in AES-128-CBC under PBKDF2-SHA1("pass", "saltysalt", 1), its vector 16 spaces.
        let value = "110ca195dd82418edec9282e98a297ad"
        let command = """
            sqlite3 '\(home.file(path))' "CREATE TABLE cookies(host_key, name, value, path, expires_utc, \
            encrypted_value BLOB, is_secure, is_httponly, has_expires); \
            INSERT INTO cookies VALUES('a.test', 'sid', '', '/', 0, x'763131\(value)', 0, 0, 0)"
            """
        #expect(try home.shell(command).status == 0)
    }

    @Test("The keyring is asked for the password of its browser, with nothing secret in an argument")
    func keyring() throws {
        try makeEncryptedDatabase(".config/google-chrome/Default/Cookies")
        let asked = home.file("asked")
        var variables = try fake("secret-tool", "echo \"$@\" >> \(asked); [ \"$3\" = chrome ] && printf pass")
        let result = try home.crumb("import", "--browser", "chrome", variables: variables)
        #expect(result.status == 0 && result.text.contains("1 taken"), "\(result.messages)")
        #expect(String(decoding: home.bytes("asked"), as: UTF8.self) == "lookup application chrome\n")
        #expect(try home.header("https://a.test/") == "Cookie: sid=secret")
        // KDE's wallet comes second.
        variables = try fake("secret-tool", "exit 1")
        variables.merge(try fake("kwallet-query", "[ \"$2\" = 'Chrome Safe Storage' ] && echo pass")) { $1 }
        let closed = try home.crumb("import", "--browser", "chrome", variables: variables)
        #expect(closed.status == 0 && !closed.messages.contains("30 seconds"))
        try FileManager.default.createSymbolicLink(
            atPath: home.file(".config/google-chrome/SingletonLock"), withDestinationPath: "machine-1234")
        let running = try home.crumb("import", "--browser", "chrome", variables: variables)
        #expect(running.messages.contains("note: chrome is running, and writes its cookies every 30 seconds"))
    }

    @Test("A keyring that gives nothing is named, and a file or a variable gives the password")
    func passwords() throws {
        try makeEncryptedDatabase(".config/google-chrome/Default/Cookies")
        let variables = try fake("secret-tool", "exit 1").merging(try fake("kwallet-query", "exit 1")) { $1 }
        let refused = try home.crumb("import", "--browser", "chrome", variables: variables)
        #expect(
            refused.status == 13
                && refused.messages.contains("the keyring returned no password for chrome: secret-tool"))
        #expect(refused.messages.contains("--keyring-password-file") && !refused.messages.contains("pass\n"))
        let file = try home.write("pass\n", to: "password")
        let given = try home.crumb(
            "import", "--browser", "chrome:Default", "--keyring-password-file", file, variables: variables)
        #expect(given.status == 0 && !given.messages.contains("keyring"))
        let piped = try home.crumb(
            "import", "--browser", "chrome", "--keyring-password-file", "-", input: "pass", variables: variables)
        #expect(piped.status == 0)
    }

    @Test("A running Firefox gives the cookies of the session too, of the container that is asked for")
    func session() throws {
        let folder = ".mozilla/firefox/x.default"
        try make(".mozilla/firefox/profiles.ini", "[Profile0]\nName=default\nPath=x.default\n")
        try make(
            "\(folder)/containers.json",
            """
            {"version": 5, "identities": [{"userContextId": 2, "l10nID": "userContextWork.label", "public": true},
            {"userContextId": 6, "name": "Shop", "public": true}]}
            """)
        let columns = "name, value, host, path, expiry, isSecure, isHttpOnly, originAttributes"
        let rows = ["'', 'plain'", "'^userContextId=6', 'shop'"].map { row in
            let parts = row.split(separator: ",")
            return
                "INSERT INTO moz_cookies(\(columns)) VALUES('db',\(parts[1]),'a.test','/',4000000000,0,0,\(parts[0]));"
        }
        let sql = "CREATE TABLE moz_cookies(\(columns)); \(rows.joined())"
        #expect(try home.shell("sqlite3 '\(home.file(folder))/cookies.sqlite' \"\(sql)\"").status == 0)
        let session =
            #"{"cookies": [{"host": "a.test", "name": "ses", "value": "plain", "path": "/"}, "#
            + #"{"host": "a.test", "name": "ses", "value": "shop", "path": "/", "originAttributes": {"userContextId": 6}}]}"#
        try FileManager.default.createDirectory(
            atPath: home.file("\(folder)/sessionstore-backups"), withIntermediateDirectories: true)
        try home.write(Self.lz4(session), to: "\(folder)/sessionstore-backups/recovery.jsonlz4")

        let running = try home.crumb("import", "--browser", "firefox")
        #expect(running.status == 0 && !running.messages.contains("is not running"))
        #expect(try home.header("https://a.test/") == "Cookie: db=plain; ses=plain")
        for (name, jar) in [("Shop", "shop"), ("6", "six")] {
            #expect(try home.crumb("import", "--browser", "firefox", "--container", name, "--jar", jar).status == 0)
            #expect(try home.header("https://a.test/", jar: jar) == "Cookie: db=shop; ses=shop")
        }
        try FileManager.default.removeItem(atPath: home.file("\(folder)/sessionstore-backups"))
        let closed = try home.crumb("import", "--browser", "firefox")
        #expect(closed.messages.contains("note: firefox is not running, and keeps session cookies only while it runs"))
        // A built-in container has its English name, and nothing in it.
        #expect(try home.crumb("import", "--browser", "firefox", "--container", "work").status == 9)
        let unknown = try home.crumb("import", "--browser", "firefox", "--container", "Bank")
        #expect(unknown.status == 17 && unknown.messages.contains("no container 'Bank'"))
        #expect(unknown.messages.contains("containers: Work (2), Shop (6)"))
    }

    /// Text as Firefox packs it, in literals alone.
    private static func lz4(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        let size = (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> ($0 * 8)) }
        var rest = bytes.count - 15
        var lengths: [UInt8] = []
        while rest >= 255 {
            lengths.append(255)
            rest -= 255
        }
        return Array("mozLz40\u{0}".utf8) + size + [0xF0] + lengths + [UInt8(rest)] + bytes
    }

    @Test(
        "The folder of a file is what is before the last component of its path",
        arguments: [
            ("/a/b", "/a"), ("/a/b/", "/a"), ("a", "."), ("a/", "."), ("", "."), ("/a", "/"), ("/", "/"), ("a/b", "a"),
            ("../a/b", "../a"),
        ])
    func folder(path: String, folder: String) {
        #expect(InputFile.folder(of: path) == folder)
    }
}
