import Foundation

/// A step of the comparison: a command line, run on a file and on a service.
struct ServiceStep: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        /// Both sides do it, each in its way; what they say must be the same.
        case compared
        /// Done to both database files.
        case prepared
        /// SQL, done to both database files.
        case damaged
    }

    let words: [String]
    var input: String?
    var kind = Kind.compared

    init(_ words: String..., input: String? = nil) {
        self.words = words
        self.input = input
    }

    private init(kind: Kind, _ words: [String], input: String?) {
        self.kind = kind
        self.words = words
        self.input = input
    }

    static func prepared(_ words: String..., input: String? = nil) -> ServiceStep {
        ServiceStep(kind: .prepared, words, input: input)
    }

    static func damaged(_ statement: String) -> ServiceStep {
        ServiceStep(kind: .damaged, [statement], input: nil)
    }

    var description: String { words.joined(separator: " ") }

    private static let url = "https://www.example.com/"
    private static let dump =
        "HTTP/1.1 200 OK\r\nSet-Cookie: d=dump; Path=/; Max-Age=90000\r\nSet-Cookie: e=1; Domain=other.test\r\n\r\n"
    private static let reply =
        #"{"access_token":"tok-1","token_type":"Bearer","expires_in":7776000,"refresh_token":"r","scope":"a b","#
        + #""authorization_expires_in":8000000}"#

    /// All of them, in order. The names of files stand for files of the folder that the test makes.
    static let all: [ServiceStep] =
        nothing + cookies + fields + captures + storage + requests + exports + jars + sessions + tokens + damage

    /// Enough of them to show that the way to the service makes no difference.
    static let some = cookies + requests

    private static let nothing = [
        ServiceStep("list"), ServiceStep("list", "--json"), ServiceStep("header", url),
        ServiceStep("header", url, "--json"), ServiceStep("get", "sid", url), ServiceStep("explain", url),
        ServiceStep("script", url), ServiceStep("script", url, "--json"), ServiceStep("changes"),
        ServiceStep("session", "end"), ServiceStep("session", "list"), ServiceStep("session", "restore", "x"),
        ServiceStep("session", "remove", "x"), ServiceStep("remove", "sid"), ServiceStep("jars"),
        ServiceStep("sites"), ServiceStep("sites", "--jar", "default", "--json"), ServiceStep("sites", "--jar", "none"),
        ServiceStep("plan", url), ServiceStep("plan", url, "--jar", "none"), ServiceStep("token", "fallback", "list"),
        ServiceStep("token", "fallback", "remove", "app"),
        ServiceStep("export", "--format", "header", "--url", url), ServiceStep("export", "--format", "json"),
        ServiceStep("list", "--jar", "none"), ServiceStep("header", url, "--jar", "none"), ServiceStep("prune"),
        ServiceStep("explain", url, "--set-cookie", "lines"), ServiceStep("token", "list"),
    ]

    private static let cookies = [
        ServiceStep(
            "set", url, input: "sid=1; Path=/; Secure; HttpOnly\nSet-Cookie: theme=dark; Path=/; Max-Age=90000\n"),
        ServiceStep("set", url, input: "sid=2; Path=/; Secure; HttpOnly\nbad=1; Domain=other.test\n"),
        ServiceStep("set", url, "--json", input: "long=\u{E9} 1; Path=/a/b; SameSite=Lax\nx=1; Domain=com\n"),
        ServiceStep("set", url, "--quiet", input: "sub=1; Domain=example.com; Path=/\n"),
        ServiceStep(
            "set", url, "--top-level", "https://page.test/", input: "p=1; Path=/; Secure; Partitioned; SameSite=None\n"),
        ServiceStep("set", url, input: "theme=; Path=/; Max-Age=0\n"),
        ServiceStep("set", url, input: "\n"), ServiceStep("set", url, "no-such-file"),
        ServiceStep("set", "nonsense", input: "a=1\n"),
        ServiceStep("set", url, "--jar", "work", input: "w=1; Path=/\n"),
        ServiceStep("set", url, "--jar", "bad\nname", input: "w=1; Path=/\n"),
        ServiceStep("set", "https://aaa.test/", "octets"),
        ServiceStep("list"), ServiceStep("list", "--values"), ServiceStep("list", "--json", "--values", "--origins"),
        ServiceStep("list", "example.com"), ServiceStep("list", "aaa.test", "--values", "--json"),
        ServiceStep("list", "not a host"), ServiceStep("list", "--jar", "work", "--origins"),
        ServiceStep("get", "sid", url), ServiceStep("get", "sid", url, "--json"), ServiceStep("get", "none", url),
        ServiceStep("get", "sid", "http://www.example.com/"), ServiceStep("get", "octets", "https://aaa.test/"),
        ServiceStep("get", "p", url, "--top-level", "https://page.test/"),
        ServiceStep("get", "w", url, "--jar", "work"),
        ServiceStep("get", "long", "\(url)a/b"), ServiceStep("get", "long", "\(url)a/b", "--json"),
        ServiceStep("remove", "sub"), ServiceStep("remove", "none"), ServiceStep("remove", "--path", "/a/b", "--json"),
        ServiceStep("remove", "--domain", "not a host"), ServiceStep("remove", "--domain", "nothing.test"),
        ServiceStep("remove", "--url", "https://other.test/"),
    ]

    private static let fields = [
        ServiceStep("jars", "fields"), ServiceStep("jars", "fields", "--jar", "none"),
        ServiceStep("jars", "fields", "set", "X-Key", "--scope", "\(url)v2", input: "k1\n"),
        ServiceStep("jars", "fields", "set", "X-Key", "--all-urls", "--json", input: "k0"),
        ServiceStep("jars", "fields", "set", "X-Octets", "--all-urls", "--value-file", "octets"),
        ServiceStep("jars", "fields", "set", "--user-agent", "Example/1.0 (\u{E9})"),
        ServiceStep("jars", "fields", "set", "--user-agent", "Example/2.0", "--scope", url, "--jar", "fielded"),
        ServiceStep("jars", "fields", "set", "Cookie", "--all-urls", input: "a=1"),
        ServiceStep("jars", "fields", "set", "X Key", "--all-urls", input: "a"),
        ServiceStep("jars", "fields", "set", "X-Key", "--all-urls", input: "\n"),
        ServiceStep("jars", "fields", "set", "X-Key", "--all-urls", input: "two\nlines"),
        ServiceStep("jars", "fields", "set", "X-Key", "--scope", "nonsense", input: "a"),
        ServiceStep("jars", "fields"), ServiceStep("jars", "fields", "list", "--json"),
        ServiceStep("jars", "fields", "list", "--values"), ServiceStep("jars", "fields", "list", "--values", "--json"),
        ServiceStep("jars", "fields", "--jar", "fielded"),
        ServiceStep("header", "\(url)v2/x", "--fields"), ServiceStep("header", "\(url)v2", "--fields", "--json"),
        ServiceStep("header", url), ServiceStep("header", url, "--json"),
        ServiceStep("header", "https://none.test/", "--fields"), ServiceStep("header", "https://none.test/"),
        ServiceStep("explain", "\(url)v2"), ServiceStep("explain", url, "--json"),
        ServiceStep("explain", url, "--script"),
        ServiceStep("jars", "copy", "fielded", "fielded2"), ServiceStep("jars", "fields", "--jar", "fielded2"),
        ServiceStep("jars", "fields", "remove", "x-key"), ServiceStep("jars", "fields", "remove", "x-key"),
        ServiceStep("jars", "fields", "remove", "X-Key", "--scope", "\(url)v2", "--json"),
        ServiceStep("jars", "fields", "remove", "X-Octets"), ServiceStep("jars", "fields", "remove", ""),
        .damaged("UPDATE header_field SET value = x'00' WHERE name = 'User-Agent'"),
        ServiceStep("jars", "fields"), ServiceStep("jars", "fields", "list", "--values", "--json"),
        ServiceStep("header", url, "--fields"), ServiceStep("explain", url),
        ServiceStep("jars", "fields", "remove", "User-Agent"),
    ]

    private static let captures = [
        ServiceStep("import", "dump", "--url", "https://dump.test/"),
        ServiceStep("import", "dump", "--url", "https://dump.test/"),
        ServiceStep("import", "dump", "--url", "https://dump.test/", "--again", "--json"),
        ServiceStep("import", "dump"), ServiceStep("import", "capture.har"),
        ServiceStep("import", "capture.har", "--json"),
        ServiceStep("import", "-", "--url", "https://dump.test/", input: dump),
        ServiceStep("import", "no-such-file", "capture.har"), ServiceStep("import", "folder"),
        ServiceStep("import", "empty"), ServiceStep("import", "noise"),
        ServiceStep("import", "cookies.txt", "--jar", "fresh", "--received-now"),
        ServiceStep("import", "cookies.txt", "--format", "netscape", "--jar", "fresh", "--quiet"),
        ServiceStep("sites"), ServiceStep("sites", "--json"), ServiceStep("sites", "--jar", "fresh"),
        ServiceStep("sites", "--jar", "none"),
        ServiceStep("list", "--jar", "fresh", "--origins"), ServiceStep("list", "dump.test", "--origins", "--json"),
        ServiceStep("changes", "--json"), ServiceStep("changes", "--after", "3"),
        ServiceStep("changes", "--after", "9999"),
        ServiceStep("changes", "--jar", "none"),
    ]

    private static let storage = [
        ServiceStep("storage"), ServiceStep("storage", "--jar", "none"),
        ServiceStep("import", "state.json", "--dry-run"),
        ServiceStep("import", "state.json", "--dry-run", "--jar", "stored"),
        ServiceStep("import", "state.json"), ServiceStep("import", "state.json", "--json"),
        ServiceStep("import", "state.json", "--jar", "stored", "--json"), ServiceStep("import", "bad-state.json"),
        ServiceStep("storage"), ServiceStep("storage", "list", "--json"),
        ServiceStep("plan", url), ServiceStep("plan", url, "--without-store", "--handler", "crumb"),
        ServiceStep("plan", "\(url)a/b?q", "--top-level", "https://page.test/"),
        ServiceStep("plan", "https://store.test:8443/", "--jar", "stored"), ServiceStep("plan", "https://aaa.test/"),
        ServiceStep("storage", "--origin", url), ServiceStep("storage", "--origin", "\(url)a", "--values"),
        ServiceStep("storage", "--origin", url, "--values", "--json"), ServiceStep("storage", "--origin", "nonsense"),
        ServiceStep("storage", "--origin", "https://nothing.test/"), ServiceStep("storage", "--jar", "stored"),
        ServiceStep("script", url), ServiceStep("script", "https://store.test:8443/", "--json"),
        ServiceStep("script", "https://store.test:8443/", "--verify"), ServiceStep("script", "https://store.test/"),
        ServiceStep("export", "--format", "storage-state"), ServiceStep("export", "--format", "netscape"),
        ServiceStep("export", "--format", "storage-state", "--json", "--site", "store.test"),
        ServiceStep("export", "--format", "storage-state", "--url", url),
        ServiceStep("export", "--format", "storage-state", "--jar", "stored", "--http-only"),
        ServiceStep("storage", "remove", "--origin", url, "k"), ServiceStep("storage", "remove", "--origin", url, "k"),
        ServiceStep("storage", "remove", "--all", "--json", "--jar", "stored"), ServiceStep("storage", "remove"),
        .damaged("UPDATE web_storage SET value = x'00' WHERE origin = 'https://store.test:8443'"),
        ServiceStep("storage", "--origin", "https://store.test:8443/", "--json"),
        ServiceStep("script", "https://store.test:8443/"), ServiceStep("export", "--format", "storage-state"),
        ServiceStep("storage", "remove", "--origin", "https://store.test:8443/"),
    ]

    private static let requests = [
        ServiceStep("header", url), ServiceStep("header", url, "--json"), ServiceStep("header", "https://aaa.test/"),
        ServiceStep("header", url, "--top-level", "https://page.test/", "--initiator", "https://page.test/"),
        ServiceStep("header", url, "--method", "POST", "--initiator", "https://other.test/"),
        ServiceStep("header", url, "--initiator", "user", "--no-navigation"), ServiceStep("header", "www.example.com"),
        ServiceStep("header", "https://dump.test/", "--json"),
        ServiceStep("script", url, "https://dump.test/"), ServiceStep("script", "https://dump.test/", "--json"),
        ServiceStep("script", "https://dump.test/", "--write", "always", "--verify"),
        ServiceStep("script", "https://dump.test/", "--handler", "crumb", "--write", "missing"),
        ServiceStep("capture-script", "--handler", "crumb"),
        ServiceStep("explain", url), ServiceStep("explain", url, "--json"), ServiceStep("explain", url, "--script"),
        ServiceStep("explain", "http://www.example.com/a/b"), ServiceStep("explain", "https://exmaple.com/"),
        ServiceStep("explain", "https://dump.test/", "--jar", "work"),
        ServiceStep("explain", url, "--set-cookie", "lines"),
        ServiceStep("explain", url, "--set-cookie", "lines", "--json"),
        ServiceStep("explain", url, "--set-cookie", "-", "--script", input: "sid=; Max-Age=0; Path=/\nq=1\n"),
        ServiceStep("explain", url, "--set-cookie", "empty"),
    ]

    private static let exports =
        ["netscape", "json", "storage-state", "har", "set-cookie", "webdriver"].flatMap { format in
            [
                ServiceStep("export", "--format", format),
                ServiceStep("export", "--format", format, "--json", "--site", "dump.test"),
            ]
        } + [
            ServiceStep("export", "--format", "header", "--url", url),
            ServiceStep("export", "--format", "curl", "--url", "https://dump.test/"),
            ServiceStep("export", "--format", "header"),
            ServiceStep("export", "--format", "json", "--name", "sid", "--http-only"),
            ServiceStep("export", "--format", "json", "--session", "--jar", "work"),
            ServiceStep("export", "--format", "json", "--persistent"),
            ServiceStep("export", "--format", "json", "--jar", "none"),
            ServiceStep("export", "--format", "netscape", "--output", "taken"),
            ServiceStep("export", "--format", "header", "--url", "https://nothing.test/", "--output", "nothing"),
        ]

    private static let jars = [
        ServiceStep("jars"), ServiceStep("jars", "list", "--json"), ServiceStep("jars", "create", "new"),
        ServiceStep("jars", "create", "new"), ServiceStep("jars", "create", ""),
        ServiceStep(
            "jars", "create", "strict", "--profile", "browser", "--limit", "none", "--limit", "total-cookies=2",
            "--json"),
        ServiceStep("jars", "settings", "strict"),
        ServiceStep("jars", "settings", "strict", "--limit", "total-cookies=1", "--json"),
        ServiceStep("jars", "settings", "strict", "--profile", "rfc6265bis"),
        ServiceStep("jars", "settings", "strict", "--limit", "none", "--limit", "domain-cookies=1"),
        ServiceStep("jars", "settings", "none"), ServiceStep("jars", "settings", "none", "--limit", "none"),
        ServiceStep("set", url, "--jar", "strict", input: "a=1; Path=/\nb=2; Path=/\n"),
        ServiceStep("jars", "copy", "default", "copy"), ServiceStep("jars", "copy", "default", "copy"),
        ServiceStep("jars", "copy", "none", "other"), ServiceStep("jars", "copy", "work", "a/b c?d", "--json"),
        ServiceStep("list", "--jar", "a/b c?d"), ServiceStep("jars", "merge", "default", "strict"),
        ServiceStep("jars", "merge", "work", "copy", "--json"), ServiceStep("jars", "merge", "work", "none"),
        ServiceStep("jars", "rename", "copy", "renamed"), ServiceStep("jars", "rename", "copy", "renamed"),
        ServiceStep("jars", "rename", "renamed", "work", "--json"), ServiceStep("jars", "clear", "renamed"),
        ServiceStep("jars", "clear", "none", "--json"), ServiceStep("jars", "remove", "renamed", "--json"),
        ServiceStep("jars", "remove", "renamed"), ServiceStep("jars", "remove", "strict"), ServiceStep("jars", "list"),
        ServiceStep("prune", "--jar", "default", "--json"), ServiceStep("prune", "--jar", "none"),
        ServiceStep("prune", "--no-vacuum", "--journal-entries", "2"),
    ]

    private static let sessions = [
        ServiceStep("session", "save", "monday"), ServiceStep("session", "save", "monday", "--json"),
        ServiceStep("session", "save", "monday"), ServiceStep("session", "save", "", "--jar", "work"),
        ServiceStep("session", "list"), ServiceStep("session", "list", "--json"),
        ServiceStep("session", "end", "--json"),
        ServiceStep("session", "end"), ServiceStep("session", "restore", "monday"),
        ServiceStep("session", "restore", "monday", "--json"), ServiceStep("session", "restore", "tuesday"),
        ServiceStep("session", "remove", "monday"), ServiceStep("session", "remove", "monday"),
        ServiceStep("session", "save", "first", "--jar", "made"), ServiceStep("session", "end", "--jar", "none"),
    ]

    private static let tokens = [
        prepared("token", "import", "--issuer", "https://id.example", "--account", "me", "work", input: reply),
        prepared(
            "token", "import", "bound", input: #"{"access_token":"tok-2","token_type":"DPoP","expires_in":7776000}"#),
        prepared("token", "import", "old", input: #"{"access_token":"tok-3","expires_at":1000000000}"#),
        ServiceStep("token", "list"), ServiceStep("token", "list", "--json"), ServiceStep("token", "status", "work"),
        ServiceStep("token", "status", "none"), ServiceStep("token", "get", "work"),
        ServiceStep("token", "get", "work", "--json"),
        ServiceStep("token", "get", "none"), ServiceStep("token", "get", "old"), ServiceStep("token", "header", "work"),
        ServiceStep("token", "header", "work", "--json"), ServiceStep("token", "header", "bound"),
        ServiceStep("token", "fallback", "set", "app", url, "--profile", "work", "--authorization"),
        ServiceStep(
            "token", "fallback", "set", "site", url, "--profile", "work", "--when-redirect", "/login", "--when-status",
            "419", "--cookie", "s={access_token}; Path=/; Secure", "--json"),
        ServiceStep("token", "fallback", "set", "x", url, "--profile", "none", "--authorization"),
        ServiceStep("token", "fallback", "set", "x", url, "--profile", "work", "--cookie", "s=1"),
        ServiceStep("token", "fallback", "list"), ServiceStep("token", "fallback", "list", "--json"),
        ServiceStep("token", "fallback", "list", "--jar", "none"),
        ServiceStep("token", "fallback", "remove", "app"), ServiceStep("token", "fallback", "remove", "app"),
        ServiceStep("token", "fallback", "remove", "site", "--json"), ServiceStep("token", "fallback", "remove", ""),
        ServiceStep("token", "refresh", "work"), ServiceStep("token", "revoke", "work"),
        ServiceStep("token", "logout", "bound"),
        ServiceStep("token", "logout", "old", "--json"), ServiceStep("token", "remove", "work"),
        ServiceStep("token", "remove", "work"),
    ]

    private static let damage = [
        ServiceStep("set", url, input: "sid=3; Path=/; Secure; HttpOnly\n"),
        damaged("UPDATE cookie SET http_only = 1 - http_only WHERE name IN (CAST('sid' AS BLOB), 'sid')"),
        ServiceStep("header", url), ServiceStep("header", url, "--json"), ServiceStep("list"),
        ServiceStep("list", "dump.test"),
        ServiceStep("get", "sid", url), ServiceStep("export", "--format", "netscape", "--json"),
        ServiceStep("explain", url), ServiceStep("jars", "copy", "default", "undamaged"), ServiceStep("script", url),
        ServiceStep("plan", url),
    ]
}
