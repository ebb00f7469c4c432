import CookieModel
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

extension SessionAPI {
    var savedSessionRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/jars/{jar}/snapshots", .jar(.read)) { _, context in
                let jar = try jar(in: context)
                return .json(SavedSessionList(snapshots: try jar.savedSessions().map(SavedSessionReport.init)))
            },
            ServiceRoute(.post, "/v1/jars/{jar}/snapshots", .jar(.write), body: .document) { request, context in
                let name = try await request.document(SavedSessionDocument.self, in: context).name
                let jar = try jar(in: context)
                let now = now()
                let save = try await blocking { try jar.saveSession(named: name, now: now) }
                return .json(SessionSaveReport(jar: jar.name, save), status: save.previous == nil ? .created : .ok)
            },
            ServiceRoute(.post, "/v1/jars/{jar}/snapshots/{name}/restore", .jar(.write)) { _, context in
                let name = try context.pathParameter("name")
                let jar = try jar(in: context)
                let now = now()
                let restoration = try await blocking { try jar.restoreSession(named: name, now: now) }
                return .json(SessionRestorationReport(jar: jar.name, restoration))
            },
            ServiceRoute(.delete, "/v1/jars/{jar}/snapshots/{name}", .jar(.write)) { _, context in
                let name = try context.pathParameter("name")
                let jar = try jar(in: context)
                return .json(SavedSessionReport(try await blocking { try jar.removeSavedSession(named: name) }))
            },
            ServiceRoute(.post, "/v1/jars/{jar}/session/end", .jar(.write)) { _, context in
                let jar = try jar(in: context)
                let now = now()
                let end = try await blocking { try jar.endSession(now: now) }
                return .json(SessionEndReport(jar: jar.name, removed: end.removed, kept: end.kept))
            },
        ]
    }
}
