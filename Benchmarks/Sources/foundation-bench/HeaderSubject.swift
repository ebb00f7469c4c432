import DriverSupport
import Foundation
import FoundationNetworking

/// Cookie headers from an HTTPCookieStorage in memory. Setting is quadratic, so only small jars can be had.
struct HeaderSubject: BenchmarkSubject {
    private static let largestJar = 1000
    private let storage: HTTPCookieStorage
    private let urls: [String]

    init(_ workload: Workload) throws {
        guard workload.size <= Self.largestJar else {
            throw DriverError.skipped("walks all its cookies for each one set")
        }
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else {
            throw DriverError.skipped("has no storage in memory")
        }
        storage.cookieAcceptPolicy = .always
        try workload.jar.forEachPair { url, fieldValue in
            guard let url = URL(string: String(decoding: url, as: UTF8.self)) else { return }
            let fields = ["Set-Cookie": String(decoding: fieldValue, as: UTF8.self)]
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        }
        self.storage = storage
        // Slow enough that a few of them say all.
        urls = Array(try workload.urlTexts().prefix(2000))
    }

    mutating func run() -> Repetition {
        var sum = 0
        let start = ProcessClock.cpuSeconds
        for url in urls { sum &+= header(url).utf8.count }
        let seconds = ProcessClock.cpuSeconds - start
        return Repetition(seconds: seconds, operations: sum == 0 ? 0 : urls.count, facts: [])
    }

    mutating func headers() throws -> [[UInt8]]? {
        urls.map { Array(header($0).utf8) }
    }

    private func header(_ text: String) -> String {
        guard let url = URL(string: text), let cookies = storage.cookies(for: url), !cookies.isEmpty else { return "" }
        return HTTPCookie.requestHeaderFields(with: cookies)["Cookie"] ?? ""
    }
}
