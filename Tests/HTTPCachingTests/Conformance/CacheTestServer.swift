import HTTPCaching
import WebPrimitives

/// The server of the suite's test engine: answers as the test says, and remembers the requests.
final class CacheTestServer {
    /// A request as it came.
    struct Seen {
        let number: Int
        let method: String
        let fields: MessageFields
        /// The fields of its response that the client checks.
        let checked: [(name: String, value: String)]
    }

    static let token = "4d1ce47a-0000-4000-8000-000000000000"

    private let test: CacheTest
    private(set) var seen: [Seen] = []
    /// The response fields of each request that was answered, dates written out.
    private var written: [Int: [(name: String, value: String)]] = [:]

    init(_ test: CacheTest) {
        self.test = test
    }

    func reply(to request: CacheRequest, at now: Timestamp) -> (TestCache.Reply?, Timestamp) {
        let number =
            request.fields.values("req-num").first.flatMap { $0.utf8String.flatMap { Int($0) } } ?? seen.count + 1
        let config = test.requests[number - 1]
        let arrival = now.advanced(bySeconds: Int64(config.responseDelay))
        let status = status(config, number, request)
        var fields: MessageFields = [
            "Server-Base-Url": Octets(request.url.path.bytes + request.url.query.bytes),
            "Server-Request-Count": Octets(String(seen.count + 1)), "Client-Request-Count": Octets(String(number)),
            "Server-Now": Octets(String(arrival.seconds)),
        ]
        var values: [(name: String, value: String)] = []
        for field in config.responseFields {
            let value = CacheTestServer.value(field, now: arrival, base: request.url.path.description, config)
            values.append((field.name, value))
            fields.append(Octets(field.name), Octets(value))
        }
        written[number] = values
        let names = Set(config.responseFields.filter(\.isChecked).map(\.name))
        let checked = names.map { name in
            (name, values.filter { $0.name == name }.map(\.value).joined(separator: ", "))
        }
        if !fields.has("content-type") { fields.append("Content-Type", "text/plain") }
        if !fields.has("date") { fields.append("Date", Octets(arrival.httpDate)) }
        fields.append("Connection", "keep-alive")
        seen.append(
            Seen(number: number, method: request.method.description, fields: request.fields, checked: checked))
        fields.append("Request-Numbers", Octets(seen.map { String($0.number) }.joined(separator: " ")))
        if config.disconnects { return (nil, arrival) }
        var body = Array((config.responseBody ?? CacheTestServer.token).utf8)
        if status == 204 || status == 304 { body = [] }
        if let length = fields.values("content-length").first.flatMap({ $0.utf8String.flatMap { Int($0) } }) {
            body = Array(body.prefix(length))
        } else if status != 204, status != 304 {
            fields.append("Content-Length", Octets(String(body.count)))
        }
        if request.method == "HEAD" { body = [] }
        return (TestCache.Reply(status: status, fields: fields, body: body), arrival)
    }

    /// 304 if the request has the validators of the response before, where the test expects that; 999 if it has not.
    private func status(_ config: CacheTestRequest, _ number: Int, _ request: CacheRequest) -> Int {
        guard config.expectedType?.hasSuffix("validated") == true else { return config.responseStatus ?? 200 }
        let previous = written[number - 1] ?? (number > 1 ? CacheTestServer.texts(test.requests[number - 2]) : [])
        for (field, condition) in [("last-modified", "if-modified-since"), ("etag", "if-none-match")] {
            let value = previous.last { $0.name.lowercased() == field }?.value
            let sent = request.fields.lines.filter { $0.name.lowercasedText == condition }.map(\.value.description)
            if let value, sent.joined(separator: ", ") == value { return 304 }
        }
        return 999
    }

    /// The fields of a response that are not dates.
    private static func texts(_ config: CacheTestRequest) -> [(name: String, value: String)] {
        config.responseFields.compactMap { field in
            if case .text(let text) = field.value { (field.name, text) } else { nil }
        }
    }

    private static let dateNames: Set<String> = [
        "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since",
    ]

    /// The value of a field, with dates and locations written out.
    static func value(
        _ field: CacheTestField, now: Timestamp, base: String, _ config: CacheTestRequest
    ) -> String {
        let name = field.name.lowercased()
        switch field.value {
        case .offset(let seconds) where dateNames.contains(name):
            let date = now.advanced(bySeconds: Int64(seconds)).httpDate
            return config.usesOldDates.contains(name) ? oldDate(date) : date
        case .offset(let number): return String(number)
        case .text(let text) where config.resolvesLocations && (name == "location" || name == "content-location"):
            return text.isEmpty ? base : "\(base)/\(text)"
        case .text(let text): return text
        }
    }

    /// `Fri, 27 Nov 2026 01:02:03 GMT` in the form of RFC 850.
    private static func oldDate(_ date: String) -> String {
        let names = [
            "Sun": "Sunday", "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday",
            "Sat": "Saturday",
        ]
        let words = date.split(separator: " ")
        return
            "\(names[String(words[0].dropLast())] ?? ""), \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
    }
}
