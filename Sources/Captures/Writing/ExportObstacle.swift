import WebPrimitives

/// Why a format cannot hold a cookie at all, so that it is left out: written in another form it would be another cookie.
public enum ExportObstacle: String, Sendable, CaseIterable, Hashable {
    /// It has no name.
    case nameless
    /// Its name, value or path has octets that end the field, or that readers take away.
    case octets = "octets-not-held"
    /// Its name, value or path is not UTF-8, which a JSON document is.
    case notText = "not-text"
    /// Its domain is no host, or its path does not begin with a slash.
    case scope = "scope-invalid"
    /// It is longer than readers accept.
    case tooLong = "too-long"
    /// It belongs to pages of another site, and would be sent on its own site's pages.
    case partition = "partition-not-held"
    /// It belongs to another host than the file is for.
    case otherHost = "other-host"

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .nameless: "it has no name, and readers of the format would make one of its value"
        case .octets: "its name, value or path has octets that the format has no way to write"
        case .notText: "its name, value or path is not UTF-8, which the format demands"
        case .scope: "its domain is not a host name, or its path does not begin with a slash"
        case .tooLong: "it is longer than readers of the format accept"
        case .partition: "it is partitioned and belongs to the pages of another site"
        case .otherHost: "it belongs to another host than the URL's"
        }
    }
}
