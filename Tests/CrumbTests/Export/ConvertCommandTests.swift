import Foundation
import TestSupport
import Testing

@Suite("crumb convert")
struct ConvertCommandTests {
    private let home = CrumbHome()

    private func convert(_ arguments: String...) throws -> RunResult {
        let result = try home.start(["convert"] + arguments).wait()
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
        return result
    }

    private func lines(_ result: RunResult) throws -> [String] {
        try result.objects().map { "\($0["name"] ?? "")=\($0["value"] ?? "")" }
    }

    @Test("Responses go through the cookie rules, and every line is accounted for")
    func responses() throws {
        let har = Capture.har([
            Capture.entry("https://a.test/", ["a=1; Path=/", "a=2; Path=/", "gone=1; Path=/", "bad=1; Domain=b.test"]),
            Capture.entry("https://a.test/", ["gone=; Path=/; Max-Age=0", "deep=1; Path=/deep"]),
        ])
        let path = try home.write(har, to: "x.har")
        let result = try convert("--to", "json", path)
        #expect(result.status == 0)
        #expect(try lines(result) == ["a=2", "deep=1"])
        #expect(
            result.messages.contains("6 Set-Cookie lines in 2 responses: 3 taken, 1 replaced, 1 deleted, 1 refused"))
        #expect(result.messages.contains("domain-mismatch") && result.messages.contains("2 cookies written"))
        let reports = try convert("--to", "json", "--json", "--output", home.file("out"), path).objects()
        #expect(reports.map { $0["taken"] as? Int ?? $0["written"] as? Int } == [3, 2])
    }

    @Test("The cookies of a store are unchanged, and the later of two counts")
    func records() throws {
        let far = 4_000_000_000
        let file = """
            # Netscape HTTP Cookie File
            .a.test\tTRUE\t/\tTRUE\t\(far)\tfar\t1
            a.test\tFALSE\t/\tFALSE\t0\tsid\tplain
            #HttpOnly_a.test\tFALSE\t/\tFALSE\t0\tsid\tmarked
            .com\tTRUE\t/\tFALSE\t0\twide\t1
            a.test\tFALSE\t/\tFALSE\t5\told\t1

            """
        let path = try home.write(file, to: "c.txt")
        let result = try convert("--to", "json", path)
        #expect(result.status == 0 && result.messages.contains("3 cookies written, 1 expired"))
        let objects = try result.objects()
        #expect(objects.compactMap { $0["name"] as? String } == ["far", "sid", "wide"])
        #expect(objects.first?["expires"] as? String == "2096-10-02T07:06:40Z")
        #expect(objects.dropFirst().first?["httpOnly"] as? Bool == true)
        // A header is a retrieval, by the rules.
        let header = try convert("--to", "header", "--for-url", "https://a.test/", path)
        #expect(header.text == "Cookie: far=1; sid=marked\n" && header.messages.contains("domain-public-suffix"))
    }

    @Test("A marked line of a cookie keeps it from scripts, wherever its other lines are")
    func twins() throws {
        let marked = "#HttpOnly_www.a.test\tFALSE\t/app\tTRUE\t0\tsid\tsecret"
        let plain = "www.a.test\tFALSE\t/\tTRUE\t0\tsid\tsecret"
        let open = "www.a.test\tFALSE\t/\tTRUE\t0\tlang\tde"
        for rows in [[marked, plain, open], [plain, open, marked]] {
            let path = try home.write(
                "# Netscape HTTP Cookie File\n" + rows.joined(separator: "\n") + "\n", to: "c.txt")
            let objects = try convert("--to", "json", path).objects()
            #expect(objects.filter { $0["httpOnly"] as? Bool == true }.map { $0["name"] as? String } == ["sid", "sid"])
            #expect(objects.count == 3)
            let request = try convert("--to", "json", "--for-url", "https://www.a.test/", path).objects()
            #expect(request.map { $0["httpOnly"] as? Bool } == [true, false])
        }
    }

    @Test("Files are read one after the other, a response's deletion reaching a store's cookie")
    func several() throws {
        let cookies = try home.write(
            "a.test\tFALSE\t/\tFALSE\t0\tone\t1\na.test\tFALSE\t/\tFALSE\t0\ttwo\t1\n", to: "c")
        let dump = try home.write(Capture.dump(["one=; Path=/; Max-Age=0", "two=2; Path=/"]), to: "d")
        #expect(try lines(convert("--to", "json", "--url", "https://a.test/", cookies, dump)) == ["two=2"])
        #expect(try lines(convert("--to", "json", "--url", "https://a.test/", dump, cookies)) == ["one=1", "two=1"])
    }

    @Test("Broken input is reported with its status, and the rest is written")
    func broken() throws {
        let path = try home.write("a.test\tFALSE\t/\tFALSE\t0\ta\t1\nnonsense\n", to: "c")
        let result = try convert("--to", "json", "--from", "netscape", path, home.file("missing"))
        #expect(result.status == 13 && result.messages.contains("line 2") && result.messages.contains("no such file"))
        #expect(try lines(result) == ["a=1"])
        let dump = try home.write(Capture.dump(["a=1"]), to: "d")
        #expect(try convert("--to", "json", dump).status == 18)
        #expect(try convert("--to", "header", "--url", "https://a.test/", dump).text == "Cookie: a=1\n")
        #expect(try convert("--to", "header", dump).status == 18)
        #expect(try convert("--to", "json", "--from", "nothing", dump).status == 64)
    }

    @Test("A file can be converted into itself")
    func inPlace() throws {
        let path = try home.write("a.test\tFALSE\t/\tFALSE\t0\ta\t1\n", to: "c")
        #expect(try convert("--to", "json", "--force", "--output", path, path).status == 0)
        #expect(String(decoding: home.bytes("c"), as: UTF8.self).hasPrefix(#"{"crumb":1,"name":"a""#))
        #expect(try home.mode("c") == 0o600)
    }

    @Test(
        "A browser's database is read as the import reads it, with no database of our own",
        .enabled(if: Samples.exist, "the samples in ../shared are not there"),
        arguments: [
            ("chromium-156-Cookies.sqlite", "chromium"), ("firefox-153-cookies.sqlite", "firefox"),
            ("webkitgtk-2.50-cookies.sqlite", "webkitgtk"),
        ])
    func databases(file: String, format: String) throws {
        let path = Repository.shared.appending(path: "samples/db/\(file)").path
        let result = try convert("--to", "json", "--output", home.file("out"), "--json", path)
        #expect(result.status == 0, "\(result.messages)")
        let reports = try result.objects()
        #expect(reports.first?["format"] as? String == format)
        // How many are left depends on how old the sample is.
        let taken = reports.first?["taken"] as? Int ?? 0
        let written = reports.last?["written"] as? Int ?? 0
        #expect(taken > 5 && written + (reports.last?["expired"] as? Int ?? 0) == taken, "\(reports)")
        // Another browser's is none of this one's.
        let other = format == "firefox" ? "chromium" : "firefox"
        #expect(try convert("--to", "json", "--from", other, path).status == 11)
    }
}
