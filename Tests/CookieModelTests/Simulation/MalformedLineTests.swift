import Testing

@testable import CookieModel

@Suite("Lines that are no scenario")
struct MalformedLineTests {
    /// The answer to a line that is no scenario.
    private func refusal(of line: String) throws -> String {
        let (json, isScenario) = try answer(to: line)
        #expect(!isScenario, "\(line)")
        #expect(json.description.contains("\"error\""))
        #expect(!json.description.contains("\"results\""))
        return json.description
    }

    @Test(
        "A line that is not JSON is answered in its place",
        arguments: [
            "", " ", "{", "}", "nonsense", #"{"id": "x""#, #"{"id": "x", "steps": []} x"#, #"{'id': 'x'}"#,
            #"{"steps": [{"advance": NaN}]}"#,
        ])
    func notJSON(line: String) throws {
        #expect(try refusal(of: line) == #"{"error":"the line is not JSON","id":null}"#)
    }

    @Test(
        "A line that is not an object has no id",
        arguments: ["[]", "1", "null", "\"x\"", "true", "[{\"id\": \"x\", \"steps\": []}]"])
    func notAnObject(line: String) throws {
        #expect(try refusal(of: line).hasSuffix(#""id":null}"#))
    }

    @Test(
        "A field that is missing or wrong is named",
        arguments: [
            (#""#, "steps"), (#", "steps": null"#, "steps"), (#", "steps": {}"#, "steps"),
            (#", "steps": "x""#, "steps"), (#", "steps": [1]"#, "steps.[0]"), (#", "steps": [{}]"#, "steps.[0]"),
            (#", "steps": [{"wait": 1}]"#, "steps.[0]"),
            (#", "steps": [{"advance": 1, "endSession": true}]"#, "steps.[0]"),
            (#", "steps": [{"advance": "1"}]"#, "steps.[0].advance"),
            (#", "steps": [{"advance": 1e300}]"#, "steps.[0].advance"),
            (#", "steps": [{"advance": null}]"#, "steps.[0].advance"),
            (#", "steps": [{"endSession": false}]"#, "steps.[0].endSession"),
            (#", "steps": [{"endSession": 1}]"#, "steps.[0].endSession"),
            (#", "steps": [{"advance": 1}, {"send": {}}]"#, "steps.[1].send.url"),
            (#", "steps": [{"send": null}]"#, "steps.[0].send"),
            (#", "steps": [{"send": "https://a.com/"}]"#, "steps.[0].send"),
            (#", "steps": [{"send": {"url": 1}}]"#, "steps.[0].send.url"),
            (#", "steps": [{"send": {"url": ""}}]"#, "steps.[0].send.url"),
            (#", "steps": [{"send": {"url": "a.com"}}]"#, "steps.[0].send.url"),
            (#", "steps": [{"send": {"url": "ftp://a.com/"}}]"#, "steps.[0].send.url"),
            (#", "steps": [{"send": {"url": "https://a b/"}}]"#, "steps.[0].send.url"),
            (#", "steps": [{"send": {"url": "https://a:x/"}}]"#, "steps.[0].send.url"),
            (#", "steps": [{"send": {"url": "https://a/", "via": "ftp"}}]"#, "steps.[0].send.via"),
            (#", "steps": [{"send": {"url": "https://a/", "via": 1}}]"#, "steps.[0].send.via"),
            (#", "steps": [{"send": {"url": "https://a/", "method": 1}}]"#, "steps.[0].send.method"),
            (#", "steps": [{"send": {"url": "https://a/", "context": 1}}]"#, "steps.[0].send.context"),
            (
                #", "steps": [{"send": {"url": "https://a/", "context": {"topLevel": "x"}}}]"#,
                "steps.[0].send.context.topLevel"
            ),
            (
                #", "steps": [{"send": {"url": "https://a/", "context": {"initiator": "x"}}}]"#,
                "steps.[0].send.context.initiator"
            ),
            (
                #", "steps": [{"send": {"url": "https://a/", "context": {"navigation": "x"}}}]"#,
                "steps.[0].send.context.navigation"
            ), (#", "steps": [{"receive": {"setCookie": ["a=1"]}}]"#, "steps.[0].receive.url"),
            (#", "steps": [{"receive": {"url": "https://a/", "setCookie": "a=1"}}]"#, "steps.[0].receive.setCookie"),
            (#", "steps": [{"receive": {"url": "https://a/", "setCookie": [1]}}]"#, "steps.[0].receive.setCookie.[0]"),
            (
                #", "steps": [{"receive": {"url": "https://a/", "setCookieBase64": ["*"]}}]"#,
                "steps.[0].receive.setCookieBase64"
            ),
            (
                #", "steps": [{"receive": {"url": "https://a/", "setCookieBase64": ["YT0"]}}]"#,
                "steps.[0].receive.setCookieBase64"
            ),
            (#", "steps": [{"receive": {"url": "https://a/", "status": "200"}}]"#, "steps.[0].receive.status"),
            (#", "steps": [], "now": "yesterday""#, "now"), (#", "steps": [], "now": 1"#, "now"),
            (#", "steps": [], "now": "2026-11-21""#, "now"),
            (#", "steps": [], "profile": "chrome""#, "profile"), (#", "steps": [], "profile": 1"#, "profile"),
        ])
    func wrongField(rest: String, field: String) throws {
        let refusal = try refusal(of: #"{"id": "x"\#(rest)}"#)
        #expect(refusal.hasPrefix(#"{"error":"\#(field): "#), "\(refusal)")
        #expect(refusal.hasSuffix(#","id":"x"}"#), "\(refusal)")
    }

    @Test(
        "The id comes back as it came, or is null",
        arguments: [
            (#""x""#, #""x""#), (#""""#, #""""#), (#""é\n\"""#, #""é\n\"""#), ("7", "7"), ("-1", "-1"), ("0", "0"),
            ("9007199254740993", "9007199254740993"), ("1.5", "1.5"), ("true", "true"), ("null", "null"),
        ])
    func ids(id: String, answered: String) throws {
        let failure = try refusal(of: #"{"id": \#(id)}"#)
        #expect(failure.hasSuffix(#""id":\#(answered)}"#))
        let (json, isScenario) = try answer(to: #"{"id": \#(id), "steps": []}"#)
        #expect(isScenario)
        #expect(json.description == #"{"id":\#(answered),"results":[]}"#)
    }

    @Test("Unknown fields are not rejected")
    func unknownFields() throws {
        let (json, isScenario) = try answer(
            to:
                #"{"id": "x", "expected": "", "comment": {}, "steps": [{"send": {"url": "https://a/", "x": 1, "context": {"y": 2}}}]}"#
        )
        #expect(isScenario)
        #expect(json.description.contains("results"))
        #expect(try answer(to: #"{"steps": []}"#).json.description == #"{"id":null,"results":[]}"#)
    }

    @Test("A null beside the one thing that a step is counts for nothing")
    func nulls() throws {
        let (json, isScenario) = try answer(
            to: #"{"steps": [{"receive": null, "send": {"url": "https://a/"}, "advance": null, "endSession": null}]}"#)
        #expect(isScenario)
        #expect(json.description.contains(#""included":[]"#))
        _ = try refusal(of: #"{"steps": [{"receive": null, "send": null}]}"#)
    }

    @Test("A bad line says nothing about the next one")
    func nextLine() throws {
        for _ in 0..<3 {
            #expect(try !answer(to: "{").isScenario)
            #expect(try answer(to: #"{"id": "x", "steps": []}"#).isScenario)
        }
    }
}
