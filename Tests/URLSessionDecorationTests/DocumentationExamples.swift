import CookieModel
import Foundation
import RequestDecoration
import ResponseStore
import SessionStore
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The examples of docs/decorating.md, docs/cache.md and docs/login-fallback.md for Foundation, which are held against it. They are compiled, not run.
enum DocumentationExamples {
    static func download(_ session: DecoratedURLSession, _ url: URL, to report: URL) async throws {
        let (file, response) = try await session.download(from: url)
        try FileManager.default.moveItem(at: file, to: report)
        print(response.expectedContentLength, "bytes are in", report.path)
    }

    static func exchange(_ session: DecoratedURLSession, _ request: URLRequest) async throws {
        let exchange = try await session.exchange(for: request)
        for hop in exchange.hops { print(hop.method, hop.url, hop.status, hop.receipt.decisions.count) }
        print(exchange.payload.response.statusCode, exchange.payload.data.count, "bytes from", exchange.url)
    }

    static func fallback(
        _ decorator: RequestDecorator, _ request: URLRequest, _ fallback: LoginFallback,
        now: @escaping @Sendable () -> Timestamp
    ) async throws -> Int {
        let session = DecoratedURLSession(decorator: decorator, now: now)
        let exchange = try await session.exchange(for: request, fallback: fallback)
        return exchange.payload.data.count
    }

    static func cache(
        _ jar: CookieJar, of database: SessionDatabase, in folder: String, _ decorator: RequestDecorator,
        _ request: URLRequest
    ) async throws {
        let responses = ResponseCache(CacheFolder(folder), of: database)
        let cache = PrivateCache(responses, of: jar)
        let session = DecoratedURLSession(decorator: decorator, cache: cache)
        let exchange = try await session.exchange(for: request)
        print(exchange.payload.cacheStatus ?? "no cache")
    }

    static func conversion(_ cookie: Cookie, _ storage: HTTPCookieStorage) {
        let conversion = HTTPCookieConversion(cookie)
        if let made = conversion.cookie { storage.setCookie(made) }
        print(conversion.losses.map(\.explanation))
    }

    static func records(_ jar: CookieJar, _ storage: HTTPCookieStorage) throws {
        for cookie in storage.cookies ?? [] {
            let record = CookieRecordConversion(cookie).record
            try jar.withBatch { batch throws(SessionStoreError) in try batch.receive(record) }
        }
    }
}
