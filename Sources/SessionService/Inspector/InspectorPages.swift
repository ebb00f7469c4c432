import Foundation
import Mustache

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
            ("cookie", PackageResources.cookie_mustache), ("jar", PackageResources.jar_mustache),
            ("value", PackageResources.value_mustache),
        ]
        for (name, bytes) in templates {
            let text = String(decoding: bytes, as: UTF8.self).replacing("{{base}}", with: base)
            try library.register(text, named: name)
        }
        self.library = library
    }

    /// The page of a view. What a view holds is escaped by the template.
    func render(_ view: some InspectorView) -> String {
        library.render(view, withTemplate: type(of: view).template) ?? ""
    }
}

/// What a page shows: its stored properties are the names in the template.
protocol InspectorView {
    static var template: String { get }
}
