public import CookieModel
public import Hummingbird
public import SessionStore

/// The HTTP API over a session database, without rules of its own.
///
/// Meant for a Unix-domain socket that its owner alone may use: whoever reaches it gets the cookies.
public struct SessionAPI: Sendable {
    let database: SessionDatabase
    let now: @Sendable () -> Timestamp

    /// An API over a database.
    ///
    /// - Parameter now: the clock.
    public init(database: SessionDatabase, now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.now = now
    }

    /// The routes, for an application to serve.
    public var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("healthz") { _, _ in
            HTTPResponse.Status.ok
        }
        router.post("v1/jars/{jar}/decorate") { request, context in
            try decorate(try await request.decode(as: DecorateRequest.self, context: context), in: context)
        }
        return router
    }
}
