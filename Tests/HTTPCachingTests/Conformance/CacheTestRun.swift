import HTTPCaching
import WebPrimitives

/// A run of one test, with the checks of the suite's test engine.
struct CacheTestRun {
    /// Why a test failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// 2026-11-21T00:00:00Z, and how long the client pauses.
    private static let start = Timestamp(seconds: 1_795_219_200)
    private static let pause: Int64 = 3

    private let test: CacheTest
    private let rules: CachingRules
    private let fileName: String?
    private let server: CacheTestServer
    private var replies: [TestCache.Reply] = []
    private var appliedRules: Set<String> = []

    /// Runs a test by rules. Returns the first failure, and the rules that decided.
    ///
    /// - Parameter fileName: The last segment of URLs that have no name of a file.
    static func run(
        _ test: CacheTest, by rules: CachingRules, fileName: String? = nil
    ) -> (failure: Failure?, rules: Set<String>) {
        var run = CacheTestRun(test: test, rules: rules, fileName: fileName)
        do throws(Failure) {
            try run.sendRequests()
            try run.checkServer()
            return (nil, run.appliedRules)
        } catch {
            return (error, run.appliedRules)
        }
    }

    /// Runs a test by the protocol only. Returns the first failure.
    static func failure(of test: CacheTest) -> Failure? { run(test, by: .protocolOnly).failure }

    private init(test: CacheTest, rules: CachingRules, fileName: String?) {
        self.test = test
        self.rules = rules
        self.fileName = fileName
        server = CacheTestServer(test)
    }

    private static func check(_ condition: Bool, _ message: String) throws(Failure) {
        guard condition else { throw Failure(description: message) }
    }

    private mutating func sendRequests() throws(Failure) {
        var cache = TestCache(policy: CachingPolicy(rules: rules))
        var now = Self.start
        let server = self.server
        for (index, config) in test.requests.enumerated() {
            let seenBefore = server.seen.count
            let reply = cache.answer(try request(config, index, now), at: now) { server.reply(to: $0, at: $1) }
            replies.append(reply)
            appliedRules = cache.appliedRules
            let interim = server.seen.count > seenBefore ? config.interimStatuses : []
            try check(reply, config, number: index + 1, interim: interim)
            now = now.advanced(by: .milliseconds(10)).advanced(bySeconds: Int64(config.responseDelay))
            if config.pausesAfter { now = now.advanced(bySeconds: Self.pause) }
        }
    }

    private func request(_ config: CacheTestRequest, _ index: Int, _ now: Timestamp) throws(Failure) -> CacheRequest {
        var text = "http://127.0.0.1:8000/test/\(CacheTestServer.token)"
        if let name = config.fileName ?? fileName { text += "/\(name)" }
        if let query = config.query { text += "?\(query)" }
        var fields: MessageFields = ["Pragma": "foo", "Cache-Control": "nothing-to-see-here"]
        for field in config.fields {
            var value = field.value
            if case .offset(let seconds) = value, !config.fixesModifiedSince { value = .text(String(seconds)) }
            var fixed = field
            fixed.value = value
            let previous = replies.last.flatMap { Self.integer($0, "server-now") }
            let base = previous.map { Timestamp(seconds: Int64($0)) } ?? now
            fields.append(Octets(field.name), Octets(CacheTestServer.value(fixed, now: base, base: "", config)))
        }
        fields.append("Req-Num", Octets(String(index + 1)))
        guard let url = try? RequestURL(text) else { throw Failure(description: "no URL") }
        return CacheRequest(method: Octets(config.method), url: url, fields: fields)
    }

    /// The joined values of a field; `nil` if it is absent.
    private static func value(_ fields: MessageFields, _ name: String) -> String? {
        let values = fields.lines.filter { $0.name.lowercasedText == name.lowercased() }
        return values.isEmpty ? nil : values.map { String(decoding: $0.value, as: UTF8.self) }.joined(separator: ", ")
    }

    private static func integer(_ reply: TestCache.Reply, _ name: String) -> Int? {
        value(reply.fields, name).flatMap { Int($0) }
    }

    // MARK: - The client

    private func check(
        _ reply: TestCache.Reply, _ config: CacheTestRequest, number: Int, interim: [Int]
    ) throws(Failure) {
        let numbers = Self.value(reply.fields, "request-numbers").map { $0.split(separator: " ") } ?? []
        try Self.check(numbers.count == Set(numbers).count, "request \(number) was repeated")
        let count = Self.integer(reply, "server-request-count")
        switch config.expectedType {
        case "cached":
            let isCached = reply.status == 304 && count == nil || count.map { $0 < number } ?? false
            try Self.check(isCached, "response \(number) does not come from the cache")
        case "not_cached": try Self.check(count == number, "response \(number) comes from the cache")
        default: break
        }
        if let expected = config.expectedStatus {
            try Self.check(expected == nil || reply.status == expected, "status \(number) is \(reply.status)")
        } else {
            try Self.check(reply.status == config.responseStatus ?? 200, "status \(number) is \(reply.status)")
        }
        for expectation in config.expectedFields { try check(reply, expectation, config, number) }
        for case .present(let name) in config.missingFields {
            try Self.check(Self.value(reply.fields, name) == nil, "response \(number) has \(name)")
        }
        if let expected = config.expectedInterimStatuses {
            try Self.check(interim == expected, "interim responses \(number)")
        }
        try checkBody(reply, config, number)
    }

    private func check(
        _ reply: TestCache.Reply, _ expectation: CacheTestExpectation, _ config: CacheTestRequest, _ number: Int
    ) throws(Failure) {
        switch expectation {
        case .present(let name):
            try Self.check(Self.value(reply.fields, name) != nil, "response \(number) has no \(name)")
        case .same(let name, let other):
            let value = Self.value(reply.fields, name)
            try Self.check(
                value != nil && value == Self.value(reply.fields, other), "response \(number): \(name) is not \(other)")
        case .greater(let name, let bound):
            let value = Self.integer(reply, name) ?? .min
            try Self.check(value > bound, "response \(number): \(name) is \(value)")
        case .equal(let field):
            let now = Timestamp(seconds: Int64(Self.integer(reply, "server-now") ?? 0))
            let base = Self.value(reply.fields, "server-base-url") ?? ""
            let expected = CacheTestServer.value(field, now: now, base: base, config)
            let value = Self.value(reply.fields, field.name)
            try Self.check(value == expected, "response \(number): \(field.name) is \(value ?? "missing")")
        }
    }

    private func checkBody(_ reply: TestCache.Reply, _ config: CacheTestRequest, _ number: Int) throws(Failure) {
        guard config.checksBody else { return }
        let body = String(decoding: reply.body, as: UTF8.self)
        if let expected = config.expectedText {
            try Self.check(expected == nil || body == expected, "body \(number) is \(body)")
        } else if let expected = config.responseBody {
            try Self.check(body == expected, "body \(number) is \(body)")
        } else if reply.status != 204, reply.status != 304, config.method != "HEAD" {
            try Self.check(body == CacheTestServer.token, "body \(number) is \(body)")
        }
    }

    // MARK: - The server

    private func checkServer() throws(Failure) {
        var index = 0
        for (number, config) in zip(1..., test.requests) where config.expectedType != "cached" {
            let seen = index < server.seen.count ? server.seen[index] : nil
            index += 1
            if config.expectedType == "not_cached" {
                try Self.check(seen?.number == number, "request \(number) was not sent")
            }
            let condition: String? =
                switch config.expectedType {
                case "etag_validated": "if-none-match"
                case "lm_validated": "if-modified-since"
                default: nil
                }
            if let condition {
                let isThere = seen.map { Self.value($0.fields, condition) != nil } ?? false
                try Self.check(isThere, "request \(number) has no \(condition)")
            }
            for expectation in config.expectedRequestFields {
                switch expectation {
                case .present(let name):
                    try Self.check(
                        seen.map { Self.value($0.fields, name) != nil } ?? false, "request \(number): \(name)")
                case .equal(let field):
                    guard case .text(let text) = field.value else { continue }
                    try Self.check(
                        seen.flatMap { Self.value($0.fields, field.name) } == text, "request \(number): \(field.name)")
                case .same, .greater: break
                }
            }
            for field in seen?.checked ?? [] where field.name.lowercased() != "date" {
                let value = Self.value(replies[number - 1].fields, field.name)
                try Self.check(value == field.value, "response \(number): \(field.name) is \(value ?? "missing")")
            }
            if let method = config.expectedMethod {
                try Self.check(seen?.method == method, "request \(number) has another method")
            }
        }
    }
}
