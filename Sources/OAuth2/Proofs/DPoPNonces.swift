internal import Synchronization

/// The nonces that servers want in proofs: the last one of each (RFC 9449, sections 8 and 9). Any number of requests
/// may share them.
public final class DPoPNonces: Sendable {
    /// How many origins are remembered: who forgets asks once more than needed.
    private static let limit = 256

    private let nonces = Mutex<[String: String]>([:])

    /// Nonces of no server yet.
    public init() {}

    /// The last nonce of an origin; `nil` where it gave none.
    ///
    /// - Parameter origin: Scheme, host and port, such as `https://api.example`.
    public func nonce(for origin: String) -> String? {
        nonces.withLock { $0[origin] }
    }

    /// Takes the value of a `DPoP-Nonce` field. One that is no nonce is left alone.
    public func remember(_ nonce: String, for origin: String) {
        guard DPoPNonces.isNonce(nonce) else { return }
        nonces.withLock { nonces in
            if nonces.count >= DPoPNonces.limit, nonces[origin] == nil { nonces = [:] }
            nonces[origin] = nonce
        }
    }

    /// Section 8.1: `1*NQCHAR`. What is longer than any server's goes into no request.
    package static func isNonce(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}
