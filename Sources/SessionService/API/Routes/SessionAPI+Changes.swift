import CookieModel
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

extension SessionAPI {
    var changeRoutes: [ServiceRoute] {
        [ServiceRoute(.followChanges, use: follow)]
    }

    /// The changes as they come, as server-sent events (HTML, section 9.2).
    private func follow(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let jar = try jar(in: context)
        let asked = try EventFollower.position(in: request, context.query)
        // Without a position, only changes from now on are sent.
        let position =
            if let asked { asked } else { try await blocking { try jar.changes(after: .max, count: 1).position } }
        let follower = ChangeFollower(
            jar: jar, following: following, changes: changes, caller: context.caller, tokens: database.serviceTokens,
            now: now, events: SessionAPI.events)
        return follower.follower.response(after: position)
    }

    /// A page of the journal as events.
    @Sendable private static func events(_ page: ChangePage) -> [UInt8] {
        var events: [UInt8] = []
        if page.hasGap {
            let start = page.changes.first.map { $0.position - 1 } ?? page.position
            events += EventFollower.event("missed", MissedChanges(position: start), id: start)
        }
        for change in page.changes {
            events += EventFollower.event("change", ChangeReport(change), id: change.position)
        }
        return events
    }
}
