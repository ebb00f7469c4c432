public import CookieModel
import Crypto
public import WebPrimitives

/// Whom a stored response is for, beside its jar: the requests that carry the same cookies and credentials.
///
/// A response for one audience never answers a request of another.
public struct CacheAudience: Sendable, Hashable {
    let octets: Octets

    /// The audience of a request.
    ///
    /// - Parameters:
    ///   - verdict: Which of the jar's cookies the request carries; `nil` if the jar alone decides that.
    ///   - hasLogin: Whether a login adds a credential.
    ///   - brought: What the client itself brings: the values of its Authorization field, and of a Cookie field that
    ///     neither the jar nor a witness vouches for.
    public init(_ verdict: EngineVerdict?, hasLogin: Bool = false, brought: [Octets] = []) {
        var octets: [UInt8] = []
        if let verdict { octets += String(verdict.classes.rawValue).utf8 } else { octets += "jar".utf8 }
        octets.append(ASCII.lineFeed)
        if hasLogin { octets += "login".utf8 }
        octets.append(ASCII.lineFeed)
        for (index, value) in brought.enumerated() {
            if index > 0 { octets.append(ASCII.space) }
            octets += Hexadecimal.text(SHA256.hash(data: value.bytes)).utf8
        }
        octets.append(ASCII.lineFeed)
        if let partition = verdict?.partition { octets += partition.serialized.utf8 }
        self.octets = Octets(octets)
    }
}
