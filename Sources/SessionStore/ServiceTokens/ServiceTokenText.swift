internal import Crypto
internal import OAuth2
internal import WebPrimitives

/// An access token of the service as its bearer has it: `crumb_` and 256 random bits, in base64url.
///
/// The prefix lets tools that look for leaked secrets find it.
enum ServiceTokenText {
    private static let prefix = Array("crumb_".utf8)
    private static let byteCount = 32
    /// How many characters 256 bits have in base64url.
    private static let digitCount = 43

    /// A new token.
    static func random(using generator: inout some RandomNumberGenerator) -> Secret {
        Secret(prefix + Base64.randomForURL(byteCount: byteCount, using: &generator))
    }

    /// The SHA-256 of a token; `nil` for what is none.
    ///
    /// The token is as random as a key, so that a hash that is quick to compute is no help in guessing it.
    static func digest(_ token: Secret) -> ServiceTokenDigest? {
        token.withExposed { span in
            span.withUnsafeBufferPointer { bytes in
                guard bytes.count == prefix.count + digitCount, bytes.starts(with: prefix) else { return nil }
                return ServiceTokenDigest(bytes: Array(SHA256.hash(data: UnsafeRawBufferPointer(bytes))))
            }
        }
    }
}
