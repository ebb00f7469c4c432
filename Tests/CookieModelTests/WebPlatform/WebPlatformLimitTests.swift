import Testing

@testable import CookieModel

/// The Web Platform Tests that repeat one octet thousands of times: `cookies/size` and two of `cookies/value`.
@Suite("The Web Platform Tests: sizes")
struct WebPlatformLimitTests {
    static let host = "web-platform.test"
    static let page = "http://www.web-platform.test:8000/cookies/size/attributes.www.sub.html"

    /// A line, whether it is kept, and at which path the test looks for it.
    struct Row: Sendable, CustomTestStringConvertible {
        let id: String
        let line: String
        let sent: String
        var reader = "/cookies/resources/echo-cookie.html"

        var testDescription: String { id }
    }

    static func run(_ letter: String, _ count: Int) -> String { String(repeating: letter, count: count) }

    /// Section 5.6, step 5: name and value together, the equals sign left out.
    static let pairs: [Row] =
        [
            (2048, 2048, true), (4097, 1, false), (4096, 0, true), (4097, 0, false), (1, 4095, true), (1, 4096, false),
            (4096, 1, false), (0, 4096, true), (0, 4097, false),
        ].map { name, value, isKept in
            let line = "\(run("t", name))=\(run("1", value))"
            return Row(
                id: "size/name-and-value.html \(name) and \(value)", line: line,
                sent: !isKept ? "" : name == 0 ? run("1", value) : line)
        } + [
            Row(id: "size/name-and-value.html 4097 without an equals sign", line: run("1", 4097), sent: ""),
            Row(id: "value/value.html 11", line: "test=11" + run("a", 4090), sent: "test=11" + run("a", 4090)),
            Row(id: "value/value.html 12", line: "test=12" + run("a", 4091), sent: ""),
        ]

    static let longest = "\(run("t", 2048))=\(run("1", 2048))"
    /// An attribute's value of 1024 octets counts as it stands, a longer one does not (section 5.6, attributes, step 6).
    static let attributes: [Row] = [
        Row(
            id: "1", line: "test=1; path=/cookies/size; path=/cookies/siz\(run("e", 1024))", sent: "test=1",
            reader: "/cookies/size/x.html"),
        Row(
            id: "2", line: "test=2; path=/cookies/siz\(run("e", 1024)); path=/cookies/size", sent: "test=2",
            reader: "/cookies/size/x.html"),
        Row(id: "3", line: "test=3; path=/\(run("a", 1023));", sent: ""),
        Row(id: "4", line: "test=4; path=/\(run("a", 1024));", sent: "test=4"),
        Row(id: "5", line: "test=5; domain=\(host); domain=\(run("a", 1024)).com", sent: "test=5"),
        Row(id: "6", line: "test=6; domain=\(run("a", 1024)).com; domain=\(host)", sent: "test=6"),
        Row(id: "7", line: "test=7; domain=\(run("a", 1020)).com;", sent: ""),
        Row(id: "8", line: "test=8; domain=\(run("a", 1021)).com;", sent: "test=8"),
        Row(id: "9", line: "\(longest); domain=\(run("a", 1020)).com; domain=\(host)", sent: longest),
        Row(
            id: "10", line: longest + run("; domain=\(run("a", 1020)).com", 4) + "; domain=\(host)", sent: longest),
        Row(id: "11", line: "test=11; max-age=\(run("1", 1024));", sent: "test=11"),
        Row(id: "12", line: "test=12; max-age=\(run("1", 1025));", sent: "test=12"),
        Row(id: "13", line: "test=13; max-age=-\(run("1", 1023));", sent: ""),
        Row(id: "14", line: "test=14; max-age=-\(run("1", 1024));", sent: "test=14"),
    ]

    private func sent(_ row: Row, _ profile: CookieProfile) throws -> String {
        var session = Session(profile: profile)
        let origin = "http://www.web-platform.test:8000"
        try session.set(
            Octets(row.line), in: Request(origin + "/cookies/resources/cookie.py", on: WebPlatformLimitTests.page))
        return try session.sent(
            in: Request(origin + row.reader, via: .script, on: WebPlatformLimitTests.page))
    }

    @Test("Name and value have their limit", arguments: pairs)
    func pair(row: Row) throws {
        #expect(try sent(row, .rfc6265bis) == row.sent)
        #expect(try sent(row, .browser) == row.sent)
    }

    @Test("An attribute's value has its limit", arguments: attributes)
    func attribute(row: Row) throws {
        #expect(try sent(row, .rfc6265bis) == row.sent)
        #expect(try sent(row, .browser) == row.sent)
    }
}
