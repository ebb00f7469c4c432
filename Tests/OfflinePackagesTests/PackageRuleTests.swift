import Testing
import WebPrimitives

@testable import OfflinePackages

@Suite("What a package may cost, and what it may publish")
struct PackageRuleTests {
    private func response(_ url: String, _ fields: [PackageManifest.Field] = [], _ body: String = "hello") throws
        -> PackageBuilder.Response
    {
        PackageBuilder.Response(url: try RequestURL(url), fields: fields, body: Array(body.utf8))
    }

    @Test(
        "A small manifest cannot name large URLs",
        arguments: [(10, 9000, "base"), (9000, 10, "more than 8192"), (10, 1000, "URLs have more than 10000")])
    func longURLs(reference: Int, base: Int, reason: String) {
        let digest = String(repeating: "0a", count: 32)
        let resources = (0..<20).map { number in
            let url = String(repeating: "r", count: reference) + "\(number)"
            return #"{"url": "\#(url)", "file": "f", "sha256": "\#(digest)", "length": 1}"#
        }
        let folder = String(repeating: "b", count: base)
        let text =
            #"{"format": 1, "name": "shop", "version": "1.0.0", "base": "https://shop.example/\#(folder)/", "#
            + #""resources": [\#(resources.joined(separator: ","))]}"#
        var limits = PackageLimits()
        limits.manifestLength = 10_000
        let error = #expect(throws: PackageError.self) {
            try PackageManifest(parsing: Array(text.utf8), limits: limits)
        }
        #expect(error?.code == .invalid && error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("The builder stops at the limits that a package has when it is added")
    func builderLimits() throws {
        var limits = PackageLimits()
        limits.resources = 2
        limits.totalLength = 12
        var many = PackageBuilder(limits: limits)
        for path in ["a", "b"] { try many.add(response("https://shop.example/\(path)", [], "1")) }
        // What is left out does not count.
        try many.add(response("https://shop.example/a"))
        let tooMany = #expect(throws: PackageError.self) { try many.add(response("https://shop.example/c")) }
        #expect(tooMany?.description.contains("more than 2 resources") == true)
        var long = PackageBuilder(limits: limits)
        try long.add(response("https://shop.example/a"))
        let tooLong = #expect(throws: PackageError.self) {
            try long.add(response("https://shop.example/b", [], "too long"))
        }
        #expect(tooLong?.description.contains("more than 12 octets") == true)
        // The manifest counts, too.
        let version = try #require(PackageVersion("1.0.0"))
        for (manifestLength, reason) in [(10, "manifest would have"), (100_000, "package would have")] {
            limits.manifestLength = Int64(manifestLength)
            var builder = PackageBuilder(limits: limits)
            try builder.add(response("https://shop.example/a"))
            let error = #expect(throws: PackageError.self) {
                try builder.write(name: "shop", version: version, signedBy: nil) { _ in }
            }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
    }

    @Test("The builder leaves out what a manifest must not have")
    func builderRules() throws {
        var builder = PackageBuilder()
        let long = String(repeating: "a", count: 20_000)
        try builder.add(response("https://shop.example/\(long)"))
        try builder.add(response("https://shop.example/b", [.init("Content-Language", long)]))
        try builder.add(response("https://shop.example/c", [.init("ETag", "a\u{1}b")]))
        // This field is not packaged.
        try builder.add(response("https://shop.example/d", [.init("X-Long", long)]))
        #expect(builder.count == 1)
        let reasons = [
            "its URL has more than 8192", "its fields have more than 16384", "'etag' has a control character",
        ]
        for (omission, reason) in zip(builder.omissions, reasons) { #expect(omission.reason.contains(reason)) }
        #expect(builder.omissions.count == 3)
    }

    @Test("Of a HAR, responses to requests with any credentials are left out, and always URLs with secrets")
    func secrets() throws {
        func entry(_ url: String, _ field: String) -> String {
            #"""
            {"request": {"method": "GET", "url": "\#(url)", "headers": [{"name": "\#(field)", "value": "s3cret"}]},
             "response": {"status": 200, "headers": [], "content": {"text": "hello"}}}
            """#
        }
        let entries = [
            entry("https://a.example/1", "X-Api-Key"), entry("https://a.example/2", "X-Auth-Token"),
            entry("https://a.example/3", "Accept"), entry("https://a.example/4?access_token=s3cret", "Accept"),
            entry("https://user:s3cret@a.example/5", "Accept"),
            entry("https://a.example/6?access_token=redacted", "Accept"),
        ]
        let har = Array(#"{"log": {"entries": [\#(entries.joined(separator: ","))]}}"#.utf8)
        for (includesCredentials, omitted) in [(false, 5), (true, 3)] {
            var builder = PackageBuilder()
            builder.includesCredentials = includesCredentials
            try builder.add(har: har)
            #expect(builder.omissions.count == omitted && builder.count == 6 - omitted, "\(builder.omissions)")
            #expect(builder.omissions.suffix(3).allSatisfy { $0.reason == "its URL has a secret" })
            #expect(builder.omissions.allSatisfy { !$0.subject.contains("s3cret") })
            var file: [UInt8] = []
            _ = try builder.write(name: "a", version: #require(PackageVersion("1.0.0")), signedBy: nil) { file += $0 }
            #expect(!String(decoding: file, as: UTF8.self).contains("s3cret"))
        }
    }

    @Test("A service worker begins with the newest packages, and its page keeps its own")
    func serviceWorker() throws {
        var pages = PageBeginnings<Int>()
        let page = try RequestURL("https://a.example/")
        let worker = try RequestURL("https://a.example/sw.js")
        let script = try RequestURL("https://a.example/x.js")
        #expect(pages.packages(for: .init(url: page, isDocument: true, client: 1), newest: 1) == 1)
        #expect(
            pages.packages(for: .init(url: worker, referrer: page, isServiceWorker: true, client: 1), newest: 2) == 2)
        #expect(pages.packages(for: .init(url: script, referrer: worker, client: 1), newest: 3) == 2)
        #expect(pages.packages(for: .init(url: script, referrer: page, client: 1), newest: 3) == 1)
        #expect(pages.packages(for: .init(url: script, client: 1), newest: 3) == 1)
    }

    @Test("A download is whole if it has the length that the server has told")
    func wholeDownload() throws {
        for (status, fields, ends) in [
            (200, ["content-length": "10", "etag": "\"v\""], [(9, false), (10, true)]), (200, [:], [(9, nil)]),
            (206, ["content-range": "bytes 5-6/10"], [(7, false), (10, true)]),
            (206, ["content-range": "bytes 5-6/*"], [(7, nil)]),
        ] as [(Int, [String: String], [(Int64, Bool?)])] {
            for (position, isWhole) in ends {
                var transfer = PackageTransfer(length: 5, validator: "\"v\"")
                _ = try transfer.step(status: status) { fields[$0] }
                #expect(transfer.end(at: position) == isWhole, "\(status) \(fields)")
                // The next request asks for the rest, if the server has named the file.
                #expect(transfer.length == (transfer.validator == nil ? 0 : position))
            }
        }
    }

    @Test(
        "A redirect from this machine does not lead to a network without encryption",
        arguments: [
            ("http://127.0.0.1:1/", "http://a.example/", false), ("http://localhost/", "http://a.example/", false),
            ("http://127.0.0.1:1/", "http://localhost:2/", true), ("http://127.0.0.1:1/", "https://a.example/", true),
            ("http://a.example/", "http://b.example/", true), ("http://a.example/", "http://127.0.0.1/", true),
            ("https://a.example/", "http://127.0.0.1/", false),
        ])
    func redirects(from origin: String, to target: String, isPermitted: Bool) throws {
        let url = try? RequestURL(origin).downloadRedirect(to: target)
        #expect(url?.description == (isPermitted ? target : nil))
    }
}
