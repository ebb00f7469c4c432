import CookieModel
import RequestDecoration
import SessionStore
import SessionWire

extension DatabaseOperation where Document == ScriptDocument, Output == ScriptReport {
    /// The script that sets the cookies and the `localStorage` of pages.
    package static var script: Self {
        Self(.script) { input, context in
            let pages = try input.document.pages(atMost: context.pageLimit == nil ? .max : ScriptDocument.pageLimit)
            let writing = try InjectionScript.Writing.named(input.document.members.write, member: "write") ?? .once
            let verification = try input.document.verification()
            let jar = try context.jar(named: input.jar)
            context.disclosed = Set(pages.map(\.url.host)).map {
                SecretAccess(.script, jar: jar.name, site: $0.description)
            }
            return try ScriptReport(
                of: jar, for: pages, writing: writing, verification: verification, now: context.now)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CaptureScriptReport {
    /// The script that reports what pages do to cookies.
    package static var captureScript: Self {
        Self(.captureScript) { input, context in
            guard let text = try input.query.one("handler") else {
                throw OperationError(.parameterMissing, "handler: name the message handler")
            }
            let handler = try MessageHandlerName(text, of: "handler")
            _ = try context.jar(named: input.jar)
            return CaptureScriptReport(CaptureScript(handler: handler), handler: handler)
        }
    }
}

extension ScriptDocument {
    /// How many pages a script of the service serves: the answer has all cookies of each page's site.
    fileprivate static let pageLimit = 1000

    /// The pages, for their scripts.
    ///
    /// - Parameter limit: How many pages there may be.
    fileprivate func pages(atMost limit: Int) throws(OperationError) -> [RequestContext] {
        let urls = members.urls
        guard !urls.isEmpty, urls.count <= limit else { throw .bodyInvalid("urls: name 1 to \(limit) pages") }
        var pages: [RequestContext] = []
        for (index, url) in urls.enumerated() {
            pages.append(try details.requestContext(for: url, member: "urls.[\(index)]", .script))
        }
        return pages
    }

    /// How the script reports the outcome of each cookie.
    fileprivate func verification() throws(OperationError) -> InjectionScript.Verification {
        guard let handler = members.handler else { return members.verify == true ? .value : .none }
        return .message(try MessageHandlerName(handler, of: "handler"))
    }
}

extension MessageHandlerName {
    /// The name that a caller wrote.
    fileprivate init(_ text: String, of member: String) throws(OperationError) {
        guard let name = MessageHandlerName(text) else {
            throw .parameterInvalid(
                member,
                "the name of a handler has up to \(MessageHandlerName.limit) letters, digits, _ and $, and does "
                    + "not begin with a digit")
        }
        self = name
    }
}
