import CookieModel
import RequestDecoration
import TestSupport
import Testing

@Suite("Joined Set-Cookie lines")
struct JoinedSetCookieTests {
    private static let split = SetCookieDoubt.Kind.splitWithinValue
    private static let kept = SetCookieDoubt.Kind.commaKept

    @Test(
        "A line that was certainly joined of several gets a note, and others do not",
        arguments: [
            ("JSESSIONID=117B; Path=/SSW/; HttpOnly, WLP=sswv; Expires=Tue, 24-Dec-2026 16:46:45 GMT; Path=/", 2),
            ("a=1; Path=/, b=2; Path=/, c=3; Secure", 3), ("a=1; Path=/", nil), ("a=1, b=2; Path=/", nil),
            ("a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", nil), ("a=\"x, y=1\"; Path=/", nil), ("", nil), (", ", nil),
        ] as [(String, Int?)])
    func note(line: String, count: Int?) {
        let note = JoinedSetCookie.note(on: Octets(line))
        #expect((note == nil) == (count == nil))
        if let count { #expect(note?.contains("\(count) Set-Cookie lines") == true) }
    }

    @Test(
        "Joined Set-Cookie lines are split where that is certain",
        arguments: [
            // One line.
            ["a=1"], [""], ["a=1; Path=/"], ["a"], ["=v"], ["a=b=c; Path=/d=e"],
            // Behind attributes.
            ["a=1; Path=/", "b=2"], ["a=1; Secure", "b=2; HttpOnly", "c=3; Path=/"], ["a=1;", "b=2"],
            ["a=1; Path=/", "b="], ["a=1; Max-Age=5", "__Host-b=2; Path=/; Secure"], ["a=1; X", "b!#$%&'*+-.^_`|~=2"],
            // Dates: their comma is followed by no name.
            ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT"], ["a=1; expires=Wed, 21-Oct-2037 07:28:00 GMT; Path=/"],
            ["a=1; Expires=Wednesday, 21-Oct-37 07:28:00 GMT", "b=2; EXPIRES=Thu, 01 Jan 1970 00:00:00 GMT", "c=3; X"],
            ["a=1; Expires = Wed, 21 Oct 2037 07:28:00 GMT", "b=2; Expires=Wed Oct 21 07:28:00 2037", "c=3;"],
            // A comma without a space is part of a value, and so is one within quotes that no name follows.
            ["a=1,b=2"], ["a=1,2; Path=/,x", "b=2;"], ["a=\"x, y\"; Path=/", "b=2;"], ["a=1; Path=/", "b=\"1, 2\";"],
            ["a=,"], ["a=1;,"],
        ])
    func certain(lines: [String]) {
        let joined = JoinedSetCookie(Octets(lines.joined(separator: ", ")))
        #expect(joined.lines == lines.map { Octets($0) })
        #expect(joined.doubts.isEmpty)
    }

    @Test(
        "Ambiguous joined lines are reported",
        arguments: [
            // Two cookies without attributes, or a value with a comma.
            ("a=1, b=2", ["a=1", "b=2"], [(split, 1)]),
            ("a=1, b=2, c=3; Path=/, d=4", ["a=1", "b=2", "c=3; Path=/", "d=4"], [(split, 1), (split, 2)]),
            ("x; Path=/, a=hello, sid=1; Path=/", ["x; Path=/", "a=hello", "sid=1; Path=/"], [(split, 2)]),
            // A cookie without a name, or a value with a comma.
            ("a=hello, world; Path=/", ["a=hello, world; Path=/"], [(kept, 0)]),
            ("a=1; Path=/, b; Secure", ["a=1; Path=/, b; Secure"], [(kept, 0)]),
            ("a=1; Path=/, =b", ["a=1; Path=/, =b"], [(kept, 0)]),
            ("a=1, ", ["a=1, "], [(kept, 0)]),
            // What follows is no token.
            ("a=1; Path=/, b c=2", ["a=1; Path=/, b c=2"], [(kept, 0)]),
            ("a=1; Path=/, (b)=2", ["a=1; Path=/, (b)=2"], [(kept, 0)]),
            ("a=1; Path=/,  b=2", ["a=1; Path=/,  b=2"], [(kept, 0)]),
            // A date of which the weekday is missing; one that is none.
            ("a=1; Expires=, 21 Oct 2037 07:28:00 GMT", ["a=1; Expires=, 21 Oct 2037 07:28:00 GMT"], [(kept, 0)]),
            ("a=1; Expires=21 Oct 2037 07:28:00 GMT, x", ["a=1; Expires=21 Oct 2037 07:28:00 GMT, x"], [(kept, 0)]),
            ("a=1; Comment=Wed, 21 Oct", ["a=1; Comment=Wed, 21 Oct"], [(kept, 0)]),
            // Quotes: the grammar has none around commas, servers do.
            ("a=\"x, b=2\"; Path=/", ["a=\"x, b=2\"; Path=/"], [(kept, 0)]),
            ("a=\"x, b=2", ["a=\"x, b=2"], [(kept, 0)]),
            ("a=x\"y, b=2", ["a=x\"y", "b=2"], [(split, 1)]),
            ("a=\"x\", b=2", ["a=\"x\"", "b=2"], [(split, 1)]),
            ("a=\"x; Path=/, b=2", ["a=\"x; Path=/", "b=2"], []),
            // A line without a name, joined to one with.
            ("a, b=2; Path=/", ["a", "b=2; Path=/"], [(split, 1)]),
        ] as [(String, [String], [(SetCookieDoubt.Kind, Int)])])
    func ambiguous(value: String, lines: [String], doubts: [(SetCookieDoubt.Kind, Int)]) {
        let joined = JoinedSetCookie(Octets(value))
        #expect(joined.lines == lines.map { Octets($0) })
        #expect(joined.doubts == doubts.map { SetCookieDoubt($0.0, line: $0.1) })
    }

    @Test("Splitting joined lines preserves octets that are not text")
    func octets() {
        let joined = JoinedSetCookie(Octets([0x61, 0x3D, 0xE9, 0xFF, 0x3B, 0x2C, 0x20, 0x62, 0x3D, 0x80]))
        #expect(joined.lines == [[0x61, 0x3D, 0xE9, 0xFF, 0x3B], [0x62, 0x3D, 0x80]])
    }

    @Test("Split lines that are joined again are the original value")
    func reversible() {
        var generator = SeededGenerator(seed: 1)
        let pieces = [", ", ",", "a=1", "b", "; ", "Expires=Wed, 21 Oct 2037", "\"", "=", " ", "Path=/"]
        for _ in 0..<2000 {
            let value = (0..<generator.below(12)).map { _ in generator.pick(pieces) }.joined()
            let lines = JoinedSetCookie(Octets(value)).lines
            #expect(Octets(Array(lines.joined(separator: ", ".utf8))) == Octets(value))
        }
    }
}
