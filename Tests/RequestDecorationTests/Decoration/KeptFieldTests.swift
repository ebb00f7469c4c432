import CookieModel
import HTTPTypes
import OAuth2
import SessionStore
import Testing

@testable import RequestDecoration

@Suite("Header fields out of a jar")
struct KeptFieldTests {
    private func jar() throws -> CookieJar {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        return try SessionDatabase(
            path: "", keys: .key(key), durability: .memory, now: DecorationFixture.now
        ).jar(now: DecorationFixture.now)
    }

    private func rule(_ name: String, _ value: String, _ scope: String? = nil) throws -> FieldRule {
        try FieldRule(name: name, value: Secret(value), scope: try scope.map { try URLScope($0) })
    }

    @Test(
        "A field that no request can carry, or that settings cannot hold, is rejected and never repeated",
        arguments: [
            ("", "v"), ("X Key", "v"), ("X-Key:", "v"), ("X\nKey", "v"), ("X-K\u{E9}y", "v"),
            (String(repeating: "x", count: 101), "v"), ("Cookie", "s3cret"), ("authorization", "s3cret"),
            ("HOST", "s3cret"), ("DPoP", "s3cret"), ("Content-Length", "1"), ("Set-Cookie", "s3cret"),
            ("X-Key", ""), ("X-Key", "s3cret\r\nX: y"), ("X-Key", "s3cret\n"), ("X-Key", " s3cret"),
            ("X-Key", "s3cret\t"), ("X-Key", "a\0s3cret"), ("X-Key", String(repeating: "x", count: 65_537)),
        ])
    func refused(name: String, value: String) throws {
        let error = #expect(throws: FieldRuleError.self) { try rule(name, value) }
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test(
        "A field rule that was created without these checks is not used either",
        arguments: ["Cookie", "Authorization", "Host"])
    func unchecked(name: String) throws {
        let jar = try jar()
        let rule = FieldRule(HTTPField(name: try #require(HTTPField.Name(name)), value: "v"))
        #expect(throws: FieldRuleError.self) { try jar.setFieldRule(rule) }
        #expect(try jar.headerFields().isEmpty)
    }

    @Test("A jar's header fields are added like settings, octet for octet, within their scopes")
    func settings() throws {
        let jar = try jar()
        try jar.setFieldRule(rule("X-Key", "k1", "https://example.com/"))
        try jar.setFieldRule(rule("X-Key", "k2", "https://example.com/v2"))
        try jar.setFieldRule(rule("User-Agent", "Example/1.0"))
        try jar.setFieldRule(
            FieldRule(name: "X-Octets", value: Secret([0x61, 0xFF, 0x62]), scope: nil))
        let decorator = RequestDecorator(jar: jar, settings: try DecorationSettings(keptWith: jar))
        for (url, key) in [
            ("https://example.com/v2/x", "k2"), ("https://example.com/x", "k1"), ("https://other.test/", nil),
        ] {
            let decorated = try decorator.decorate(
                DecorationFixture.request(), in: try DecorationFixture.context(url), now: DecorationFixture.now)
            let fields = decorated.request.headerFields
            #expect(fields[values: try #require(HTTPField.Name("x-key"))] == (key.map { [$0] } ?? []))
            #expect(fields[.userAgent] == "Example/1.0")
            #expect(decorated.request.fieldValues(try #require(HTTPField.Name("X-Octets"))) == [[0x61, 0xFF, 0x62]])
            let reasons = decorated.report.fieldOmissions.map(\.reason)
            #expect(
                reasons
                    == (key == "k2"
                        ? [.setByOtherRule] : key == "k1" ? [.outsideScope] : [.outsideScope, .outsideScope]))
        }
        #expect(try jar.removeFieldRule(named: "x-key", scope: try URLScope("https://EXAMPLE.com:443/v2")))
        #expect(try DecorationSettings(keptWith: jar).fields.count == 3)
    }

    @Test("The library and the service give the same reason for a header field if several apply")
    func reasons() throws {
        let jar = try jar()
        try jar.setFieldRule(rule("X-Key", "k", "https://other.test/"))
        var request = DecorationFixture.request()
        let name = try #require(HTTPField.Name("X-Key"))
        request.headerFields[name] = "mine"
        let decorator = RequestDecorator(jar: jar, settings: try DecorationSettings(keptWith: jar))
        let decorated = try decorator.decorate(request, in: try DecorationFixture.context(), now: DecorationFixture.now)
        let selection = FieldSelection(
            try jar.headerFields(), for: try DecorationFixture.context().url, isSetByCaller: { $0 == "x-key" })
        #expect(decorated.report.fieldOmissions.map(\.reason) == [.outsideScope])
        #expect(selection.omitted.map(\.reason) == [.outsideScope])
    }

    @Test("Each header field of a jar is sent or has a reason")
    func selection() throws {
        func field(_ name: String, _ scope: String?, _ value: String?) -> StoredHeaderField {
            StoredHeaderField(name: name, scope: scope, value: value.map { Secret($0) })
        }
        let selection = FieldSelection(
            [
                field("A", nil, "1"), field("a", nil, "2"), field("B", "https://b.test/", "3"),
                field("C", nil, nil), field("Accept", nil, "4"), field("Cookie", nil, "5"), field("no name", nil, "6"),
                field("D", "not a URL", "7"), field("E", "https://a.test/x", "8"),
            ], for: try RequestURL("https://a.test/x/y")
        ) { $0 == "accept" }
        #expect(
            selection.sent.map { "\($0.name) \($0.scope ?? "-") \($0.value)" } == ["A - 1", "E https://a.test/x 8"])
        #expect(
            selection.omitted.map { "\($0.name) \($0.reason.identifier)" } == [
                "a set-by-other-rule", "B outside-scope", "C unreadable", "Accept set-by-caller",
                "Cookie reserved-field", "no name unreadable", "D unreadable",
            ])
    }

    @Test("Settings are not built from half of the stored data")
    func damaged() throws {
        let damaged = StoredHeaderField(name: "X", scope: nil, value: nil)
        #expect(FieldRule(damaged) == nil)
        #expect(FieldRule(StoredHeaderField(name: "X", scope: "nonsense", value: Secret("v"))) == nil)
    }
}
