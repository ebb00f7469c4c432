import CookieModel
public import RequestDecoration

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension ResponseHead {
    /// The head of a response. Foundation joins all Set-Cookie fields into one text, which is cut apart again; where
    /// that can be done in two ways, ``doubts`` says so.
    public init(_ response: HTTPURLResponse) {
        let location = response.value(forHTTPHeaderField: "Location").map(HeaderText.octets(received:))
        self.init(status: response.statusCode, location: location.flatMap { $0.isEmpty ? nil : $0 })
        guard let joined = response.value(forHTTPHeaderField: "Set-Cookie") else { return }
        let lines = JoinedSetCookie(HeaderText.octets(received: joined))
        setCookie = lines.lines
        doubts = lines.doubts
    }
}
