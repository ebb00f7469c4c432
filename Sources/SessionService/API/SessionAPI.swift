import CookieModel
import Hummingbird
import SessionStore

/// The HTTP API over a session database, without rules of its own.
///
/// Each route says what the caller must be allowed to do; who calls is found out before.
struct SessionAPI: Sendable {
    let database: SessionDatabase
    let now: @Sendable () -> Timestamp

    /// An API over a database.
    ///
    /// - Parameter now: the clock.
    init(database: SessionDatabase, now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.now = now
    }

    /// Adds the routes of `/v1`.
    func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        let jar = router.group("v1/jars/{jar}")
        jar.post("decorate") { request, context in
            try decorate(try await request.decode(as: DecorateRequest.self, context: context), in: context)
        }
    }
}
