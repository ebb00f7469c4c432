package import CookieModel
import Crypto
package import WebPrimitives

/// Whom a stored response is for, beside its jar: the requests that carry the same cookies and credentials.
///
/// A response for one audience never answers a request of another.
package struct CacheAudience: Sendable, Hashable {
    package let octets: Octets

    /// The audience of a request.
    ///
    /// - Parameters:
    ///   - verdict: Which of the jar's cookies the request carries; `nil` if the jar alone decides that.
    ///   - login: A name of the credential that a login adds, such as that of its account; `nil` if none does.
    ///   - brought: What the client itself brings: the values of its Authorization field, and of a Cookie field that
    ///     neither the jar nor a witness vouches for.
    package init(_ verdict: EngineVerdict?, login: Octets? = nil, brought: [Octets] = []) {
        var octets: [UInt8] = []
        if let verdict { octets += String(verdict.classes.rawValue).utf8 } else { octets += "jar".utf8 }
        octets.append(ASCII.lineFeed)
        if let login { octets += "login \(Hexadecimal.text(SHA256.hash(data: login.bytes)))".utf8 }
        octets.append(ASCII.lineFeed)
        for (index, value) in brought.enumerated() {
            if index > 0 { octets.append(ASCII.space) }
            octets += Hexadecimal.text(SHA256.hash(data: value.bytes)).utf8
        }
        octets.append(ASCII.lineFeed)
        if let partition = verdict?.partition { octets += partition.serialized.utf8 }
        self.octets = Octets(octets)
    }

    /// How the audience of a program begins: the jar alone decides which cookies its requests carry.
    private static let programs: Octets = "jar\n"

    /// Whether an audience is one of programs.
    package static func isOfPrograms(_ audience: Octets) -> Bool { audience.starts(with: programs) }
}
