public import CookieModel
internal import Crypto
internal import OAuth2
internal import WebPrimitives

/// What is known of an access token of the service. The token itself is known to its bearer alone.
public struct ServiceToken: Sendable, Hashable {
    /// Its number, which no other token of the database ever has.
    package let id: Int64
    /// Its name, which stands in the audit log.
    public let name: String
    /// What its bearer may do.
    public let grant: AccessGrant
    /// When it was made.
    public let creation: Timestamp
    /// When it ends; `nil` for never.
    public let expiry: Timestamp?
    /// When it was revoked; `nil` where it was not.
    public let revocation: Timestamp?
    /// When it was used last, to about an hour; `nil` where it never was.
    public let lastUse: Timestamp?

    /// Whether it opens anything at a moment.
    public func isValid(at now: Timestamp) -> Bool {
        revocation == nil && expiry.map { now < $0 } ?? true
    }
}

/// What a caller of the service may do, and with which jars.
public struct AccessGrant: Sendable, Hashable {
    /// The jars that a grant is for.
    public enum Jars: Sendable, Hashable {
        /// All there are and will be. Only such a grant sees the tokens, makes jars and manages access.
        case all
        /// Those of these names, whether they exist or not.
        case named(Set<String>)
    }

    /// What may be done.
    public var verbs: Set<AccessVerb>
    /// The jars with which it may be done.
    public var jars: Jars

    /// A grant of verbs for jars.
    public init(verbs: Set<AccessVerb>, jars: Jars = .all) {
        self.verbs = verbs
        self.jars = jars
    }

    /// Everything, for the owner.
    public static let everything = AccessGrant(verbs: Set(AccessVerb.allCases))

    /// Whether the jar may be known to be there at all.
    public func covers(jar name: String) -> Bool {
        switch jars {
        case .all: true
        case .named(let names): names.contains(name)
        }
    }

    /// The names of the only jars that the grant is for; `nil` for all jars.
    package var jarNames: Set<String>? {
        switch jars {
        case .all: nil
        case .named(let names): names
        }
    }

    /// Whether the grant is for what belongs to no jar.
    public var coversAll: Bool { jars == .all }
}

/// What a caller of the service may do with a jar, or with tokens.
public enum AccessVerb: String, Sendable, Hashable, CaseIterable, Codable {
    /// Read everything but values: names, flags, lifetimes, decisions.
    case read
    /// Change stored data.
    case write
    /// Get what a session consists of: values, Cookie headers, scripts, exports, access tokens.
    case secrets
}

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

/// The SHA-256 of an access token: what the database has of it, and what it is looked up by.
///
/// How long a look-up takes says nothing of a token. What a guess has in common with a digest is chance, since nobody
/// can choose the digest of a guess; and two digests are compared to their ends all the same.
struct ServiceTokenDigest: Hashable, Sendable {
    let bytes: [UInt8]

    static func == (one: ServiceTokenDigest, other: ServiceTokenDigest) -> Bool {
        one.bytes.count == other.bytes.count && areEqual(one.bytes, other.bytes)
    }

    /// Whether octets, as many here as there, are the same. Looks at all of them, wherever they differ.
    static func areEqual(_ some: some Sequence<UInt8>, _ others: some Sequence<UInt8>) -> Bool {
        var difference: UInt8 = 0
        for (one, other) in zip(some, others) { difference |= one ^ other }
        return difference == 0
    }
}
