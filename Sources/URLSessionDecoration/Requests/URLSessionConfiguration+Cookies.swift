#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionConfiguration {
    /// This configuration without cookies of Foundation's own, which would otherwise take the place of the jar's on Linux
    /// and be stored a second time, in the open.
    public var withoutClientCookies: URLSessionConfiguration {
        guard let configuration = copy() as? URLSessionConfiguration else { return self }
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        return configuration
    }
}
