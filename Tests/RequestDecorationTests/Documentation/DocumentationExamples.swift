import CookieModel
import HTTPTypes
import RequestDecoration
import SessionStore

/// The examples of docs/decorating.md for any client, which are held against it. They are compiled, not run.
enum DocumentationExamples {
    static func plain(
        _ decorator: RequestDecorator, _ request: inout HTTPRequest, _ context: RequestContext
    ) throws {
        try decorator.decorate(&request, in: context)
    }

    static func reported(
        _ decorator: RequestDecorator, _ request: HTTPRequest, _ context: RequestContext
    ) async throws -> HTTPRequest {
        let (decorated, report) = try await decorator.decorate(request, in: context)
        for omission in report.cookieOmissions { print(omission.cookie.name, omission.reason.explanation) }
        for exclusion in report.retrieval.excluded { print(exclusion.cookie.name, exclusion.reasons) }
        return decorated
    }

    static func received(
        _ decorator: RequestDecorator, _ response: HTTPResponse, _ context: RequestContext
    ) async throws {
        let receipt = try await decorator.receive(response, in: context)
        print(receipt.decisions.map(\.outcome))
    }

    static func redirects(
        _ decorator: RequestDecorator, _ request: HTTPRequest, _ context: RequestContext, body: [UInt8],
        send: (HTTPRequest, [UInt8]?) async throws -> (HTTPResponse, [UInt8])
    ) async throws -> [UInt8] {
        let exchange = try await decorator.exchange(request, in: context) { request, chain in
            let (response, payload) = try await send(request, chain.keepsBody ? body : nil)
            return (ResponseHead(response), payload)
        }
        return exchange.payload
    }

    static func context(url: RequestURL, page: RequestURL) -> RequestContext {
        let context = RequestContext(url: url, topLevel: page, initiator: .origin(page))
        return context
    }

    static func settings(_ jar: CookieJar, _ database: SessionDatabase) throws -> RequestDecorator {
        let settings = DecorationSettings(
            fields: [FieldRule(HTTPField(name: .acceptLanguage, value: "en"))], userAgent: "Example/1.0",
            authorization: [
                AuthorizationRule(scope: try URLScope("https://api.example.com/v2"), named: "work", in: database.tokens)
            ])
        let decorator = RequestDecorator(jar: jar, settings: settings)
        return decorator
    }
}
