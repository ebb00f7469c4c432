import CookieModel
import HTTPTypes
import Hummingbird
import RequestDecoration
import SessionOperations
import SessionStore

extension ScriptDocument {
    /// One of the pages.
    struct Page: RequestDescription {
        let url: String
        let method: String?
        let topLevel: String?
        let initiator: String?
        let navigation: Bool?
    }

    /// How many pages one script is for at most: each is answered with all cookies of its site.
    private static let pageLimit = 1000

    /// The pages, for their scripts.
    func pages() throws(OperationError) -> [CookieModel.RequestContext] {
        guard (1...ScriptDocument.pageLimit).contains(urls.count) else {
            throw .bodyInvalid("urls: name 1 to \(ScriptDocument.pageLimit) pages")
        }
        var pages: [CookieModel.RequestContext] = []
        for (index, url) in urls.enumerated() {
            let page = Page(
                url: url, method: method, topLevel: topLevel, initiator: initiator, navigation: navigation)
            pages.append(try page.requestContext(for: url, member: "urls.[\(index)]", .script))
        }
        return pages
    }

    /// The way in which the script reports the outcome of each cookie.
    func verification() throws(OperationError) -> InjectionScript.Verification {
        guard let handler else { return verify == true ? .value : .none }
        return .message(try MessageHandlerName(handler, of: "handler"))
    }
}

extension MessageHandlerName {
    /// The name that a caller wrote.
    fileprivate init(_ text: String, of member: String) throws(OperationError) {
        guard let name = MessageHandlerName(text) else {
            throw .parameterInvalid(
                member,
                "the name of a handler has up to \(MessageHandlerName.limit) letters, digits, _ and $, and "
                    + "does not begin with a digit"
            )
        }
        self = name
    }
}

extension SessionAPI {
    var scriptRoutes: [ServiceRoute] {
        [
            ServiceRoute(.script) { request, context in
                let asked = try await request.document(ScriptDocument.self, in: context)
                let pages = try asked.pages()
                let writing = try InjectionScript.Writing.named(asked.write, member: "write") ?? .once
                let verification = try asked.verification()
                let jar = try jar(in: context)
                let report = try ScriptReport(
                    of: jar, for: pages, writing: writing, verification: verification, now: now())
                for host in Set(pages.map(\.url.host)) {
                    context.audit(SecretAccess(.script, jar: jar.name, site: host.description))
                }
                return .json(report)
            },
            ServiceRoute(.captureScript) { _, context in
                guard let text = try context.query.one("handler") else {
                    throw ServiceFailure(.parameterMissing, "handler: name the message handler")
                }
                let handler = try MessageHandlerName(text, of: "handler")
                _ = try jar(in: context)
                return .json(CaptureScriptReport(CaptureScript(handler: handler), handler: handler))
            },
        ]
    }
}
