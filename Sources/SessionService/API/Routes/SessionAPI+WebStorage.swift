import CookieModel
import Hummingbird
import SessionOperations
import SessionStore

extension SessionAPI {
    /// The `localStorage` that is kept with a jar. Captures bring it, exports and scripts give it back.
    var webStorageRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/jars/{jar}/storage", .jar(.read), query: ["origin", "values"]) { _, context in
                let origin = try context.query.url("origin")?.origin
                let showsValues = try context.query.flag("values") ?? false
                guard origin != nil || !showsValues else {
                    throw ServiceProblem.parameterInvalid("values", "add the origin whose values to show")
                }
                let jar = try jar(in: context)
                if showsValues { try context.require(.secrets, jar: jar.name) }
                let list = try await blocking {
                    try WebStorageList(jar, ofOrigin: origin, showingValues: showsValues)
                }
                if showsValues { context.audit(SecretAccess(.storageValues, jar: jar.name, site: origin)) }
                return .json(list)
            },
            ServiceRoute(.delete, "/v1/jars/{jar}/storage", .jar(.write), query: ["origin", "key"]) { _, context in
                let origin = try context.query.url("origin")?.origin
                let key = try context.query.octets("key")
                guard origin != nil || key == nil else {
                    throw ServiceProblem.parameterInvalid("key", "add the origin of the item")
                }
                let jar = try jar(in: context)
                let removed = try await blocking { try jar.removeWebStorage(ofOrigin: origin, key: key) }
                return .json(WebStorageRemoval(jar: jar.name, removed: removed))
            },
        ]
    }
}
