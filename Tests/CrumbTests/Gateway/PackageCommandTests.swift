import CookieModel
import Foundation
import TestSupport
import Testing

@Suite("Offline packages on the command line")
struct PackageCommandTests {
    private let home = CrumbHome()

    /// Builds a package of the folder `dist`, whose script names the version.
    @discardableResult
    private func build(_ version: String, _ words: String...) throws -> String {
        try FileManager.default.createDirectory(atPath: home.file("dist/img"), withIntermediateDirectories: true)
        try home.write("script \(version)", to: "dist/app.js")
        try home.write("<p>page", to: "dist/index.html")
        try home.write("<svg/>", to: "dist/img/a b?.svg")
        try home.write("hidden", to: "dist/.secret")
        let file = home.file("shop-\(version).zip")
        let result = try home.start(
            [
                "gateway", "package", "build", home.file("dist"), "--base", "https://shop.example/", "--name", "shop",
                "--version", version, "-o", file, "--force",
            ] + words
        ).wait()
        #expect(result.status == 0, "\(result.messages)")
        #expect(result.messages.contains("left out .secret: it is hidden"), "\(result.messages)")
        return file
    }

    private func package(_ words: String...) throws -> RunResult {
        try home.start(["gateway", "package"] + words + ["--jar", "work"]).wait()
    }

    @Test("A package is built, added, listed, updated, rolled back, removed and brought back")
    func lifetime() throws {
        let first = try build("1.0.0")
        #expect(try home.crumb("gateway", "package", "list").messages == "no packages in jar 'default'\n")
        let added = try package("add", first)
        #expect(added.status == 0 && added.messages.contains("added package 'shop' 1.0.0: 4 resources, "))
        #expect(added.messages.contains("for https://shop.example to jar 'work'"), "\(added.messages)")
        #expect(added.messages.contains("created jar 'work'") && added.messages.contains("not signed"))
        let shown = try package("show", "shop")
        #expect(shown.text.contains("resource: 200 https://shop.example/img/a%20b%3F.svg, 6 octets\n"), "\(shown.text)")
        #expect(shown.text.contains("resource: 200 https://shop.example/, 7 octets\n"))
        #expect(try package("verify", "shop").messages == "package 'shop' is intact\n")
        let again = try package("add", first)
        #expect(again.status == 91 && again.messages.contains("1.0.0 is not newer"), "\(again.messages)")
        #expect(try package("add", first, "--force").status == 0)
        #expect(try package("add", build("1.1.0")).status == 0)
        #expect(try package("list", "--json").objects().first?["version"] as? String == "1.1.0")
        #expect(try package("rollback", "shop").messages == "package 'shop' of jar 'work' has version 1.0.0\n")
        let removed = try package("remove", "shop")
        #expect(removed.status == 0 && removed.messages.contains("crumb gateway package rollback --jar=work shop"))
        #expect(try package("show", "shop").status == 92 && package("remove", "shop").status == 92)
        #expect(try package("list").text.contains("1.0.0 (removed)"))
        #expect(try package("rollback", "shop").status == 0)
        #expect(try package("list").text.contains("shop  1.0.0    4"))
        for words in [["show", "none"], ["rollback", "none"], ["verify", "none"], ["remove", "none"]] {
            let result = try home.start(["gateway", "package"] + words + ["--jar", "work"]).wait()
            #expect(result.status == 92 && result.messages.contains("'crumb gateway package list' lists"))
        }
    }

    @Test("A package that is refused leaves no jar, and an explanation names the one that answers")
    func refusedAndExplained() throws {
        let file = try build("1.0.0")
        let refused = try package("add", file, "--origin", "https://other.example")
        #expect(refused.status == 91 && !refused.messages.contains("created jar"), "\(refused.messages)")
        #expect(try home.crumb("jars", "list", "--json").text.isEmpty)
        let missing = try home.crumb(
            "gateway", "package", "build", home.file("nodir"), "--base", "https://shop.example/", "--name", "shop",
            "--version", "1.0.0", "-o", home.file("x.zip"))
        #expect(missing.messages.contains("nodir: no such folder or recording"), "\(missing.messages)")

        #expect(try package("add", file).messages.contains("created jar 'work'"))
        func explained(_ url: String) throws -> RunResult {
            try home.crumb("explain", "--cache", "--jar", "work", url)
        }
        let text = try explained("https://shop.example/app.js").text
        #expect(
            text.contains(
                "\nanswer: package-shop-1.0.0 answers before the cache\nwithout packages: sent to the server\n"),
            "\(text)")
        #expect(try explained("https://shop.example/none").text.contains("\nanswer: sent to the server\n"))
    }

    @Test("A signed package pins its key, and --key names the key that it has to have")
    func signed() throws {
        for name in ["own", "other"] {
            let result = try home.shell(
                "umask 077; openssl genpkey -algorithm ed25519 -out \(name).pem && openssl pkey -in \(name).pem -pubout -out \(name).pub"
            )
            #expect(result.status == 0, "\(result.messages)")
        }
        let file = try build("1.0.0", "--sign", home.file("own.pem"))
        #expect(try package("add", file, "--key", home.file("other.pub")).status == 91)
        #expect(try package("list").text.isEmpty)
        #expect(try package("add", file, "--key", home.file("own.pub")).status == 0)
        for update in [try build("1.1.0"), try build("1.2.0", "--sign", home.file("other.pem"))] {
            #expect(try package("add", update).status == 91)
        }
        #expect(try package("add", build("1.3.0", "--sign", home.file("own.pem"))).status == 0)
        #expect(try package("list").text.contains("yes"))
        #expect(try package("add", file, "--key", home.file("own.pem")).status == 91)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: home.file("own.pem"))
        let exposed = try home.crumb(
            "gateway", "package", "build", home.file("dist"), "--base", "https://shop.example/", "--name", "a",
            "--version", "1.0.0", "-o", home.file("a.zip"), "--sign", home.file("own.pem"))
        #expect(exposed.status == 33 && !FileManager.default.fileExists(atPath: home.file("a.zip")))
    }

    @Test("An unsigned version is shown as such although a later one has pinned a key")
    func unsignedBefore() throws {
        let key = try home.shell("umask 077; openssl genpkey -algorithm ed25519 -out own.pem")
        #expect(key.status == 0, "\(key.messages)")
        #expect(try package("add", build("1.0.0")).status == 0)
        #expect(try package("add", build("1.1.0", "--sign", home.file("own.pem"))).status == 0)
        #expect(try package("list", "--json").objects().first?["signed"] as? Bool == true)
        #expect(try package("rollback", "shop").status == 0)
        let listed = try package("list", "--json").objects().first
        #expect(listed?["signed"] as? Bool == false && listed?["key"] is String)
        #expect(try package("show", "shop").text.contains(", but this version is not signed\n"))
    }

    @Test("A file answers the URL that a browser requests for its name")
    func names() throws {
        try FileManager.default.createDirectory(atPath: home.file("names"), withIntermediateDirectories: true)
        try home.write("a", to: "names/[id]|a:b{c}.txt")
        let built = try home.crumb(
            "gateway", "package", "build", home.file("names"), "--base", "https://shop.example/", "--name", "a",
            "--version", "1.0.0", "-o", home.file("names.zip"))
        #expect(built.status == 0, "\(built.messages)")
        #expect(try package("add", home.file("names.zip")).status == 0)
        #expect(try package("show", "a").text.contains(" https://shop.example/[id]|a:b%7Bc%7D.txt, 1 octet\n"))
    }

    @Test("A package with other origins than those of --origin is refused, now and later")
    func origins() throws {
        let file = try build("1.0.0")
        let refused = try package("add", file, "--origin", "https://other.example")
        #expect(refused.status == 91 && refused.messages.contains("answers for https://shop.example"))
        #expect(try package("add", file, "--origin", "https://shop.example/").status == 0)
        #expect(try package("show", "shop").text.contains("allowed origin: https://shop.example\n"))
        #expect(try package("add", file, "--origin", "shop.example").status == 64)
    }

    @Test("A recording becomes a package without what is personal")
    func recording() throws {
        func entry(_ url: String, _ request: String, _ text: String) -> String {
            #"{"request": {"method": "GET", "url": "\#(url)", "headers": [\#(request)]}, "response": {"status": 200, "headers": [], "content": {"text": "\#(text)"}}}"#
        }
        let cookie = #"{"name": "Cookie", "value": "sid=s3cret"}"#
        let entries = [
            entry("https://shop.example/a.js?v=1", "", "hello"), entry("https://shop.example/me", cookie, "s3cret"),
        ]
        try home.write(#"{"log": {"version": "1.2", "entries": [\#(entries.joined(separator: ","))]}}"#, to: "a.har")
        let words = ["gateway", "package", "build", home.file("a.har"), "--name", "a", "--version", "1.0.0", "-o"]
        let built = try home.start(words + [home.file("a.zip")]).wait()
        #expect(
            built.status == 0 && built.messages.contains("left out https://shop.example/me: its request or response"))
        #expect(!String(decoding: home.bytes("a.zip"), as: UTF8.self).contains("s3cret"))
        #expect(try home.start(words + [home.file("a.zip")]).wait().status == 28)
        #expect(try home.start(words + [home.file("b.zip"), "--with-credentials"]).wait().status == 0)
        #expect(String(decoding: home.bytes("b.zip"), as: UTF8.self).contains("s3cret"))
        #expect(try package("add", home.file("a.zip")).status == 0)
        #expect(try package("show", "a").text.contains("https://shop.example/a.js?v=1"))
        #expect(try home.start(words + [home.file("c.zip"), "--base", "https://a.example/"]).wait().status == 64)
    }

    @Test("A backup says that packages are not in it, if there are any")
    func backup() throws {
        try home.receive("a=1; Path=/")
        #expect(try !home.crumb("backup", home.file("copy")).messages.contains("packages"))
        #expect(try package("add", build("1.0.0")).status == 0)
        let made = try home.crumb("backup", "--force", home.file("copy"))
        #expect(
            made.status == 0 && made.messages.contains("the offline packages of the database are not in the backup"))
    }

    @Test("What is no package changes nothing, and says what is wrong")
    func invalid() throws {
        let file = try home.write("GIF89a", to: "a.zip")
        let result = try package("add", file)
        #expect(result.status == 90 && result.messages.contains("not a ZIP archive"), "\(result.messages)")
        #expect(!result.messages.contains("created jar"))
        #expect(try package("add", home.file("none.zip")).status == 17)
        #expect(try package("add", home.path).status == 15)
        let noName = try home.crumb("gateway", "package", "build", home.path, "--version", "1.0.0", "-o", "a.zip")
        #expect(noName.status == 64 && noName.messages.contains("--name"), "\(noName.text)\(noName.messages)")
        let name = try home.crumb(
            "gateway", "package", "build", home.path, "--base", "https://a.example", "--name", "a", "--version", "1",
            "-o", home.file("b.zip"))
        #expect(name.status == 64 && name.messages.contains("semantic"))
    }

    @Test("After a key rotation and the removal of the former key, the packages are there")
    func rotation() throws {
        #expect(try package("add", build("1.0.0")).status == 0)
        #expect(try home.crumb("key", "rotate").status == 0)
        #expect(try home.crumb("key", "forget", "--yes").status == 0)
        #expect(try package("verify", "shop").status == 0)
        #expect(try package("add", build("1.1.0")).status == 0)
    }

    @Test("After a restore to a time before a key rotation, the packages are there, and after the next one")
    func restoration() throws {
        #expect(try package("add", build("1.0.0")).status == 0)
        #expect(try home.crumb("backup", home.file("copy")).status == 0)
        #expect(try home.crumb("key", "rotate").status == 0)
        #expect(try home.crumb("restore", "--force", home.file("copy")).status == 0)
        #expect(try package("verify", "shop").status == 0)
        #expect(try package("add", build("1.1.0")).status == 0)
        #expect(try home.crumb("key", "rotate").status == 0)
        #expect(try package("verify", "shop").status == 0)
    }

    @Test("A process that is killed while it adds a package leaves the version before, or the new one")
    func killed() throws {
        #expect(try package("add", build("1.0.0")).status == 0)
        try home.write([UInt8](repeating: 65, count: 1 << 20), to: "dist/large.txt")
        var (moments, last) = (KillMoments(), "1.0.0")
        for number in 1...12 {
            let next = "1.\(number).0"
            let file = try build(next)
            let process = try home.start(["gateway", "package", "add", file, "--jar", "work"])
            moments.wait(atMost: 120_000)
            process.kill()
            _ = process.wait()
            let version = try package("list", "--json").objects().first?["version"] as? String
            #expect(version == last || version == next, "\(moments)")
            #expect(try package("verify", "shop").status == 0, "\(moments)")
            last = version ?? last
        }
        #expect(try package("add", build("2.0.0")).status == 0)
        // What the killed processes have left is gone: two versions have a file each.
        let folder = home.file("crumb.sqlite.packages/1/bundles")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    }
}
