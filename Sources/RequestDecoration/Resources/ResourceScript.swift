package import CookieModel

/// JavaScript that lets the pages of some origins load their resources through a scheme handler of the app, and so from
/// the jar's cache.
///
/// Run it at document start in all frames, in the page's own content world. It acts in the page in the address bar, and
/// in its frames of the same origin, if that is one of its pages. Elsewhere it does nothing, and cannot be read.
///
/// It rewrites what scripts load: elements, `fetch`, `XMLHttpRequest`, and URLs in styles. What the engine is already
/// loading when the script sees it stays; if that fails, it is loaded through the handler. What the handler or the page's
/// policy refuses is loaded by the engine.
public struct ResourceScript: Sendable {
    /// What is loaded through the handler.
    public struct Kinds: OptionSet, Sendable, Hashable {
        /// The kinds as bits.
        public let rawValue: UInt8

        /// Creates kinds from their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Images of `<img>`, those of `srcset` among them.
        public static let images = Kinds(rawValue: 1 << 0)
        /// Scripts that are no modules.
        public static let scripts = Kinds(rawValue: 1 << 1)
        /// Style sheets of the page's own origin, and the URLs in styles.
        public static let styles = Kinds(rawValue: 1 << 2)
        /// GET requests of `fetch` and `XMLHttpRequest` to the page's own origin.
        public static let requests = Kinds(rawValue: 1 << 3)
        /// Module scripts that scripts insert, with all that they import, `import()` included.
        ///
        /// A module that the page has loaded before is then loaded, and runs, a second time.
        public static let modules = Kinds(rawValue: 1 << 4)

        /// Everything but modules, for an engine in which the schemes are registered as secure and with CORS.
        public static let standard: Kinds = [.images, .scripts, .styles, .requests]
        /// What a page over https loads from schemes that are not registered as secure, as with `WKWebView`.
        public static let insecure: Kinds = [.images]

        fileprivate static let names: [(kind: Kinds, name: String)] = [
            (.images, "images"), (.scripts, "scripts"), (.styles, "styles"), (.requests, "requests"),
            (.modules, "modules"),
        ]
    }

    /// The schemes of the web view.
    package let scheme: ResourceScheme
    /// The pages whose origins may use the handler.
    package let pages: [RequestURL]
    /// What is loaded through the handler.
    package let kinds: Kinds
    /// The script.
    public let source: String

    /// Creates the script for pages of some origins.
    package init(_ scheme: ResourceScheme, for pages: [RequestURL], kinds: Kinds = .standard) {
        self.scheme = scheme
        self.pages = pages
        self.kinds = kinds
        source = ResourceScript.source(scheme, pages, kinds)
    }

    /// Whether pages of the origin of `page` may use the handler.
    package func isFor(_ page: RequestURL) -> Bool {
        pages.contains { $0.isSameOrigin(as: page) }
    }
}

extension ResourceScript {
    private static let template = ScriptTemplate(PackageResources.ResourceScript_js)

    private static func source(_ scheme: ResourceScheme, _ pages: [RequestURL], _ kinds: Kinds) -> String {
        var parameters = JavaScript()
        parameters.write("var prefix = \(JavaScript.stringLiteral(scheme.prefix)), kinds = { ")
        parameters.write(Kinds.names.map { "\($0.name): \(kinds.contains($0.kind))" }.joined(separator: ", "))
        parameters.write(" };")
        var condition = JavaScript()
        condition.write("function isPage(protocol, host) { return false")
        for page in pages {
            condition.write(" || protocol === ")
            condition.writeLiteral(Octets("\(page.scheme.name):"))
            condition.write(" && host === ")
            condition.writeLiteral(Octets(String(page.origin.dropFirst(page.scheme.name.count + 3))))
        }
        condition.write("; }")
        return template.source(["parameters": parameters.octets, "pages": condition.octets])
    }
}
