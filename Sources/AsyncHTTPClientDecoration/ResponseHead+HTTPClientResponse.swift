public import AsyncHTTPClient
internal import CookieModel
import NIOHTTP1
public import RequestDecoration

extension ResponseHead {
    /// The head of a response. The client decodes fields as UTF-8 and replaces what is not: a Set-Cookie field in which
    /// it did is left out, and ``doubts`` says so.
    public init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code), location: response.headers["Location"].first { !$0.isEmpty },
            decodedSetCookie: response.headers["Set-Cookie"])
        proofNonce = response.headers.first(name: ResponseHead.proofNonceFieldName)
        authenticate = response.headers["WWW-Authenticate"].map { Octets($0) }
    }
}
