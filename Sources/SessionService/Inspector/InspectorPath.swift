import WebPrimitives

/// The address of one of the inspector's pages: a path of this service, without the prefix that a proxy adds.
///
/// It begins with one slash, and the names in it are percent-encoded. So it is safe as a link: no name makes it lead to
/// another site or run a script.
struct InspectorPath: Sendable, CustomStringConvertible {
    let description: String

    private init(_ path: String, _ query: [(name: String, value: String?)] = []) {
        let items = query.compactMap { name, value in value.map { "\(name)=\(InspectorPath.encoded($0))" } }
        description = items.isEmpty ? path : "\(path)?\(items.joined(separator: "&"))"
    }

    static let styleSheet = InspectorPath("/inspector.css")
    static let script = InspectorPath("/inspector.js")
    static let signOut = InspectorPath("/sign-out")

    /// The page to sign in on.
    ///
    /// - Parameter page: The path and query of the page to go to afterwards; `nil` for none.
    static func signIn(to page: String? = nil) -> InspectorPath {
        InspectorPath("/sign-in", [("to", page)])
    }

    /// A page of the overview.
    ///
    /// - Parameters:
    ///   - search: a part of the jars' names; empty for any name.
    ///   - name: the last jar of the page before; `nil` for the first page.
    static func overview(search: String = "", after name: String? = nil) -> InspectorPath {
        InspectorPath("/", [("name", search.isEmpty ? nil : search), ("after", name)])
    }

    /// The page of a jar.
    static func jar(_ name: String) -> InspectorPath {
        InspectorPath("/jars/\(encoded(name))")
    }

    /// The stream of a jar's changes.
    ///
    /// - Parameter position: The last change that is known.
    static func changes(_ jar: String, after position: Int64) -> InspectorPath {
        InspectorPath("/jars/\(encoded(jar))/changes", [("after", String(position))])
    }

    /// Takes the form that requests the value of a cookie.
    static func reveal(_ jar: String) -> InspectorPath {
        InspectorPath("/jars/\(encoded(jar))/reveal")
    }

    /// The page of a jar's cache.
    ///
    /// - Parameters:
    ///   - url: The URL to explain; `nil` for none.
    ///   - cursor: The end of the page before; `nil` for the first page.
    static func cache(_ name: String, explaining url: String? = nil, after cursor: String? = nil) -> InspectorPath {
        InspectorPath("/jars/\(encoded(name))/cache", [("url", url), ("after", cursor)])
    }

    /// Takes the form that removes responses from a jar's cache.
    static func purge(_ jar: String) -> InspectorPath {
        InspectorPath("/jars/\(encoded(jar))/cache/purge")
    }

    /// The page of a gateway.
    static func gateway(_ name: String) -> InspectorPath {
        InspectorPath("/gateways/\(encoded(name))")
    }

    /// The stream of a gateway's requests and events.
    ///
    /// - Parameter position: The last one that is known.
    static func events(_ gateway: String, after position: Int64) -> InspectorPath {
        InspectorPath("/gateways/\(encoded(gateway))/events", [("after", String(position))])
    }

    /// A page to go back to: a path of this service alone, whatever a form says.
    static func local(_ path: String?) -> InspectorPath {
        guard let path, path.hasPrefix("/"), !path.hasPrefix("//"), !path.contains("\\"),
            path.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return overview() }
        return InspectorPath(path)
    }

    /// A text as a part of a path or query.
    static func encoded(_ text: String) -> String {
        String(decoding: PercentEncoding.encode(text.utf8), as: UTF8.self)
    }

    /// Whether a request is for a page or a part of one, rather than for the API or the monitoring.
    static func contains(_ path: some StringProtocol) -> Bool {
        // As the router takes it apart.
        let first = path.split(separator: "/").first
        return first != "v1" && first != "metrics"
    }
}
