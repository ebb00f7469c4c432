import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Received conditions and ranges (section 4.3.2)")
struct AnswerTests {
    private static let fields: MessageFields = [
        "Cache-Control": "max-age=60, no-cache=\"secret\"", "ETag": "\"a\"", "Last-Modified": moment(-100),
        "Date": moment(0), "Vary": "foo", "X": "1", "Secret": "1", "Content-Type": "text/css",
    ]

    private static func moment(_ seconds: Int64) -> Octets { Sample.date(seconds) }

    private func answer(
        _ request: MessageFields, method: Octets = "GET", to fields: MessageFields = fields, status: Int = 200,
        age: Int64? = 5
    ) throws -> StoredAnswer {
        let stored = try Sample.stored(fields, status: status)
        return try #require(stored.answer(to: try Sample.request(method, "https://shop.example/a", request), age: age))
    }

    @Test(
        "Conditions are evaluated in their order",
        arguments: [
            ([:], 200), (["If-None-Match": "\"a\""], 304), (["If-None-Match": "W/\"a\""], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"b\", \"a\""], 304), (["If-None-Match": "\"b\""], 200),
            // If-None-Match takes precedence over If-Modified-Since.
            (["If-None-Match": "\"b\"", "If-Modified-Since": moment(0)], 200),
            (["If-None-Match": "\"a\"", "If-Modified-Since": moment(-999)], 304),
            (["If-Modified-Since": moment(-100)], 304), (["If-Modified-Since": moment(-99)], 304),
            (["If-Modified-Since": moment(-101)], 200), (["If-Modified-Since": "x"], 200),
            (["If-Modified-Since": moment(0), "if-modified-since": moment(0)], 200),
            // Conditions are evaluated before ranges.
            (["If-None-Match": "\"a\"", "Range": "bytes=0-1"], 304), (["Range": "bytes=0-1"], 206),
            (["Range": "bytes=0-1", "If-Range": "\"a\""], 206), (["Range": "bytes=0-1", "If-Range": "W/\"a\""], 200),
            (["Range": "bytes=0-1", "If-Range": "\"b\""], 200),
            (["Range": "bytes=0-1", "If-Range": moment(-100)], 206),
            (["Range": "bytes=0-1", "If-Range": moment(-99)], 200), (["Range": "bytes=0-1", "If-Range": "x"], 200),
            (["Range": "bytes=10-"], 416), (["Range": "bytes=0-1,3-4"], 200), (["Range": "lines=0-1"], 200),
            (["If-Range": "\"b\""], 200),
        ] as [(MessageFields, Int)])
    func conditions(request: MessageFields, status: Int) throws {
        #expect(try answer(request).status == status)
    }

    @Test("If there is no Last-Modified, Date takes its place")
    func date() throws {
        let fields: MessageFields = ["Cache-Control": "max-age=60", "Date": Self.moment(-5)]
        #expect(try answer(["If-Modified-Since": Self.moment(-5)], to: fields).status == 304)
        #expect(try answer(["If-Modified-Since": Self.moment(-6)], to: fields).status == 200)
        #expect(try answer(["If-None-Match": "\"a\""], to: fields).status == 200)
    }

    @Test("A weak Last-Modified lets no range be answered")
    func weakRange() throws {
        let fields: MessageFields = ["Date": Self.moment(0), "Last-Modified": Self.moment(-59)]
        #expect(try answer(["Range": "bytes=0-1", "If-Range": Self.moment(-59)], to: fields).status == 200)
    }

    @Test("A response of another status is answered as it is")
    func otherStatus() throws {
        #expect(try answer(["If-None-Match": "\"a\"", "Range": "bytes=0-1"], status: 404).status == 404)
    }

    @Test("Age replaces a stored one, and fields that need a validation are left out without one")
    func fields() throws {
        let fresh = try answer([:], to: MessageFields(Self.fields.lines + [.init("Age", "1")])).fields
        #expect(fresh.values("age") == ["5"] && !fresh.has("secret") && fresh.values("content-length") == ["10"])
        let validated = try answer([:], age: nil).fields
        #expect(!validated.has("age") && validated.values("secret") == ["1"])
    }

    @Test("A 304 has the fields that RFC 9110, section 15.4.5, names")
    func notModified() throws {
        let answer = try answer(["If-None-Match": "\"a\""])
        #expect(answer.body == nil)
        #expect(
            Set(answer.fields.lines.map(\.name)) == ["Cache-Control", "ETag", "Date", "Vary", "Age"] as Set<Octets>)
        let untagged = try self.answer(
            ["If-Modified-Since": Self.moment(0)], to: ["Last-Modified": Self.moment(-9), "Date": Self.moment(0)])
        #expect(untagged.fields.values("last-modified") == [Self.moment(-9)])
    }

    @Test("Bodies are the positions that are asked for")
    func bodies() throws {
        #expect(try answer([:]).body == 0..<10)
        #expect(try answer([:], method: "HEAD").body == nil)
        #expect(try answer([:], method: "HEAD").fields.values("content-length") == ["10"])
        let partial = try answer(["Range": "bytes=-4"])
        #expect(partial.body == 6..<10 && partial.fields.values("content-range") == ["bytes 6-9/10"])
        #expect(partial.fields.values("content-length") == ["4"])
        #expect(try answer(["Range": "bytes=-4"], method: "HEAD").status == 200)
        let unsatisfied = try answer(["Range": "bytes=99-"])
        #expect(unsatisfied.body == nil && unsatisfied.fields.values("content-range") == ["bytes */10"])
        #expect(
            Set(unsatisfied.fields.lines.map(\.name))
                == ["Date", "Vary", "X", "Age", "Content-Range", "Content-Length"] as Set<Octets>)
        let noContent = try answer([:], to: [:], status: 204)
        #expect(noContent.body == nil && !noContent.fields.has("content-length"))
    }
}
