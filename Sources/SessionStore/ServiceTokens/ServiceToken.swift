package import CookieModel
internal import Crypto
internal import OAuth2
internal import WebPrimitives

/// The properties of an access token of the service. Only its bearer knows the token itself.
package struct ServiceToken: Sendable, Hashable {
    /// Its number, which is unique in the database and never used again.
    package let id: Int64
    /// Its name, which appears in the audit log.
    package let name: String
    /// The rights of its bearer.
    package let grant: AccessGrant
    /// When it was created.
    package let creation: Timestamp
    /// When it ends; `nil` for never.
    package let expiry: Timestamp?
    /// When it was revoked; `nil` if it was not.
    package let revocation: Timestamp?
    /// When it was last used, to about an hour; `nil` if it was never used.
    package let lastUse: Timestamp?

    /// Whether it is valid at a time.
    package func isValid(at now: Timestamp) -> Bool {
        revocation == nil && expiry.map { now < $0 } ?? true
    }
}

/// The rights of a caller of the service, and the jars that they apply to.
package struct AccessGrant: Sendable, Hashable {
    /// The jars that a grant is for.
    package enum Jars: Sendable, Hashable {
        /// All present and future jars. Only such a grant permits access to the tokens, to the creation of jars and to
        /// the management of access.
        case all
        /// The jars with these names, whether they exist or not.
        case named(Set<String>)
    }

    /// The permitted operations.
    package var verbs: Set<AccessVerb>
    /// The jars on which the operations are permitted.
    package var jars: Jars

    /// Creates a grant of verbs for jars.
    package init(verbs: Set<AccessVerb>, jars: Jars = .all) {
        self.verbs = verbs
        self.jars = jars
    }

    /// All operations on all jars, for the owner.
    package static let everything = AccessGrant(verbs: Set(AccessVerb.allCases))

    /// Whether the caller may know that the jar exists.
    package func covers(jar name: String) -> Bool {
        switch jars {
        case .all: true
        // A member that is equal (`==`) may be a different name.
        case .named(let names): names.firstIndex(of: name).map { names[$0].isSameName(as: name) } ?? false
        }
    }

    /// The names of the jars of the grant; `nil` for all jars.
    package var jarNames: Set<String>? {
        switch jars {
        case .all: nil
        case .named(let names): names
        }
    }

    /// Whether the grant covers all jars, and resources that belong to no single jar.
    package var coversAll: Bool { jars == .all }
}

/// An operation of a caller of the service on a jar, or on tokens.
package enum AccessVerb: String, Sendable, Hashable, CaseIterable, Codable {
    /// Read everything but values: names, flags, lifetimes, decisions.
    case read
    /// Change stored data.
    case write
    /// Get the secrets of a session: values, Cookie headers, scripts, exports, access tokens.
    case secrets
}

/// An access token of the service in its bearer's form: `crumb_` and 256 random bits, in base64url.
///
/// The prefix lets tools that look for leaked secrets find it.
enum ServiceTokenText {
    private static let prefix = Array("crumb_".utf8)
    private static let byteCount = 32
    /// The number of characters of 256 bits in base64url.
    private static let digitCount = 43

    /// Creates a token.
    static func random(using generator: inout some RandomNumberGenerator) -> Secret {
        randomWithDigest(using: &generator).token
    }

    /// Creates a token, with its SHA-256.
    static func randomWithDigest(
        using generator: inout some RandomNumberGenerator
    ) -> (token: Secret, digest: ServiceTokenDigest) {
        let text = prefix + Base64.randomForURL(byteCount: byteCount, using: &generator)
        return (Secret(text), text.withUnsafeBytes { ServiceTokenDigest(of: $0) })
    }

    /// Returns the SHA-256 of a token; `nil` for text that is not a token.
    ///
    /// The token is as random as a key, so a fast hash does not help in guessing it.
    static func digest(_ token: Secret) -> ServiceTokenDigest? {
        token.withExposed { span in
            span.withUnsafeBufferPointer { bytes in
                guard bytes.count == prefix.count + digitCount, bytes.starts(with: prefix) else { return nil }
                return ServiceTokenDigest(of: UnsafeRawBufferPointer(bytes))
            }
        }
    }
}

/// The SHA-256 of an access token, by which the database stores it and looks it up.
///
/// The time of a look-up reveals nothing about a token. Any common prefix of a guess's digest and a stored one is
/// chance, since a guess cannot be chosen by its digest; even so, digests are always compared completely.
struct ServiceTokenDigest: Hashable, Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The digest of the octets of a token.
    fileprivate init(of token: UnsafeRawBufferPointer) {
        bytes = Array(SHA256.hash(data: token))
    }

    static func == (one: ServiceTokenDigest, other: ServiceTokenDigest) -> Bool {
        one.bytes.count == other.bytes.count && areEqual(one.bytes, other.bytes)
    }

    /// Whether two sequences of octets with the same length are equal. Compares all of them, wherever they differ.
    static func areEqual(_ some: some Sequence<UInt8>, _ others: some Sequence<UInt8>) -> Bool {
        var difference: UInt8 = 0
        for (one, other) in zip(some, others) { difference |= one ^ other }
        return difference == 0
    }
}
