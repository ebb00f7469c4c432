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
        // Foundation joins several challenges with commas, which is what they may be joined with (RFC 9110, section 5.3).
        authenticate =
            response.value(forHTTPHeaderField: "WWW-Authenticate").map { [HeaderText.octets(received: $0)] } ?? []
        proofNonce = response.value(forHTTPHeaderField: ResponseHead.proofNonceFieldName)
        guard let joined = response.value(forHTTPHeaderField: "Set-Cookie") else { return }
        let lines = JoinedSetCookie(HeaderText.octets(received: joined))
        setCookie = lines.lines
        doubts = lines.doubts
    }
}
