import Foundation

/// The paths of the inspector's pages.
enum InspectorPath {
    static let signIn = "/sign-in"

    /// The page of a jar.
    static func jar(_ name: String) -> String {
        "/jars/\(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
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
