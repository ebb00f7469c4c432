import Foundation
import TestSupport
import Testing

@Suite(
    "The main job on captures by real tools", .enabled(if: Samples.exist, "shared/samples is not beside the package"))
struct SampleTests {
    private let home = CrumbHome()
    private static let url = "https://app.example.test:8843/first"

    private static let redirected =
        "redir=r1; sess=s1; pers=p1; hto=h1; sec=x1; lax=l1; strict=t1; none=n1; part=pt1; dup=second; eq=a=b=="
    private static let single =
        "sess=s1; pers=p1; hto=h1; sec=x1; lax=l1; strict=t1; none=n1; part=pt1; dup=second; eq=a=b=="
    private static let file =
        "eq=a=b==; dup=second; part=pt1; none=n1; strict=t1; lax=l1; sec=x1; hto=h1; pers=p1; sess=s1"

    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let report: String
        let header: String
        /// Whether the capture has the cookie of `/sub`; wget drops it.
        var hasQuoted = true
        var count: Int
        var sessionCount = 2

        var testDescription: String { name }
    }

    private static let samples = [
        Sample(
            name: "firefox-1.har",
            report: "14 Set-Cookie lines in 3 responses: 12 taken, 1 replaced, 1 deleted, 0 refused",
            header: redirected, count: 12, sessionCount: 3),
        Sample(
            name: "mitm.har",
            report: "14 Set-Cookie lines in 3 responses: 12 taken, 1 replaced, 1 deleted, 0 refused",
            header: single + "; redir=r1", count: 12, sessionCount: 3),
        Sample(
            name: "curl-dump-header.txt",
            report: "14 Set-Cookie lines in 2 responses: 12 taken, 1 replaced, 1 deleted, 0 refused",
            header: redirected, count: 12, sessionCount: 3),
        Sample(
            name: "curl-i.txt",
            report: "13 Set-Cookie lines in 1 response: 11 taken, 1 replaced, 1 deleted, 0 refused",
            header: single, count: 11),
        Sample(
            name: "httpie-headers.txt",
            report: "13 Set-Cookie lines in 1 response: 11 taken, 1 replaced, 1 deleted, 0 refused",
            header: single, count: 11),
        Sample(
            name: "curl-netscape.txt", report: "11 cookies: 11 taken, 0 replaced, 0 deleted, 0 refused", header: file,
            count: 11),
        Sample(
            name: "wget-cookies.txt", report: "10 cookies: 10 taken, 0 replaced, 0 deleted, 0 refused", header: file,
            hasQuoted: false, count: 10),
        Sample(
            name: "wget-cookies-nosession.txt", report: "8 cookies: 8 taken, 0 replaced, 0 deleted, 0 refused",
            header: file.replacing("eq=a=b==; ", with: "").replacing("; sess=s1", with: ""), hasQuoted: false, count: 8,
            sessionCount: 0),
    ]

    @Test("Import, header, script, list, explain and status agree", arguments: samples)
    func roundTrip(sample: Sample) throws {
        let path = try home.write(try Samples.fresh(sample.name), to: sample.name)
        let imported = try home.crumb("import", "--received-now", "--url", SampleTests.url, path)
        #expect(imported.status == 0)
        let lacksSessionCookies = sample.name == "wget-cookies-nosession.txt"
        #expect(imported.messages.contains("--keep-session-cookies") == lacksSessionCookies)
        #expect(imported.messages.isEmpty || lacksSessionCookies)
        #expect(imported.text == "\(path): \(sample.report)\n")

        #expect(try home.header("https://app.example.test:8843/") == "Cookie: \(sample.header)")
        let quoted = sample.hasQuoted ? #"quoted="a b,c"; "# : ""
        #expect(try home.header("https://app.example.test/sub/page") == "Cookie: \(quoted)\(sample.header)")
        let insecure = ["sec=x1", "none=n1", "part=pt1"].reduce(sample.header) { $0.replacing("\($1); ", with: "") }
        #expect(try home.header("http://app.example.test/") == "Cookie: \(insecure)")
        #expect(try home.header("https://other.example.test/") == "")

        let script = try home.crumb("script", "https://app.example.test/")
        let isMarked = sample.name != "wget-cookies.txt" && sample.name != "wget-cookies-nosession.txt"
        #expect(script.status == 0)
        #expect(script.messages.contains("not in the script: hto") == isMarked)
        #expect(script.text.contains(#"name: "hto", value: "h1""#) == !isMarked)
        // The quoted cookie has another path, which a page may set and not see.
        let count = sample.header.components(separatedBy: "; ").count + (sample.hasQuoted ? 1 : 0) - (isMarked ? 1 : 0)
        #expect(script.text.components(separatedBy: #"{name: ""#).count - 1 == count)
        #expect(script.messages.contains("set for other paths, ") == sample.hasQuoted)

        let list = try home.crumb("list", "--json", "--values").objects()
        #expect(list.count == sample.count)
        #expect(list.filter { $0["expires"] == nil }.count == sample.sessionCount)
        #expect(list.allSatisfy { $0["domain"] as? String == "app.example.test" && $0["hostOnly"] as? Bool == true })

        let explained = try home.crumb("explain", "http://app.example.test/")
        let sentCount = insecure.components(separatedBy: "; ").count
        #expect(
            explained.text.hasPrefix(
                "\(sentCount) of \(sample.count) cookies of example.test in jar 'default' are sent to "
                    + "http://app.example.test/\n"))

        let status = try #require(try home.crumb("status", "--json").objects().first)
        let jar = try #require((status["jars"] as? [[String: Any]])?.first)
        #expect(jar["cookies"] as? Int == sample.count && jar["sessionCookies"] as? Int == sample.sessionCount)
    }

    @Test(
        "The same capture again replaces everything and adds nothing",
        arguments: ["firefox-1.har", "curl-i.txt", "curl-netscape.txt"])
    func again(name: String) throws {
        let path = try home.write(try Samples.fresh(name), to: name)
        _ = try home.crumb("import", "--received-now", "--url", SampleTests.url, path)
        let header = try home.header("https://app.example.test/sub/")
        let count = try home.crumb("list", "--json").objects().count
        let report = try #require(
            try home.crumb("import", "--json", "--received-now", "--url", SampleTests.url, path).objects().first)
        #expect(report["taken"] as? Int == 0)
        #expect(report["replaced"] as? Int == (report["lines"] as? Int ?? 0) - (report["deleted"] as? Int ?? 0))
        #expect(try home.header("https://app.example.test/sub/") == header)
        #expect(try home.crumb("list", "--json").objects().count == count)
    }

    /// Captures with one answer's cookies, or a browser's after it, and what comes of them.
    @Test(
        "Files of every other tool and browser are imported",
        arguments: [
            ("curl-v.txt", "13 Set-Cookie lines in 1 response: 11 taken, 1 replaced, 1 deleted, 0 refused"),
            ("curl-trace-ascii.txt", "13 Set-Cookie lines in 1 response: 11 taken, 1 replaced, 1 deleted, 0 refused"),
            ("curl-header-json.json", "13 Set-Cookie lines in 1 response: 11 taken, 1 replaced, 1 deleted, 0 refused"),
            ("wget-S.txt", "13 Set-Cookie lines in 1 response: 11 taken, 1 replaced, 1 deleted, 0 refused"),
            ("chromium-netlog.json", "14 Set-Cookie lines in 3 responses: 12 taken, 1 replaced, 1 deleted, 0 refused"),
            ("tshark-http.json", "14 Set-Cookie lines in 2 responses: 9 taken, 1 replaced, 1 deleted, 3 refused"),
        ])
    func others(name: String, report: String) throws {
        let path = Repository.shared.appending(path: "samples/\(name)").path
        let result = try home.crumb("import", "--received-now", "--url", SampleTests.url, path)
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("\(path): \(report)"), "\(result.text) \(result.messages)")
        #expect(try home.crumb("list", "--json").objects().count >= 9)
    }

    /// A store says when its cookies end, so that fewer of them are left the older the sample is.
    @Test(
        "Cookies of other tools and browsers are imported, except for expired ones",
        arguments: [
            ("playwright-storageState.json", 13), ("chromium-cdp-storage-getCookies.json", 13),
            ("httpie-session.json", 11), ("db/chromium-156-Cookies.sqlite", 17), ("db/firefox-153-cookies.sqlite", 14),
            ("db/webkitgtk-2.50-cookies.sqlite", 13), ("db/webkitgtk-2.50-cookies.txt", 13),
        ])
    func stores(name: String, count: Int) throws {
        let path = Repository.shared.appending(path: "samples/\(name)").path
        let result = try home.crumb("import", "--json", "--url", SampleTests.url, path)
        #expect(result.status == 0)
        let report = try #require(try result.objects().first)
        let taken = report["taken"] as? Int ?? 0
        #expect(report["lines"] as? Int == count && (report["refused"] as? [Any])?.isEmpty == true, "\(report)")
        let others = ["expired", "deleted", "replaced", "unreadable"].map { report[$0] as? Int ?? 0 }
        #expect(others.reduce(taken, +) == count && others.dropFirst().allSatisfy { $0 == 0 }, "\(report)")
        #expect(try home.crumb("list", "--json").objects().count == taken)
    }

    @Test(
        "A file in none of the known formats is rejected, and nothing is stored",
        arguments: [
            "mitm.flow", "firefox-mozlog.moz_log",
        ])
    func unknown(name: String) throws {
        let path = Repository.shared.appending(path: "samples/\(name)").path
        let result = try home.crumb("import", "--url", SampleTests.url, path)
        #expect(result.status == 11)
        #expect(result.messages.hasPrefix("crumb: \(path)") && result.output.isEmpty)
        #expect(try home.crumb("list", "--json").output.isEmpty)
    }
}
