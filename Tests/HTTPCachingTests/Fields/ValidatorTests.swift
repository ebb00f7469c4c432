import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Entity tags and ranges")
struct ValidatorTests {
    @Test(
        "An entity tag is a quoted opaque tag, perhaps weak",
        arguments: [
            ("\"a\"", false, "a"), ("W/\"a\"", true, "a"), ("\"\"", false, ""), ("\"a\\\"", false, "a\\"),
            ("\"a,b\"", false, "a,b"), ("\"ü\"", false, "ü"),
        ] as [(Octets, Bool, Octets)])
    func tags(text: Octets, isWeak: Bool, opaque: Octets) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.isWeak == isWeak && tag.opaque == opaque)
    }

    @Test(
        "Anything else is no entity tag",
        arguments: ["", "a", "w/\"a\"", "W\"a\"", "W\\\"a\"", "\"a", "\"a\"b", "\"a b\"", "\"a\u{7F}\"", "W/", "\""])
    func noTags(text: String) {
        #expect(EntityTag(Octets(text)) == nil)
    }

    @Test("Comparison, as in the table of RFC 9110, section 8.8.3.2")
    func comparison() throws {
        let rows: [(Octets, Octets, Bool, Bool)] = [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true),
            ("\"1\"", "\"1\"", true, true),
        ]
        for (first, second, isStrong, isWeak) in rows {
            let (left, right) = (try #require(EntityTag(first)), try #require(EntityTag(second)))
            #expect(left.stronglyMatches(right) == isStrong && left.weaklyMatches(right) == isWeak)
        }
    }

    @Test(
        "If-None-Match finds an entity tag in a list with errors",
        arguments: [
            (["\"1\", \"a\""], true), (["\"1\"", "W/\"a\""], true), (["x, \"a\""], true), (["\"a\" \"b\""], true),
            (["*"], true), ([", ,\"a\""], true), (["\"b\""], false), (["a"], false), (["\"*\""], false),
            (["*, \"b\""], false),
            (["\"x, \"a\""], true),
        ] as [([Octets], Bool)])
    func noneMatch(lines: [Octets], matches: Bool) throws {
        #expect(EntityTagCondition(lines)?.matches(EntityTag("\"a\"")) == matches)
        #expect(EntityTagCondition([]) == nil)
    }

    @Test(
        "A single range of octets",
        arguments: [
            ("bytes=0-4", 0..<5), ("bytes=5-", 5..<10), ("bytes=-3", 7..<10), ("bytes=-20", 0..<10),
            ("BYTES=0-4", 0..<5), ("bytes=0-99", 0..<10), ("bytes=0-99999999999999999999999", 0..<10),
            ("bytes= 0-4 ", 0..<5), ("bytes=9-9", 9..<10),
            ("bytes=10-", nil), ("bytes=-0", nil), ("bytes=99999999999999999999999-", nil),
        ] as [(Octets, Range<Int64>?)])
    func ranges(value: Octets, positions: Range<Int64>?) throws {
        let range = try #require(ByteRange(["Range": value]))
        #expect(range.positions(of: 10) == positions)
    }

    @Test(
        "Other ranges are ignored",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=4-0", "bytes=a-b", "bytes=0-1,3-4", "lines=0-4", "bytes=0",
            "bytes=0-x",
            "bytes=--1", "bytes=-1-2",
        ])
    func otherRanges(value: String) {
        #expect(ByteRange(["Range": Octets(value)]) == nil)
    }

    @Test("A range of nothing is not satisfiable")
    func empty() {
        #expect(ByteRange(["Range": "bytes=-1"])?.positions(of: 0) == nil)
        #expect(ByteRange(["Range": "bytes=0-"])?.positions(of: 0) == nil)
    }

    @Test(
        "Content-Range",
        arguments: [
            ("bytes 0-4/10", 0..<5, 10), ("bytes 5-9/*", 5..<10, nil), ("Bytes 0-0/1", 0..<1, 1),
            ("bytes */10", nil, nil), ("bytes 4-0/10", nil, nil), ("bytes 0-10/10", nil, nil),
            ("items 0-4/10", nil, nil),
            ("bytes 0-4", nil, nil), ("bytes 0/4-10", nil, nil), ("bytes=0-4/10", nil, nil), ("", nil, nil),
        ] as [(Octets, Range<Int64>?, Int64?)])
    func contentRange(value: Octets, positions: Range<Int64>?, total: Int64?) {
        let range = ContentRange(["Content-Range": value])
        #expect(range?.positions == positions && range?.total == total)
        if let range, let positions {
            #expect(ContentRange(["content-range": ContentRange.value(positions, of: total)]) == range)
        }
    }
}
