import CookieModel
import Foundation
import RequestDecoration
import ResponseStore
import SessionStore
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The examples of docs/decorating.md and docs/cache.md for Foundation, which are held against it. They are compiled, not run.
enum DocumentationExamples {
    static func session(_ decorator: RequestDecorator, _ request: URLRequest) async throws {
        let session = DecoratedURLSession(decorator: decorator)
        let exchange = try await session.data(for: request)
        print(exchange.head.status, exchange.payload.data.count, "bytes from", exchange.url)
    }

    static func cache(
        _ jar: CookieJar, of database: SessionDatabase, in folder: String, _ decorator: RequestDecorator,
        _ request: URLRequest
    ) async throws {
        let responses = ResponseCache(CacheFolder(folder), of: database)
        let cache = PrivateCache(responses, of: jar)
        let session = DecoratedURLSession(decorator: decorator, cache: cache)
        let exchange = try await session.data(for: request)
        print(exchange.payload.cacheStatus ?? "no cache")
    }

    static func delegate(_ decorator: RequestDecorator, _ request: URLRequest) throws {
        let delegate = RedirectDecorationDelegate(
            decorator: decorator, completion: { task, result in print(task.taskIdentifier, result) })
        let session = URLSession(
            configuration: .default.withoutClientCookies, delegate: delegate, delegateQueue: nil)
        let task = try delegate.task(for: request) { session.downloadTask(with: $0) }
        task.resume()
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
