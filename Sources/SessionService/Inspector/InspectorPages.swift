import Foundation
import Mustache
import WebPages

/// The inspector's pages: templates that are embedded in the library.
struct InspectorPages: Sendable {
    private let library: MustacheLibrary

    /// - Parameter base: the prefix of all paths, behind a proxy: empty, or as in `/crumb`.
    init(base: String = "") throws {
        var library = MustacheLibrary()
        let templates: [(String, [UInt8])] = [
            ("top", PackageResources.top_mustache), ("bottom", PackageResources.bottom_mustache),
            ("sign-in", PackageResources.sign_in_mustache), ("problem", PackageResources.problem_mustache),
            ("foreign-link", PackageResources.foreign_link_mustache),
            ("overview", PackageResources.overview_mustache), ("lifetime", PackageResources.lifetime_mustache),
            ("moment", PackageResources.moment_mustache),
            ("cache", PackageResources.cache_mustache), ("cookie", PackageResources.cookie_mustache),
            ("jar", PackageResources.jar_mustache),
            ("value", PackageResources.value_mustache), ("gateway", PackageResources.gateway_mustache),
        ]
        for (name, bytes) in templates {
            let text = String(decoding: bytes, as: UTF8.self).replacing("{{base}}", with: base)
            try library.register(text, named: name)
        }
        self.library = library
    }

    /// The style sheet: the style of all pages of Crumb, and the rules for tables and forms.
    static let style = Array(MessagePage.style.utf8) + PackageResources.inspector_css

    /// Renders the page of a view. The template escapes the view's values.
    func render(_ view: some InspectorView) -> String {
        library.render(view, withTemplate: type(of: view).template) ?? ""
    }
}

/// The content of a page: its stored properties are the names in the template.
protocol InspectorView {
    static var template: String { get }
}

/// The paths of the inspector's pages, without the prefix that a proxy adds.
enum InspectorPath {
    static let signIn = "/sign-in"

    /// Returns the address of a page of the overview.
    ///
    /// - Parameters:
    ///   - search: a part of the jars' names; empty for any name.
    ///   - name: the last jar of the page before; `nil` for the first page.
    static func overview(search: String = "", after name: String? = nil) -> String {
        let items = [("name", search.isEmpty ? nil : search), ("after", name)].compactMap { key, value in
            value.map { "\(key)=\(encoded($0))" }
        }
        return items.isEmpty ? "/" : "/?\(items.joined(separator: "&"))"
    }

    /// The page of a jar.
    static func jar(_ name: String) -> String {
        "/jars/\(encoded(name))"
    }

    /// The page of a jar's cache.
    ///
    /// - Parameters:
    ///   - url: The URL to explain; `nil` for none.
    ///   - cursor: The end of the page before; `nil` for the first page.
    static func cache(_ name: String, explaining url: String? = nil, after cursor: String? = nil) -> String {
        let items = [("url", url), ("after", cursor)].compactMap { key, value in
            value.map { "\(key)=\(encoded($0))" }
        }
        return "\(jar(name))/cache" + (items.isEmpty ? "" : "?\(items.joined(separator: "&"))")
    }

    /// The page of a gateway.
    static func gateway(_ name: String) -> String {
        "/gateways/\(encoded(name))"
    }

    /// A text as a part of a path or query.
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// A page to go back to: a path of this service alone, whatever a form says.
    static func local(_ path: String?) -> String {
        guard let path, path.hasPrefix("/"), !path.hasPrefix("//"), !path.contains("\\"),
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "/" }
        return path
    }

    /// Whether a request is for a page or a part of one, rather than for the API or the monitoring.
    static func contains(_ path: some StringProtocol) -> Bool {
        // As the router takes it apart.
        let first = path.split(separator: "/").first
        return first != "v1" && first != "metrics"
    }
}
