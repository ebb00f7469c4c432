import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Storing responses (section 3)")
struct StoringTests {
    private func obstacles(_ response: OriginResponse, _ request: CacheRequest) -> String {
        CachingPolicy().storing(response, for: request).obstacles.map(\.rawValue).joined(separator: " ")
    }

    @Test(
        "A response is stored if its status or a directive allows it, and nothing forbids it",
        arguments: [
            (200, "", ""), (203, "", ""), (204, "", ""), (300, "", ""), (301, "", ""), (308, "", ""), (404, "", ""),
            (405, "", ""), (410, "", ""), (414, "", ""), (501, "", ""),
            (201, "", "not-cacheable"), (302, "", "not-cacheable"), (403, "", "not-cacheable"),
            (500, "", "not-cacheable"),
            (599, "", "not-cacheable"), (302, "max-age=1", ""), (302, "max-age=x", ""), (500, "public", ""),
            (403, "private", ""), (302, "s-maxage=1", "not-cacheable"), (599, "max-age=1", ""),
            (103, "max-age=1", "status-not-final"), (304, "max-age=1", "status-not-understood"),
            (200, "no-store", "response-no-store"), (200, "No-Store, max-age=1", "response-no-store"),
            (200, "private", ""), (200, "private=\"set-cookie\"", ""), (200, "no-cache", ""),
            (200, "no-store, must-understand", ""), (599, "must-understand, max-age=1", "status-not-understood"),
            (599, "no-store, must-understand, max-age=1", "status-not-understood response-no-store"),
            (404, "no-store, must-understand", ""), (412, "max-age=1", "answers-condition"),
            (416, "max-age=1", "answers-condition"), (417, "max-age=1", "answers-condition"),
        ])
    func statusesAndDirectives(status: Int, directives: String, expected: String) throws {
        let fields: MessageFields = directives.isEmpty ? [:] : ["Cache-Control": Octets(directives)]
        #expect(obstacles(Sample.response(status, fields), try Sample.request()) == expected)
    }

    @Test("Every obstacle is collected, in the documented order")
    func allObstacles() throws {
        let request = try Sample.request("PUT", "https://shop.example/a", ["Cache-Control": "no-store"])
        let fields: MessageFields = ["Cache-Control": "no-store, must-understand", "Vary": "a, *"]
        #expect(
            obstacles(Sample.response(150, fields), request)
                == "method status-not-final response-no-store request-no-store not-cacheable varies-on-all")
        #expect(StoringObstacle.allCases.allSatisfy { !$0.explanation.isEmpty })
    }

    @Test("Expires allows a response to be stored, and Authorization does not matter")
    func others() throws {
        #expect(obstacles(Sample.response(302, ["Expires": "0"]), try Sample.request()) == "")
        let authorized = try Sample.request("GET", "https://shop.example/a", ["Authorization": "Basic x"])
        #expect(obstacles(Sample.response(200), authorized) == "")
    }

    @Test(
        "A response to POST is stored if it has its own Content-Location and an expiration time",
        arguments: [
            (["Cache-Control": "max-age=1", "Content-Location": "/a"], ""),
            (["Expires": "Sat, 21 Nov 2026 00:01:00 GMT", "Content-Location": "https://shop.example/a"], ""),
            (["Cache-Control": "max-age=1", "Content-Location": "/b"], "method"),
            (["Cache-Control": "max-age=1"], "method"), (["Content-Location": "/a"], "method"),
            (["Cache-Control": "max-age=x", "Content-Location": "/a"], "method"),
        ] as [(MessageFields, String)])
    func post(fields: MessageFields, expected: String) throws {
        #expect(obstacles(Sample.response(200, fields), try Sample.request("POST")) == expected)
    }

    @Test("Vary with too many names counts as *")
    func manyNames() throws {
        func names(_ count: Int) -> Octets { Octets((0..<count).map { "a\($0)" }.joined(separator: ",")) }
        #expect(obstacles(Sample.response(200, ["Vary": names(1000)]), try Sample.request()) == "")
        #expect(obstacles(Sample.response(200, ["Vary": names(1001)]), try Sample.request()) == "varies-on-all")
    }

    @Test("HEAD, OPTIONS and unknown methods are not stored", arguments: ["HEAD", "OPTIONS", "DELETE", "get", "X"])
    func methods(method: String) throws {
        let response = Sample.response(200, ["Cache-Control": "max-age=1"])
        #expect(obstacles(response, try Sample.request(Octets(method))) == "method")
    }

    @Test("All fields are stored but those of the connection, the proxy, Set-Cookie and Clear-Site-Data (section 3.1)")
    func fields() throws {
        let fields: MessageFields = [
            "X": "1", "Connection": "close, a", "A": "1", "Keep-Alive": "1", "Proxy-Connection": "1", "TE": "1",
            "Trailer": "x", "Transfer-Encoding": "chunked", "Upgrade": "x", "Proxy-Authenticate": "x",
            "Proxy-Authentication-Info": "x", "Proxy-Authorization": "x", "Set-Cookie": "a=1", "x": "2",
            "Clear-Site-Data": "\"cache\"",
            "Date": Sample.date(-5),
            "Content-Range": "x",
        ]
        let stored = try #require(
            CachingPolicy().storing(Sample.response(200, fields), for: try Sample.request()).response)
        #expect(stored.fields == ["X": "1", "x": "2", "Date": Sample.date(-5), "Content-Range": "x"])
    }

    @Test(
        "Clear-Site-Data is stored if it clears nothing",
        arguments: [
            ("cookies", true), ("", true), ("*", true), ("\"cache\"", false), ("\"unknown\"", false),
            ("cookies, \"*\"", false), ("\"cache", false),
        ] as [(Octets, Bool)])
    func clearSiteData(value: Octets, isStored: Bool) throws {
        let response = Sample.response(200, ["Clear-Site-Data": value, "Date": Sample.date(0)])
        let stored = CachingPolicy().storing(response, for: try Sample.request()).response
        #expect(stored?.fields.values("clear-site-data") == (isStored ? [value] : []))
    }

    @Test("Date is recorded if it is missing or invalid", arguments: [[:], ["Date": "x"]] as [MessageFields])
    func date(fields: MessageFields) throws {
        let stored = CachingPolicy().storing(Sample.response(200, fields), for: try Sample.request()).response
        #expect(stored?.fields.values("date") == [Sample.date(0)])
    }
}

@Suite("Incomplete responses and partial content (sections 3.3 and 3.4)")
struct PartialStoringTests {
    private func extent(
        _ status: Int, _ fields: MessageFields, _ length: Int64, isComplete: Bool = true, _ range: Octets? = nil
    ) throws -> BodyExtent? {
        let request = try Sample.request("GET", "https://shop.example/a", range.map { ["Range": $0] } ?? [:])
        return CachingPolicy().storing(Sample.response(status, fields), for: request).response?
            .received(bodyLength: length, isComplete: isComplete)?.extent
    }

    @Test("A complete body is whole, and one that contradicts Content-Length is not stored")
    func whole() throws {
        #expect(try extent(200, [:], 10) == .whole(length: 10))
        #expect(try extent(200, ["Content-Length": "10"], 10) == .whole(length: 10))
        #expect(try extent(200, ["Content-Length": "10"], 9) == nil)
        #expect(try extent(404, [:], 0) == .whole(length: 0))
    }

    @Test("A body that breaks off is recorded as incomplete")
    func incomplete() throws {
        #expect(try extent(200, ["Content-Length": "10"], 4, isComplete: false) == .part(0..<4, total: 10))
        #expect(try extent(200, [:], 4, isComplete: false) == .part(0..<4, total: nil))
        #expect(try extent(200, ["Content-Length": "10"], 12, isComplete: false) == nil)
        #expect(try extent(200, [:], 0, isComplete: false) == nil)
        #expect(try extent(404, ["Content-Length": "10"], 4, isComplete: false) == nil)
    }

    @Test("An incomplete response to POST is not stored")
    func incompletePost() throws {
        let fields: MessageFields = ["Cache-Control": "max-age=9", "Content-Location": "/a", "Content-Length": "10"]
        let storable = try #require(
            CachingPolicy().storing(Sample.response(200, fields), for: try Sample.request("POST")).response)
        #expect(storable.received(bodyLength: 4, isComplete: false) == nil)
        #expect(storable.received(bodyLength: 10, isComplete: true)?.extent == .whole(length: 10))
    }

    @Test("A partial response is stored as an incomplete one")
    func partial() throws {
        #expect(try extent(206, ["Content-Range": "bytes 2-5/10"], 4, "bytes=2-5") == .part(2..<6, total: 10))
        #expect(try extent(206, ["Content-Range": "bytes 2-5/*"], 4, "bytes=2-5") == .part(2..<6, total: nil))
        #expect(try extent(206, ["Content-Range": "bytes 0-9/10"], 10, "bytes=0-") == .whole(length: 10))
        #expect(try extent(206, ["Content-Range": "bytes 2-5/10"], 3, isComplete: false) == .part(2..<5, total: 10))
        #expect(try extent(206, ["Content-Range": "bytes 2-5/10"], 3) == nil)
        #expect(try extent(206, ["Content-Range": "lines 2-5/10"], 4) == nil)
        #expect(try extent(206, ["Content-Type": "multipart/byteranges"], 4) == nil)
        let multipart: MessageFields = [
            "Content-Type": "Multipart/ByteRanges; boundary=x", "Content-Range": "bytes 2-5/10",
        ]
        #expect(try extent(206, multipart, 4) == nil)
        let stored = CachingPolicy().storing(
            Sample.response(206, ["Content-Range": "bytes 2-5/10", "Content-Length": "4", "Date": Sample.date(0)]),
            for: try Sample.request())
        #expect(stored.response?.status == 200 && stored.response?.fields == ["Date": Sample.date(0)])
    }

    private func part(_ positions: Range<Int64>, total: Int64? = 10, _ fields: MessageFields) throws -> CachedResponse {
        CachedResponse(
            url: try RequestURL("https://shop.example/a"), status: 200, fields: fields, nominated: NominatedFields(),
            requestTime: Sample.start, responseTime: Sample.start, extent: .part(positions, total: total))
    }

    private static let tagged: MessageFields = ["ETag": "\"a\"", "Date": Sample.date(0)]

    @Test(
        "Parts that meet are combined",
        arguments: [
            (0..<4, 4..<8, .part(0..<8, total: 10), "stored 0 4, newer 4 8"),
            (4..<8, 0..<4, .part(0..<8, total: 10), "newer 0 4, stored 4 8"),
            (2..<6, 0..<10, .whole(length: 10), "newer 0 2, stored 2 6, newer 6 10"),
            (0..<6, 4..<10, .whole(length: 10), "stored 0 6, newer 6 10"),
            (0..<8, 2..<4, .part(0..<8, total: 10), "stored 0 8"),
        ] as [(Range<Int64>, Range<Int64>, BodyExtent, String)])
    func combined(stored: Range<Int64>, newer: Range<Int64>, extent: BodyExtent, pieces: String) throws {
        let combination = try #require(try part(stored, Self.tagged).combined(with: try part(newer, Self.tagged)))
        #expect(combination.response.extent == extent)
        let written = combination.pieces.map { "\($0.source) \($0.positions.lowerBound) \($0.positions.upperBound)" }
        #expect(written.joined(separator: ", ") == pieces)
    }

    @Test("Parts with a gap, of another length, or without one strong validator are not combined")
    func notCombined() throws {
        let stored = try part(0..<4, Self.tagged)
        #expect(stored.combined(with: try part(5..<8, Self.tagged)) == nil)
        #expect(stored.combined(with: try part(4..<8, total: 11, Self.tagged)) == nil)
        #expect(stored.combined(with: try part(4..<8, total: nil, Self.tagged)) != nil)
        #expect(stored.combined(with: try part(4..<12, total: nil, Self.tagged)) == nil)
        #expect(try part(0..<12, total: nil, Self.tagged).combined(with: try part(4..<8, Self.tagged)) == nil)
        for fields: MessageFields in [
            ["ETag": "\"b\""], ["ETag": "W/\"a\""], [:], ["Last-Modified": Sample.date(-100)],
        ] {
            #expect(stored.combined(with: try part(4..<8, fields)) == nil)
            #expect(try part(4..<8, fields).combined(with: stored) == nil)
        }
        let weak: MessageFields = ["ETag": "W/\"a\"", "Date": Sample.date(0)]
        #expect(try part(0..<4, weak).combined(with: try part(4..<8, weak)) == nil)
    }

    @Test("Last-Modified is a strong validator if Date is a minute later", arguments: [(60, true), (59, false)])
    func modification(seconds: Int64, isStrong: Bool) throws {
        let fields: MessageFields = ["Last-Modified": Sample.date(-seconds), "Date": Sample.date(0)]
        #expect((try part(0..<4, fields).combined(with: try part(4..<8, fields)) != nil) == isStrong)
    }

    @Test("The newer part's fields update those of the stored one")
    func combinedFields() throws {
        let newer = try part(4..<8, ["ETag": "\"a\"", "Date": Sample.date(5), "X": "2"])
        let old = try part(0..<4, ["ETag": "\"a\"", "Date": Sample.date(0), "X": "1", "Y": "1"])
        let fields = try #require(old.combined(with: newer)).response.fields
        #expect(fields.values("x") == ["2"] && fields.values("y") == ["1"] && fields.values("date") == [Sample.date(5)])
    }
}
