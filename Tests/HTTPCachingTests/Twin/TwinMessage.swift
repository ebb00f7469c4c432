import HTTPCaching
import TestSupport
import WebPrimitives

/// A message of a twin: names and values as text, time as seconds.
struct TwinMessage {
    var method = "GET"
    var path = "/a"
    var status = 200
    var fields: [(name: String, value: String)] = []
    var requestTime = 0
    var responseTime = 0

    /// The values of a field, joined by commas; `nil` if there is none.
    func joined(_ name: String) -> String? {
        let values = values(name)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    var messageFields: MessageFields {
        MessageFields(fields.map { MessageFields.Field(Octets($0.name), Octets($0.value)) })
    }

    func cacheRequest() throws -> CacheRequest {
        CacheRequest(method: Octets(method), url: try RequestURL("https://shop.example\(path)"), fields: messageFields)
    }

    var originResponse: OriginResponse {
        OriginResponse(
            status: status, fields: messageFields, requestTime: Sample.after(Int64(requestTime)),
            responseTime: Sample.after(Int64(responseTime)))
    }
}

extension TwinMessage {
    private static let responseDirectives = [
        "max-age=10", "max-age=10", "max-age=50", "max-age=0", "max-age=x", "max-age=\"30\"", "max-age=-1",
        "Max-Age=20",
        "max-age =9", "max-age", "no-store", "no-cache", "no-cache=\"x\"", "no-cache=\"a b\"", "private",
        "private=\"x\"",
        "public", "public=1", "must-revalidate", "must-understand", "immutable", "s-maxage=40", "proxy-revalidate",
        "stale-while-revalidate=15", "stale-while-revalidate=x", "x=\"no-store, max-age=99\"", "foo", "", "=",
        "\"no-store\"",
    ]
    private static let requestDirectives = [
        "max-age=5", "max-age=0", "max-age=99", "max-age=x", "min-fresh=5", "min-fresh=x", "max-stale", "max-stale=20",
        "max-stale=x", "no-cache", "no-store", "only-if-cached", "foo", "No-Cache",
    ]
    private static let statuses = [200, 200, 200, 200, 206, 203, 204, 301, 302, 404, 410, 403, 500, 599, 103, 304]
    private static let ages = ["0", "5", "30", "30, 0", "0, 30", "x", "-5", "1.0", "99999999999999999999"]
    private static let varies = ["Foo", "foo, Bar", "*", "Bar,*", "Accept-Language", "", "Baz"]

    private static func date(_ random: inout SeededGenerator) -> String {
        if random.once(in: 8) { return random.pick(["0", "", "x", "Thu, 18 Aug 50 02:01:18 GMT"]) }
        return Sample.after(Int64(random.below(120) - 60)).httpDate
    }

    /// Directives that keep a response fresh for about as long as the times of the tests.
    static func lifetime(_ random: inout SeededGenerator) -> String {
        let others = ["", ", must-revalidate", ", stale-while-revalidate=15", ", immutable", ", no-cache=\"x\""]
        return "max-age=\(random.below(80))\(random.pick(others))"
    }

    /// A random response, which is received after at most a few seconds.
    static func response(_ random: inout SeededGenerator) -> TwinMessage {
        var message = TwinMessage()
        message.status = random.pick(statuses)
        message.requestTime = random.below(5) - 2
        message.responseTime = message.requestTime + random.below(4)
        func add(_ name: String, _ value: String) { message.fields.append((name, value)) }
        for _ in 0..<random.below(3) {
            let members = (0...random.below(3)).map { _ in random.pick(responseDirectives) }
            add(
                random.pick(["Cache-Control", "cache-control"]),
                members.joined(separator: random.pick([",", ", ", " ,"])))
        }
        if random.once(in: 3) { add("Expires", date(&random)) }
        if random.once(in: 20) { add("Expires", date(&random)) }
        if random.once(in: 2) { add("Date", date(&random)) }
        if random.once(in: 3) { add("Last-Modified", Sample.after(-Int64(random.below(2000))).httpDate) }
        if random.once(in: 5) { add("Age", random.pick(ages)) }
        if random.once(in: 4) { add("Vary", random.pick(varies)) }
        if random.once(in: 4) { add("ETag", random.pick(["\"a\"", "W/\"a\"", "a", "\"a b\""])) }
        if random.once(in: 15) { add("Pragma", "no-cache") }
        if message.status == 206 { add("Content-Range", random.pick(contentRanges)) }
        return message
    }

    static let contentRanges = ["bytes 0-3/10", "bytes 2-5/10", "bytes 0-3/*", "bytes 5-2/10", "lines 0-3/10"]
    private static let ranges = ["bytes=0-1", "bytes=2-3", "bytes=4-", "bytes=-2", "bytes=0-9", "bytes=0-0,2-3"]

    /// A random request.
    static func request(_ random: inout SeededGenerator) -> TwinMessage {
        var message = TwinMessage()
        message.method = random.pick(["GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "get"])
        message.path = random.pick(["/a", "/a", "/a", "/a?b"])
        func add(_ name: String, _ value: String) { message.fields.append((name, value)) }
        if random.once(in: 3) {
            let members = (0...random.below(2)).map { _ in random.pick(requestDirectives) }
            add("Cache-Control", members.joined(separator: ", "))
        }
        if random.once(in: 10) { add("Pragma", random.pick(["no-cache", "x"])) }
        if random.once(in: 20) { add("If-Match", "\"a\"") }
        if random.once(in: 4) { add("Range", random.pick(ranges)) }
        if random.once(in: 8) { add("If-None-Match", random.pick(["\"a\"", "W/\"a\"", "\"b\"", "*", "\"b\", \"a\""])) }
        for name in ["Foo", "foo", "Bar"] where random.once(in: 3) {
            add(name, random.pick(["1", "2", "1, 2", "1,2"]))
        }
        if random.once(in: 4) { add("Accept-Language", random.pick(["en, de", "EN,de", "de, en"])) }
        return message
    }
}
