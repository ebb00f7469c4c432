import CookieModel
import Hummingbird
import RequestDecoration
import SessionStore

/// What `POST /v1/jars/{jar}/decorate` asks: the request that is about to be made.
struct DecorateRequest: Decodable {
    let url: String
    let method: String?
    let topLevel: String?
}

/// What it answers: the header fields to add, and which cookies went in or stayed out.
struct DecorateResponse: ResponseEncodable {
    struct Field: Codable {
        let name: String
        let value: String
    }

    struct Exclusion: Codable {
        let name: String
        let reasons: [String]
    }

    let fields: [Field]
    let included: [String]
    let excluded: [Exclusion]
}

extension SessionAPI {
    func decorate(_ asked: DecorateRequest, in context: ServiceRequestContext) throws -> DecorateResponse {
        var request = CookieModel.RequestContext(url: try url(asked.url))
        request.method = asked.method?.uppercased() ?? "GET"
        if let topLevel = asked.topLevel {
            request.topLevel = try url(topLevel)
            request.isTopLevelNavigation = false
        }
        let name = try context.parameters.require("jar")
        try context.require(.secrets, jar: name)
        guard let jar = try database.existingJar(named: name) else { throw ServiceProblem.jarNotFound(name) }
        let report = try jar.retrieve(for: request, now: now())
        guard let cookie = report.cookieString.utf8String else {
            throw ServiceProblem(
                .unprocessableContent, "not-text", "a cookie's octets are not UTF-8, which JSON cannot carry")
        }
        context.audit(SecretAccess(.cookieField, jar: name, site: request.url.host.description))
        return DecorateResponse(
            fields: cookie.isEmpty ? [] : [DecorateResponse.Field(name: "cookie", value: cookie)],
            included: report.included.map(\.name.description),
            excluded: report.excluded.map { exclusion in
                DecorateResponse.Exclusion(
                    name: exclusion.cookie.name.description, reasons: exclusion.reasons.identifiers)
            })
    }

    private func url(_ text: String) throws -> RequestURL {
        do {
            return try RequestURL(text)
        } catch {
            throw ServiceProblem(.badRequest, "url-invalid", error.description)
        }
    }
}
