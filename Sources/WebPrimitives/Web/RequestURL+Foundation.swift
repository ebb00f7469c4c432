#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension RequestURL {
    /// The URL of a request, as Foundation has it.
    ///
    /// - Throws: ``RequestURLError`` if no request can go there, as for `mailto:`.
    public init(_ url: URL) throws(RequestURLError) {
        try self.init(url.absoluteString)
    }
}

extension URL {
    /// A request's URL for Foundation; `nil` if Foundation does not accept it.
    public init?(_ url: RequestURL) {
        self.init(string: url.description)
    }
}
