import CookieModel
import DriverSupport
import HTTPTypes
import RequestDecoration
import SessionStore

/// Requests decorated from a jar on disk that was asked for the same cookies before.
struct DecorateSubject: BenchmarkSubject {
    private let decorator: RequestDecorator
    private let urls: [String]
    /// A request as an application has it: which URL it is for does not matter to the work.
    private let request: HTTPRequest

    init(_ workload: Workload) throws {
        decorator = RequestDecorator(jar: try SessionDatabase(workload).jar(now: .present))
        urls = try workload.urlTexts()
        request = HTTPRequest(
            method: .get, scheme: "https", authority: "www.example.com", path: "/",
            headerFields: [.accept: "*/*", .acceptLanguage: "en", .userAgent: "crumb-bench"])
        // Where there is but one repetition, it is to be a warm one too.
        for url in urls { _ = try decorated(url) }
    }

    mutating func run() throws -> Repetition {
        var hits = 0
        var octets = 0
        let start = ProcessClock.cpuSeconds
        for url in urls {
            let count = try decorated(url).withCookieBytes(\.count)
            hits += count == 0 ? 0 : 1
            octets += count
        }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(
            seconds: seconds, operations: urls.count, facts: [("hits", Double(hits)), ("octets", Double(octets))])
    }

    mutating func headers() throws -> [[UInt8]]? {
        try urls.map { try decorated($0).withCookieBytes { Array($0) } }
    }

    @inline(__always)
    private func decorated(_ url: String) throws -> HTTPRequest {
        var decorated = request
        try decorator.decorate(&decorated, in: RequestContext(url: try RequestURL(url)), now: .present)
        return decorated
    }
}

extension HTTPRequest {
    /// Runs `body` on the octets of the last field, if it is the one Cookie field that decoration puts there.
    fileprivate func withCookieBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard let field = headerFields.last, field.name == .cookie else {
            return body(UnsafeBufferPointer(start: nil, count: 0))
        }
        return field.withUnsafeBytesOfValue(body)
    }
}
