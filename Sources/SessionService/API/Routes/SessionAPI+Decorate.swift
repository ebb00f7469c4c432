import CookieModel
import HTTPTypes
import Hummingbird
import RequestDecoration
import SessionOperations
import SessionStore
import SessionWire

extension DecorateMembers: PlainMembers {
    /// All but one with header fields.
    static func document(_ object: FlatJSONObject, _ details: RequestDetails) -> (DecorateDocument, count: Int)? {
        object.text("url").map { (DecorateDocument(url: $0, details), 1) }
    }
}

extension DecorateDocument {
    /// The caller's own Cookie fields.
    func ownCookies() throws(OperationError) -> [Octets] {
        var own: [Octets] = []
        for (index, field) in (members.headers ?? []).enumerated() where field.name.lowercased() == "cookie" {
            let octets = try field.octets(at: "headers.[\(index)]")
            // They come back in the answer: a client that copies them into a message would write whole fields.
            guard !octets.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
                throw .bodyInvalid(
                    "headers.[\(index)]: the value of a field cannot contain CR, LF or NUL (RFC 9110, section "
                        + "5.5)")
            }
            own.append(octets)
        }
        return own
    }
}

extension SessionAPI {
    var decorateRoutes: [ServiceRoute] {
        [
            ServiceRoute(.decorate) { request, context in
                let asked = try await request.document(DecorateDocument.self, in: context)
                let description = try asked.details.requestContext(for: asked.members.url)
                let own = try asked.ownCookies()
                let jar = try jarOnArrival(in: context)
                var decoration = try decoration(
                    of: description, in: jar, own: own, fields: asked.members.headers?.map(\.name) ?? [], context)
                context.metrics?.count(decoration.retrieval)
                decoration.credential = try await presentedCredential(in: jar, for: asked, description, context)
                return .json(text: DecorationReport.fastJSON(decoration))
            }
        ]
    }

    /// Returns the cookies and fields that the jar adds to a request, and audits that the caller sees them.
    ///
    /// - Parameters:
    ///   - own: the caller's own Cookie fields.
    ///   - names: the names of the request's own fields.
    func decoration(
        of description: CookieModel.RequestContext, in jar: CookieJar, own: [Octets] = [], fields names: [String] = [],
        _ context: ServiceRequestContext
    ) throws -> Decoration {
        let decoration = try jar.decoration(
            for: description, own: own,
            isSetByCaller: { name in names.contains { $0.lowercased() == name } }, now: now())
        let site = description.url.host.description
        context.audit(SecretAccess(.cookieField, jar: jar.name, site: site))
        if !decoration.fields.sent.isEmpty { context.audit(SecretAccess(.headerFields, jar: jar.name, site: site)) }
        return decoration
    }
}
