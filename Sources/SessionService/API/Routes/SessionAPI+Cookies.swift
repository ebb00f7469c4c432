import CookieModel
import Foundation
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

extension SetCookieDocument {
    /// The field values, in order: text first.
    func lines() throws(ServiceProblem) -> [Octets] {
        var lines = (setCookie ?? []).map { Octets($0) }
        for base64 in setCookieBase64 ?? [] {
            guard let data = Data(base64Encoded: base64) else {
                throw .bodyInvalid("setCookieBase64: this is not base64")
            }
            lines.append(Octets(Array(data)))
        }
        guard !lines.isEmpty else {
            throw .bodyInvalid("setCookie: give a line, such as 'name=value; Path=/; Secure'")
        }
        return lines
    }
}

extension SessionAPI {
    private static let pageLimit: Int64 = 1000
    private static let filters: Set<String> = ["name", "domain", "path", "url"]

    var cookieRoutes: [ServiceRoute] {
        [
            ServiceRoute(
                .get, "/v1/jars/{jar}/cookies", .jar(.read),
                query: SessionAPI.filters.union(["httpOnly", "session", "values", "origins", "limit", "cursor"]),
                use: listCookies),
            ServiceRoute(.post, "/v1/jars/{jar}/cookies", .jar(.write), body: .document) { request, context in
                let asked = try await request.document(SetCookieDocument.self, in: context)
                let response = ReceivedResponse(context: try asked.requestContext(), setCookie: try asked.lines())
                let jar = try jar(in: context)
                let now = now()
                return .json(
                    ResponseDecisions(decisions: try await decisions(on: response, at: now, by: jar, now: now)))
            },
            ServiceRoute(
                .delete, "/v1/jars/{jar}/cookies", .jar(.write), query: SessionAPI.filters, use: removeCookies),
            ServiceRoute(
                .get, "/v1/jars/{jar}/cookies/{name}", .jar(.read),
                query: CookieCondition.requestMembers.union(["domain", "path", "url", "values"]), use: getCookie),
        ]
    }

    private func listCookies(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let query = context.query
        let showsValues = try query.flag("values") ?? false
        let jar = try jar(in: context)
        if showsValues { try context.require(.secrets, jar: jar.name) }
        let limit = Int(try query.number("limit", 1...SessionAPI.pageLimit) ?? SessionAPI.pageLimit)
        let start = try CookieCursor(query)
        let condition = try CookieCondition(query)
        let now = now()
        let showsOrigins = try query.flag("origins") ?? false
        let list = try await blocking {
            let page = try condition.page(of: jar, after: start, limit: limit, now: now)
            let origins = showsOrigins ? try jar.origins() : [:]
            return CookieList(
                cookies: page.cookies.map {
                    CookieReport($0.cookie, showingValue: showsValues, origin: origins[$0.cookie.id])
                }, unreadable: page.unreadable.map { CookieIdentityReport($0) },
                next: page.hasMore ? page.cookies.last?.place.text : nil)
        }
        if showsValues {
            context.audit(
                SecretAccess(.cookieValues, jar: jar.name, names: list.cookies.map { $0.name ?? $0.nameBase64 ?? "" }))
        }
        return EntityTag.answer(list, to: request)
    }

    private func getCookie(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let query = context.query
        let showsValue = try query.flag("values") ?? false
        let jar = try jar(in: context)
        if showsValue { try context.require(.secrets, jar: jar.name) }
        let name = try context.pathParameter("name")
        var condition = try CookieCondition(query)
        condition.filter.name = Octets(name)
        condition.filter.request = try CookieCondition.request(query)
        let now = now()
        let report = try await blocking { [condition] in
            let (readable, unreadable) = try condition.cookies(of: jar, now: now)
            // Of those that a request carries, the one that goes first counts, as for a server.
            guard let cookie = readable.first else {
                throw unreadable.isEmpty
                    ? ServiceProblem(.cookieNotFound, "'\(name)': the jar has no such cookie")
                    : ServiceProblem(
                        .valueDamaged, ExclusionReason.unreadable.explanation)
            }
            guard readable.count == 1 || condition.filter.request != nil else {
                throw ServiceProblem(
                    .cookieAmbiguous,
                    "'\(name)': the jar has \(readable.count) cookies with this name; add domain, path or url")
            }
            return CookieReport(cookie, showingValue: showsValue, origin: try jar.origin(of: cookie.id))
        }
        if showsValue {
            context.audit(SecretAccess(.cookieValues, jar: jar.name, site: report.domain, names: [name]))
        }
        return EntityTag.answer(report, to: request)
    }

    private func removeCookies(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let condition = try CookieCondition(context.query)
        guard condition.filter.isGiven else {
            throw ServiceProblem(
                .parameterMissing,
                "select cookies by name, domain, path or url; POST to 'clear' removes all")
        }
        let jar = try jar(in: context)
        let now = now()
        let removed = try await blocking { try jar.removeCookies(condition.filter, now: now) }
        guard !removed.isEmpty else {
            throw ServiceProblem(.cookieNotFound, "jar '\(jar.name)' has no such cookie")
        }
        return .json(CookieRemovalList(removed: removed.map { CookieIdentityReport($0) }))
    }
}

extension CookieFilter {
    /// Whether there is a condition at all.
    fileprivate var isGiven: Bool { name != nil || domain != nil || path != nil || request != nil }
}
