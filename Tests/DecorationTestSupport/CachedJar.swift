public import CookieModel
import Foundation
public import HTTPCaching
public import ResponseStore
public import SessionStore
import Synchronization
public import TestSupport

/// A jar with a cache in a folder of its own, and a clock that a test sets.
public final class CachedJar: Sendable {
    /// The jar.
    public let jar: CookieJar
    /// The jar's cache.
    public let cache: PrivateCache
    /// The path of the cache's folder.
    public let folder = FileManager.default.temporaryDirectory.path + "/crumb-cache-\(UUID().uuidString)"
    private let clock = Mutex(Timestamp(seconds: 1_800_000_000))

    /// The time of the clock.
    public var now: Timestamp { clock.withLock { $0 } }

    /// A new jar in memory.
    public init(rules: CachingRules = .standard) throws {
        let start = Timestamp(seconds: 1_800_000_000)
        let database = try SessionDatabase(path: "", keys: .key(SealingKey()), durability: .memory, now: start)
        jar = try database.jar(now: start)
        cache = PrivateCache(ResponseCache(CacheFolder(folder), of: database), of: jar, rules: rules)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Moves the clock on.
    public func advance(bySeconds seconds: Int64) {
        clock.withLock { $0 = $0.advanced(bySeconds: seconds) }
    }
}

extension LoopbackServer {
    /// A server with one resource, which confirms the resource's tag.
    ///
    /// - Parameter resource: the resource at each request.
    public static func tagged(
        _ cacheControl: String, setCookie: [String] = [],
        resource: @escaping @Sendable () -> (tag: String, body: String)
    ) throws -> LoopbackServer {
        try LoopbackServer { request in
            let (tag, body) = resource()
            let isKnown = request.text("if-none-match") == [tag]
            var response = Response(isKnown ? 304 : 200, setCookie: setCookie, body: isKnown ? "" : body)
            response.fields.append(("Cache-Control", Array(cacheControl.utf8)))
            response.fields.append(("ETag", Array(tag.utf8)))
            return response
        }
    }

    /// A server of "01234567", which has a stored part of it completed.
    public static func inParts() throws -> LoopbackServer {
        try LoopbackServer { request in
            var response =
                switch request.text("range") {
                case ["bytes=0-3"]: Response(206, body: "0123")
                case ["bytes=4-"]: Response(206, body: "4567")
                default: Response(body: "01234567")
                }
            if response.body.count == 4 {
                let positions = response.body.first == 0x30 ? "0-3" : "4-7"
                response.fields.append(("Content-Range", Array("bytes \(positions)/8".utf8)))
            }
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            response.fields.append(("ETag", Array("\"1\"".utf8)))
            return response
        }
    }
}
