import Foundation
import TestSupport
import Testing

@Suite("crumb simulate")
struct SimulateCommandTests {
    private let home = CrumbHome()
    private static let vectors = Repository.shared.appending(path: "conformance/http-state-scenarios.jsonl").path

    @Test(
        "Answers all 222 scenarios of the http-state suite as expected",
        .enabled(if: FileManager.default.fileExists(atPath: vectors), "shared/conformance is not beside the package"))
    func conformance() throws {
        let scenarios = try String(contentsOfFile: SimulateCommandTests.vectors, encoding: .utf8)
        let expected = try RunResult(status: 0, output: Array(scenarios.utf8), messages: "").objects()
        let result = try home.crumb("simulate", SimulateCommandTests.vectors)
        #expect(result.status == 0 && result.messages.isEmpty)
        let answers = try result.objects()
        #expect(expected.count == 222 && answers.count == 222)
        for (answer, scenario) in zip(answers, expected) {
            #expect(answer["id"] as? String == scenario["id"] as? String)
            let last = (answer["results"] as? [Any])?.last as? [String: Any]
            #expect(last?["cookieBase64"] as? String == scenario["expected"] as? String, "\(scenario["id"] ?? "")")
        }
        let piped = try home.crumb("simulate", input: scenarios)
        #expect(piped.output == result.output)
        #expect(try home.shell("crumb simulate - <'\(SimulateCommandTests.vectors)'").output == result.output)
    }

    @Test("Answers the example of its documentation to the letter")
    func example() throws {
        let scenario = """
            {"id": "secure-overlay", "now": "2026-11-21T00:00:00Z", "profile": "rfc6265bis", "steps": [\
            {"receive": {"url": "https://example.com/login", "setCookie": ["a=1; Secure; HttpOnly"]}}, {"advance": 3600}, \
            {"receive": {"url": "http://example.com/", "setCookieBase64": ["YT0y"], "via": "http"}}, \
            {"send": {"url": "https://example.com/", "method": "GET"}}, {"endSession": true}, \
            {"send": {"url": "https://example.com/", "via": "script"}}]}
            """
        let expected = """
            {"id": "secure-overlay", "results": [\
            {"decisions": [{"outcome": "stored", "cookie": {"name": "a", "domain": "example.com", "path": "/", "hostOnly": true}}]}, \
            null, {"decisions": [{"outcome": "rejected", "reasons": ["overwrite-secure"]}]}, \
            {"cookie": "a=1", "cookieBase64": "YT0x", "included": [{"name": "a"}], "excluded": []}, null, \
            {"cookie": "", "cookieBase64": "", "included": [], "excluded": []}]}
            """
        let result = try home.crumb("simulate", input: scenario)
        let answer = try JSONSerialization.jsonObject(with: Data(result.output)) as? NSDictionary
        let wanted = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        #expect(result.status == 0 && answer == wanted && answer != nil)
    }

    @Test("A line that is not a scenario is answered in its place, the others run, and the exit status is 1")
    func badLines() throws {
        let good = #"{"id": "g", "steps": [{"send": {"url": "https://example.com/"}}]}"#
        let bad = [
            "nonsense", "[]", "{}", "17", #"{"id": "x"}"#, #"{"id": "x", "steps": [{}]}"#,
            #"{"id": 5, "steps": [{"wait": 1}]}"#,
            #"{"id": "x", "steps": [{"advance": "soon"}]}"#, #"{"id": "x", "steps": [{"advance": 1e300}]}"#,
            #"{"id": "x", "steps": [{"send": {"url": "nowhere"}}]}"#, #"{"id": "x", "steps": [{"send": {}}]}"#,
            #"{"id": "x", "now": "yesterday", "steps": []}"#, #"{"id": "x", "profile": "netscape", "steps": []}"#,
            #"{"id": "x", "steps": [{"receive": {"url": "https://example.com/", "setCookieBase64": ["!"]}}]}"#,
            #"{"id": "x", "steps": [{"send": {"url": "https://example.com/", "via": "pigeon"}}]}"#,
            #"{"id": "x", "steps": [{"endSession": true, "advance": 1}]}"#, "{\"id\": \"x\", \"steps\": [", "\u{0}",
            String(repeating: "[", count: 100_000),
        ]
        let lines = bad.flatMap { [$0, good] }
        let result = try home.crumb("simulate", input: lines.joined(separator: "\n"))
        #expect(result.status == 1)
        let answers = try result.objects()
        #expect(answers.count == lines.count)
        for (index, answer) in answers.enumerated() {
            #expect((answer["error"] is String) == (index % 2 == 0), "\(lines[index].prefix(200))")
            #expect((answer["results"] != nil) == (index % 2 == 1))
            if lines[index].contains(#""x""#), lines[index].hasSuffix("}") { #expect(answer["id"] as? String == "x") }
        }
    }

    @Test("Empty lines, CRLF and a missing last newline do not matter; files are answered in order")
    func lines() throws {
        func line(_ id: String) -> String { #"{"id": "\#(id)", "steps": []}"# }
        try home.write("\n\(line("1"))\r\n\r\n  \n\(line("2"))", to: "one")
        try home.write("\(line("3"))\n", to: "two")
        let result = try home.crumb("simulate", home.file("one"), home.file("two"))
        #expect(result.status == 0)
        #expect(try result.objects().compactMap { $0["id"] as? String } == ["1", "2", "3"])
        let missing = try home.crumb("simulate", home.file("one"), home.file("missing"))
        #expect(missing.status == 17)
        #expect(try missing.objects().count == 2)
    }

    @Test("Every scenario begins with an empty jar and leaves nothing behind")
    func throwAway() throws {
        let set = #"{"id": 1, "steps": [{"receive": {"url": "https://example.com/", "setCookie": ["a=1"]}}]}"#
        let send = #"{"id": 2, "steps": [{"send": {"url": "https://example.com/"}}]}"#
        let answers = try home.crumb("simulate", input: "\(set)\n\(send)\n").objects()
        #expect(((answers[1]["results"] as? [[String: Any]])?.first?["cookie"] as? String) == "")
        #expect(answers.map { $0["id"] as? Int } == [1, 2])
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("Ten thousand small scenarios are answered by one process")
    func many() throws {
        let lines = (0..<10_000).map { number in
            #"{"id": \#(number), "steps": [{"receive": {"url": "https://example.com/", "setCookie": ["n=\#(number)"]}}, {"send": {"url": "https://example.com/"}}]}"#
        }
        let result = try home.crumb("simulate", input: lines.joined(separator: "\n"))
        #expect(result.status == 0)
        let answers = result.text.split(separator: "\n")
        #expect(answers.count == 10_000)
        #expect(answers.last?.contains(#""cookie":"n=9999""#) == true)
    }
}
