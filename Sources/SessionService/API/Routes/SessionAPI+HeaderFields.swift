import CookieModel
import HTTPTypes
import Hummingbird
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

extension HeaderFieldSettingDocument {
    /// The field of that name.
    fileprivate func rule(named name: String) throws -> FieldRule {
        try FieldRule(
            name: name, value: Secret(try HeaderFieldDocument.octets(value, valueBase64, at: "")),
            scope: try scope.map { URLScope(try RequestURL($0, member: "scope")) })
    }
}

extension SessionAPI {
    /// A field is part of the jar's requests, so setting one requires the right to write to the jar, and seeing its
    /// value requires the right to see the secrets of a session.
    var headerFieldRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/jars/{jar}/header-fields", .jar(.read), query: ["values"], use: listHeaderFields),
            ServiceRoute(.put, "/v1/jars/{jar}/header-fields/{name}", .jar(.write), body: .document) {
                request, context in
                let asked = try await request.document(HeaderFieldSettingDocument.self, in: context)
                let jar = try jar(in: context)
                let rule = try asked.rule(named: try context.pathParameter("name"))
                try await blocking { try jar.setFieldRule(rule) }
                return .json(HeaderFieldReport(rule))
            },
            ServiceRoute(
                .delete, "/v1/jars/{jar}/header-fields/{name}", .jar(.write), query: ["scope"]
            ) { _, context in
                let jar = try jar(in: context)
                let name = try context.pathParameter("name")
                let scope = try context.query.url("scope").map { URLScope($0) }
                guard try await blocking({ try jar.removeFieldRule(named: name, scope: scope) }) else {
                    throw ServiceProblem(
                        .fieldNotFound, "\(name): the jar has no such header field with this scope")
                }
                return .json(HeaderFieldReport(name: name, scope: scope?.description, value: nil))
            },
        ]
    }

    private func listHeaderFields(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let showsValues = try context.query.flag("values") ?? false
        let jar = try jar(in: context)
        if showsValues { try context.require(.secrets, jar: jar.name) }
        let fields = try jar.cachedHeaderFields()
        if showsValues {
            context.audit(SecretAccess(.fieldValues, jar: jar.name, names: fields.map(\.name)))
        }
        return .json(HeaderFieldList(fields: fields.map { HeaderFieldReport($0, showingValue: showsValues) }))
    }
}
