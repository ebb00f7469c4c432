import Testing
import WebPrimitives

@testable import OfflinePackages

@Suite("The manifest of a package")
struct ManifestTests {
    private static let digest = String(repeating: "0a", count: 32)

    private static func resource(
        url: String = "https://shop.example/app.js", members: String = ""
    ) -> String {
        #"{"url": "\#(url)", "file": "f", "sha256": "\#(digest)", "length": 1\#(members)}"#
    }

    private static func manifest(
        name: String = "shop", version: String = "1.0.0", members: String = "", _ resources: String...
    ) -> String {
        let list = (resources.isEmpty ? [resource()] : resources).joined(separator: ",")
        return #"{"format": 1, "name": "\#(name)", "version": "\#(version)"\#(members), "resources": [\#(list)]}"#
    }

    @Test(
        "Valid manifests",
        arguments: [
            (manifest(), "https://shop.example/app.js"),
            (
                manifest(members: #", "base": "https://shop.example/a/""#, resource(url: "b.js?v=1")),
                "https://shop.example/a/b.js?v=1"
            ),
            (
                manifest(members: #", "base": "https://shop.example/""#, resource(url: "https://cdn.example/x")),
                "https://cdn.example/x"
            ),
            (manifest(resource(url: "http://shop.example/#part")), "http://shop.example/"),
            (manifest(resource(members: #", "fields": {"Content-Type": "text/css"}"#)), "https://shop.example/app.js"),
            (
                manifest(resource(members: #", "status": 301, "fields": {"Location": "/b"}"#)),
                "https://shop.example/app.js"
            ),
        ])
    func valid(text: String, url: String) throws {
        let manifest = try PackageManifest(parsing: Array(text.utf8))
        #expect(manifest.resources.map(\.url.description) == [url])
        let again = try PackageManifest(parsing: manifest.octets())
        #expect(again == manifest)
    }

    @Test(
        "Manifests that break a rule are refused, with the rule",
        arguments: [
            ("cannot be read", ""), ("cannot be read", "[1"), ("cannot be read", #"{"a": 1, "a": 2}"#),
            ("nested", String(repeating: "[", count: 100)), ("lacks a member", "{}"),
            ("lacks a member", #"{"format": 1, "name": 5, "version": "1.0.0", "resources": []}"#),
            ("format 2", #"{"format": 2, "name": "shop", "version": "1.0.0", "resources": []}"#),
            ("no resource", #"{"format": 1, "name": "shop", "version": "1.0.0", "resources": []}"#),
            ("'other'", manifest(members: #", "other": 1"#)),
            ("'extra'", manifest(resource(members: #", "extra": 1"#))),
            ("name", manifest(name: "")), ("name", manifest(name: "Shop")), ("name", manifest(name: "a/b")),
            ("name", manifest(name: "..")), ("name", manifest(name: "-a")),
            ("semantic", manifest(version: "1.0")), ("semantic", manifest(version: "01.0.0")),
            ("base", manifest(members: #", "base": "ftp://shop.example/""#)),
            ("key", manifest(members: #", "key": "AAAA""#)), ("key", manifest(members: #", "key": "?""#)),
            ("not an http", manifest(resource(url: "app.js"))),
            ("not an http", manifest(resource(url: "file:///etc/passwd"))),
            ("not an http", manifest(resource(url: "javascript:alert(1)"))),
            ("only http and https", manifest(resource(url: "wss://shop.example/"))),
            ("twice", manifest(resource(), resource())),
            ("twice", manifest(resource(), resource(url: "https://SHOP.example:443/app.js#a"))),
            ("status 204", manifest(resource(members: #", "status": 204"#))),
            ("status 500", manifest(resource(members: #", "status": 500"#))),
            ("redirect", manifest(resource(members: #", "status": 301"#))),
            ("redirect", manifest(resource(members: #", "fields": {"Location": "/"}"#))),
            ("'Set-Cookie'", manifest(resource(members: #", "fields": {"Set-Cookie": "a=1"}"#))),
            ("'Transfer-Encoding'", manifest(resource(members: #", "fields": {"Transfer-Encoding": "chunked"}"#))),
            ("'Content-Encoding'", manifest(resource(members: #", "fields": {"Content-Encoding": "gzip"}"#))),
            ("'Clear-Site-Data'", manifest(resource(members: #", "fields": {"Clear-Site-Data": "*"}"#))),
            ("there twice", manifest(resource(members: #", "fields": {"etag": "a", "ETag": "b"}"#))),
            ("control character", manifest(resource(members: #", "fields": {"ETag": "a\r\nSet-Cookie: b=1"}"#))),
            ("sha256", manifest(#"{"url": "https://a.example/", "file": "f", "sha256": "00", "length": 1}"#)),
            (
                "negative",
                manifest(#"{"url": "https://a.example/", "file": "f", "sha256": "\#(digest)", "length": -1}"#)
            ),
        ])
    func invalid(reason: String, text: String) {
        let error = #expect(throws: PackageError.self) { try PackageManifest(parsing: Array(text.utf8)) }
        #expect(error?.code == .invalid && error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("Versions are ordered as Semantic Versioning orders them, and the other way round")
    func versions() throws {
        let ordered = [
            "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
            "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.10", "1.2.0", "2.0.0", "10.0.0", "99999999999999999999.0.0",
        ].map(PackageVersion.init)
        for (left, first) in ordered.enumerated() {
            for (right, second) in ordered.enumerated() {
                let (first, second) = (try #require(first), try #require(second))
                #expect(first.precedes(second) == (left < right), "\(first) \(second)")
                #expect(second.precedes(first) == (left > right), "\(first) \(second)")
            }
        }
        let built = try #require(PackageVersion("1.0.0+7"))
        #expect(try #require(PackageVersion("1.0.0")).order(built) == 0)
        for text in [
            "", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.-1", "1.0.0-", "1.0.0-01", "1.0.0-a..b", "1.0.0+", "1.0.0 ",
        ] {
            #expect(PackageVersion(text) == nil, "\(text)")
        }
    }

    @Test("Only origins that are named are accepted")
    func origins() throws {
        let text = ManifestTests.manifest(
            ManifestTests.resource(), ManifestTests.resource(url: "https://cdn.example:8443/x"))
        let manifest = try PackageManifest(parsing: Array(text.utf8))
        #expect(manifest.origins == ["https://cdn.example:8443", "https://shop.example"])
        try manifest.check(within: ["https://cdn.example:8443", "https://shop.example", "http://other.example"])
        let error = #expect(throws: PackageError.self) { try manifest.check(within: ["https://shop.example"]) }
        #expect(error?.code == .refused && error?.description.contains("https://cdn.example:8443") == true)
    }
}

@Suite("The contents of a package")
struct ArchiveTests {
    /// A package with one resource.
    static func package(
        _ body: String = "hello", version: String = "1.0.0", signedBy key: PackageKey? = nil
    ) throws -> [UInt8] {
        var builder = PackageBuilder()
        try builder.add(
            .init(
                url: try RequestURL("https://shop.example/app.js"), fields: [.init("Content-Type", "text/javascript")],
                body: Array(body.utf8)))
        var file: [UInt8] = []
        _ = try builder.write(
            name: "shop", version: #require(PackageVersion(version)), signedBy: key
        ) { file += $0 }
        return file
    }

    @Test("A signature has to be that of the pinned key, or of the key that the manifest names")
    func signatures() throws {
        let (key, other) = (PackageKey(), PackageKey())
        let signed = try PackageArchive(MemoryZip(octets: ArchiveTests.package(signedBy: key)))
        let unsigned = try PackageArchive(MemoryZip(octets: ArchiveTests.package()))
        #expect(try signed.verifiedKey(pinned: nil) == key.publicKey)
        #expect(try signed.verifiedKey(pinned: key.publicKey) == key.publicKey)
        #expect(try unsigned.verifiedKey(pinned: nil) == nil)
        for (archive, pinned) in [(signed, other), (unsigned, key)] {
            let error = #expect(throws: PackageError.self) { try archive.verifiedKey(pinned: pinned.publicKey) }
            #expect(error?.code == .refused)
        }
    }

    @Test("A manifest that was changed after its signature is refused, and so is a removed signature")
    func changedManifest() throws {
        let octets = try ArchiveTests.package(signedBy: PackageKey())
        let source = MemoryZip(octets: octets)
        let directory = try ZipDirectory(source)
        for removesSignature in [false, true] {
            var (writer, file) = (ZipWriter(), [UInt8]())
            for entry in directory.entries.values {
                var reader = ZipEntryReader(entry, of: source)
                var body = try reader.readAll()
                if entry.name == PackageManifest.signatureName, removesSignature { continue }
                if entry.name == PackageManifest.fileName, !removesSignature { body.append(ASCII.lineFeed) }
                file += try writer.entry(entry.name, body)
            }
            file += writer.end()
            let archive = try PackageArchive(MemoryZip(octets: file))
            let error = #expect(throws: PackageError.self) { try archive.verifiedKey(pinned: nil) }
            #expect(error?.code == .refused, "\(error?.description ?? "")")
        }
    }

    @Test("A body with another digest than the manifest's is refused")
    func digest() throws {
        let octets = try ArchiveTests.package("hello")
        let source = MemoryZip(octets: octets)
        var (writer, file) = (ZipWriter(), [UInt8]())
        for entry in try ZipDirectory(source).entries.values {
            var reader = ZipEntryReader(entry, of: source)
            let body = try reader.readAll()
            file += try writer.entry(entry.name, entry.name.hasPrefix("files/") ? Array("olleh".utf8) : body)
        }
        file += writer.end()
        let archive = try PackageArchive(MemoryZip(octets: file))
        let resource = try #require(archive.manifest.resources.first)
        let error = #expect(throws: PackageError.self) { try archive.read(resource) { _ in } }
        #expect(error?.description.contains("digest") == true)
    }

    @Test("An archive without a manifest, or without a file that it names, is no package")
    func missing() throws {
        let source = MemoryZip(octets: try ArchiveTests.package())
        for prefix in [PackageManifest.fileName, "files/"] {
            var (writer, file) = (ZipWriter(), [UInt8]())
            for entry in try ZipDirectory(source).entries.values where !entry.name.hasPrefix(prefix) {
                var reader = ZipEntryReader(entry, of: source)
                file += try writer.entry(entry.name, reader.readAll())
            }
            file += writer.end()
            let error = #expect(throws: PackageError.self) { try PackageArchive(MemoryZip(octets: file)) }
            #expect(error?.code == .invalid)
        }
    }

    @Test(
        "The builder leaves out what is personal or not repeatable",
        arguments: [
            ("", nil), ("credentials", "credentials"), ("POST", "POST"), ("302", "status is 302"),
            ("Cache-Control: private", "private"), ("Cache-Control: max-age=1, no-store", "no-store"),
            ("Vary: Cookie", "Vary"), ("Vary: Accept-Encoding", nil),
        ])
    func omissions(property: String, reason: String?) throws {
        let parts = property.split(separator: ": ").map(String.init)
        var response = PackageBuilder.Response(
            url: try RequestURL("https://shop.example/a?secret=1"),
            fields: [.init("Set-Cookie", "sid=s3cret")] + (parts.count == 2 ? [.init(parts[0], parts[1])] : []),
            body: Array("hello".utf8))
        response.hasCredentials = property == "credentials"
        if property == "POST" { response.method = property }
        if property == "302" { response.status = 302 }
        for isIncluded in [false, true] {
            var builder = PackageBuilder()
            builder.includesCredentials = isIncluded
            try builder.add(response)
            let isPersonal = property == "credentials" || property.hasPrefix("Cache-Control")
            let isKept = reason == nil || isIncluded && isPersonal
            #expect(builder.count == (isKept ? 1 : 0), "\(property)")
            #expect(builder.omissions.first?.subject == (isKept ? nil : "https://shop.example/a"))
            if let reason, !isKept { #expect(builder.omissions.first?.reason.contains(reason) == true) }
            var file: [UInt8] = []
            guard isKept else { continue }
            _ = try builder.write(name: "a", version: #require(PackageVersion("1.0.0")), signedBy: nil) { file += $0 }
            #expect(!String(decoding: file, as: UTF8.self).contains("s3cret"))
        }
    }

    @Test("A HAR becomes a package; its bodies are those of the pages, and cookies are never in it")
    func har() throws {
        func entry(_ url: String, request: String = "", response: String = "", content: String) -> String {
            #"""
            {"request": {"method": "GET", "url": "\#(url)", "headers": [\#(request)]},
             "response": {"status": 200, "headers": [\#(response)], "content": {\#(content)}}}
            """#
        }
        let cookie = #"{"name": "Cookie", "value": "sid=s3cret"}"#
        let setCookie = #"{"name": "set-cookie", "value": "sid=s3cret"}"#
        let type = #"{"name": "content-type", "value": "text/plain"}, {"name": "content-encoding", "value": "br"}"#
        let entries = [
            entry("https://a.example/1", response: type, content: #""text": "h\u00e9llo""#),
            entry("https://a.example/2", content: #""text": "aGVsbG8=", "encoding": "base64""#),
            entry("https://a.example/3", request: cookie, content: #""text": "s3cret""#),
            entry("https://a.example/4", response: setCookie, content: #""text": "s3cret""#),
            entry("https://a.example/5", content: #""size": 0"#),
            // Crumb records the octets that were sent.
            entry("https://a.example/6", response: type, content: #""text": "h\u00e9llo", "_contentEncoding": "br""#),
        ]
        var builder = PackageBuilder()
        try builder.add(har: Array(#"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#.utf8))
        #expect(builder.count == 2)
        #expect(builder.omissions.map(\.subject) == (3...6).map { "https://a.example/\($0)" })
        var file: [UInt8] = []
        _ = try builder.write(name: "a", version: #require(PackageVersion("1.0.0")), signedBy: nil) { file += $0 }
        let archive = try PackageArchive(MemoryZip(octets: file))
        var bodies: [[UInt8]] = []
        for resource in archive.manifest.resources { try archive.read(resource) { bodies.append($0) } }
        #expect(bodies == [Array("h\u{e9}llo".utf8), Array("hello".utf8)])
        #expect(archive.manifest.resources[0].fields == [.init("content-type", "text/plain")])
        var broken = PackageBuilder()
        #expect(throws: PackageError.self) { try broken.add(har: Array("{}".utf8)) }
    }
}

@Suite("The packages of a page, and downloads")
struct ChoiceTests {
    private typealias Pages = PageBeginnings<Int>

    private func request(_ path: String, from page: String? = nil, document: Bool = false, client: UInt64 = 0) throws
        -> Pages.Request
    {
        try Pages.Request(
            url: RequestURL("https://\(path)"), referrer: page.map { try RequestURL("https://\($0)") },
            isDocument: document, client: client)
    }

    @Test("A page keeps the packages that it began with, and a document begins with the newest")
    func pages() throws {
        var pages = Pages()
        #expect(pages.packages(for: try request("a.example/x.js"), newest: 1) == 1)
        #expect(pages.packages(for: try request("a.example/", document: true, client: 1), newest: 1) == 1)
        #expect(pages.packages(for: try request("a.example/b", document: true, client: 2), newest: 2) == 2)
        for (row, expected) in [
            (try request("a.example/x.js", from: "a.example/"), 1),
            (try request("a.example/x.js", from: "a.example/b"), 2),
            // The whole URL of the page is not known.
            (try request("a.example/x.js", from: "a.example/other"), 2),
            (try request("cdn.example/x.js", from: "a.example/"), 2),
            // There is no Referer: the last page of the connection.
            (try request("a.example/x.js", client: 1), 1), (try request("a.example/x.js", client: 2), 2),
            // Nothing is known.
            (try request("a.example/x.js", client: 3), 3), (try request("b.example/x", from: "b.example/"), 3),
        ] {
            #expect(pages.packages(for: row, newest: 3) == expected, "\(row)")
        }
        // A style sheet passes on what it came from.
        pages.note(try RequestURL("https://cdn.example/s.css"), answeredBy: 1)
        #expect(pages.packages(for: try request("cdn.example/f.woff", from: "cdn.example/s.css"), newest: 3) == 1)
        // A reload begins again.
        #expect(pages.packages(for: try request("a.example/", document: true, client: 1), newest: 3) == 3)
        #expect(pages.packages(for: try request("a.example/x.js", from: "a.example/"), newest: 4) == 3)
    }

    @Test("Memory is bounded, and the newest pages are remembered")
    func bound() throws {
        var pages = Pages(limit: 20)
        for number in 0..<100 {
            _ = pages.packages(for: try request("a.example/\(number)", document: true), newest: number)
        }
        #expect(pages.packages(for: try request("a.example/x", from: "a.example/99"), newest: -1) == 99)
        #expect(pages.packages(for: try request("b.example/x", from: "b.example/0"), newest: -1) == -1)
    }

    @Test(
        "A download goes on only with the rest of the same file",
        arguments: [
            (0, 200, [:], PackageTransfer.Step.write(from: 0)),
            (5, 200, [:], .write(from: 0)),
            (5, 206, ["content-range": "bytes 5-9/10", "etag": "\"v\""], .write(from: 5)),
            (5, 206, ["content-range": "bytes 5-9/*"], .write(from: 5)),
            (5, 206, ["content-range": "bytes 4-9/10"], .restart),
            (5, 206, ["content-range": "bytes 5-9/10", "etag": "\"w\""], .restart),
            (5, 206, ["content-range": "bytes 5-10/10"], .restart), (5, 206, [:], .restart),
            (5, 416, ["content-range": "bytes */5"], .complete), (5, 416, ["content-range": "bytes */4"], .restart),
            (5, 416, [:], .restart),
        ])
    func steps(length: Int64, status: Int, fields: [String: String], step: PackageTransfer.Step) throws {
        var transfer = PackageTransfer(length: length, validator: "\"v\"")
        #expect(try transfer.step(status: status) { fields[$0] } == step)
    }

    @Test("Without a strong validator nothing is resumed, and errors and long files end the download")
    func refusals() throws {
        #expect(PackageTransfer(length: 5, validator: nil).fields.map(\.name) == ["Accept-Encoding"])
        let transfer = PackageTransfer(length: 5, validator: "\"v\"")
        #expect(transfer.fields.map(\.value) == ["identity", "bytes=5-", "\"v\""])
        for (tag, validator) in [("\"a\"", "\"a\""), ("W/\"a\"", nil), ("a", nil)] {
            var new = PackageTransfer()
            _ = try new.step(status: 200) { $0 == "etag" ? tag : nil }
            #expect(new.validator == validator)
        }
        for (status, length) in [(404, "1"), (206, "1"), (416, "1"), (500, "1"), (200, "99999999999")] {
            var new = PackageTransfer()
            let error = #expect(throws: PackageError.self) {
                try new.step(status: status) { $0 == "content-length" ? length : nil }
            }
            #expect(error?.code == .notFetched)
        }
        let url = try RequestURL("https://a.example/x.zip")
        #expect(try url.downloadRedirect(to: "/y.zip").description == "https://a.example/y.zip")
        for location in [nil, "http://a.example/", "file:///x", "wss://a.example/"] {
            #expect(throws: PackageError.self) { try url.downloadRedirect(to: location) }
        }
    }
}
