public import WebPrimitives

/// A cookie from another program's store: without a response line or request URL, and not yet validated.
///
/// Cookie files and browser databases contain records. ``CookieStore/receive(_:now:)-(CookieRecord,_)`` checks a
/// record against the rules for responses, as far as a record has the data that they need.
public struct CookieRecord: Sendable, Hashable {
    /// The cookie's name, possibly empty.
    public var name: Octets
    /// The cookie's value, possibly empty.
    public var value: Octets
    /// The host or domain as the store writes it, without the leading dot that marks domain cookies in some stores.
    public var domain: String
    /// Whether only the exact host gets the cookie.
    public var isHostOnly: Bool
    /// The cookie's path, beginning with `/`.
    public var path: Octets
    /// Whether only secure connections get the cookie, and whether it is hidden from scripts.
    public var attributes: CookieAttributes
    /// The same-site-flag; `default` if the store does not have it.
    public var sameSite: SameSite
    /// The expiry; `nil` for a session cookie.
    public var expiry: Timestamp?
    /// When the cookie was first set, if the store has this.
    public var creation: Timestamp?
    /// When the cookie was last sent or set, if the store has this.
    public var lastAccess: Timestamp?
    /// The partition; `nil` for an unpartitioned cookie, or if the store does not have it.
    public var partitionKey: PartitionKey?
    /// The properties that the store has no place for: those of a stored cookie that is the same one stay as they are.
    package var unstated: CookieProperties = []
    /// The attributes that the cookie's twins state (``CookieTwins``), for the properties that the record leaves open.
    package var twins = CookieProtection()
    /// The request that told of the cookie; `nil` for one of a store.
    package var request: CookieRequest?

    /// Creates a record with the fields that every store has. Set the others afterwards.
    public init(
        name: Octets, value: Octets, domain: String, isHostOnly: Bool, path: Octets = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite = .default, expiry: Timestamp? = nil, creation: Timestamp? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        attributes = CookieAttributes(isSecure: isSecure, isHTTPOnly: isHTTPOnly)
        self.sameSite = sameSite
        self.expiry = expiry
        self.creation = creation
    }

    /// Whether only secure connections get the cookie.
    public var isSecure: Bool {
        get { attributes[.secure] }
        set { attributes[.secure] = newValue }
    }

    /// Whether the cookie is hidden from scripts.
    public var isHTTPOnly: Bool {
        get { attributes[.httpOnly] }
        set { attributes[.httpOnly] = newValue }
    }
}

/// The request that told of a cookie which no response set, as far as is known.
///
/// Such cookies make way for those that were set: they are the first to be evicted.
package final class CookieRequest: Sendable, Hashable {
    /// When the request was made.
    package let time: Timestamp
    /// The path of its URL.
    package let path: Octets

    package init(time: Timestamp, path: Octets) {
        (self.time, self.path) = (time, path)
    }

    package static func == (left: CookieRequest, right: CookieRequest) -> Bool {
        left.time == right.time && left.path == right.path
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(time)
        hasher.combine(path)
    }
}

/// Properties of a cookie that another program's store may leave open.
package struct CookieProperties: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The properties that are attributes.
    package init(_ attributes: CookieAttributes) {
        rawValue = UInt16(attributes.rawValue)
    }

    /// The attributes among the properties.
    package var attributes: CookieAttributes { CookieAttributes(rawValue: UInt8(truncatingIfNeeded: rawValue)) }

    package static let secure = CookieProperties(.secure)
    package static let httpOnly = CookieProperties(.httpOnly)
    package static let hostOnly = CookieProperties(rawValue: 1 << 8)
    package static let sameSite = CookieProperties(rawValue: 2 << 8)
    /// That there was no SameSite attribute: some stores name the browser's default instead.
    package static let noSameSite = CookieProperties(rawValue: 4 << 8)
    package static let exactExpiry = CookieProperties(rawValue: 8 << 8)
    package static let partition = CookieProperties(rawValue: 16 << 8)
    /// The properties of a ``CookieProtection``.
    package static let protection: CookieProperties = [.secure, .httpOnly, .sameSite]
}

/// The properties that keep a cookie from scripts, unencrypted connections and other sites, as far as they are known.
package struct CookieProtection: Sendable, Hashable {
    package var attributes: CookieAttributes = []
    /// `default` if nothing is known.
    package var sameSite = SameSite.default

    /// Adds the attributes that protect more.
    package mutating func formUnion(_ other: CookieProtection) {
        attributes.formUnion(other.attributes)
        if other.sameSite.rawValue > sameSite.rawValue { sameSite = other.sameSite }
    }
}

extension CookieRecord {
    /// Whether the record leaves a property of a ``CookieProtection`` open.
    package var leavesProtectionOpen: Bool { !unstated.isDisjoint(with: .protection) }

    /// The protective attributes that the record states.
    package var protection: CookieProtection {
        CookieProtection(attributes: attributes, sameSite: sameSite)
    }

    /// Completes the properties that the record leaves open, from the stored cookie that it corresponds to, if there is
    /// one, and from its twins if these protect more.
    ///
    /// - Returns: the properties that differ from what the record would have been without them.
    package mutating func complete(from stored: Cookie?) -> CookieProperties {
        let leavesSameSiteOpen = sameSite == .default && unstated.contains(.sameSite)
        var kept = stored.map { takeOver($0) } ?? []
        kept.formUnion(takeOver(twins.attributes))
        // `None` protects less than a stored cookie without the attribute, and needs Secure.
        if leavesSameSiteOpen, twins.sameSite.rawValue > sameSite.rawValue,
            twins.sameSite != .none || isSecure && stored == nil
        {
            sameSite = twins.sameSite
            kept.insert(.sameSite)
        }
        return kept
    }

    /// The value does not matter: a tool that rewrote a renewed session knows no more about its flags than one that
    /// copied it.
    private mutating func takeOver(_ stored: Cookie) -> CookieProperties {
        var kept: CookieProperties = []
        if unstated.contains(.hostOnly), isHostOnly != stored.isHostOnly {
            isHostOnly = stored.isHostOnly
            kept.insert(.hostOnly)
        }
        if unstated.contains(.partition), partitionKey == nil, let key = stored.id.partitionKey {
            partitionKey = key
            kept.insert(.partition)
        }
        kept.formUnion(takeOver(stored.attributes))
        // SameSite=None needs Secure, which the store may know to be gone.
        if leavesSameSiteOpen(storedAs: stored.sameSite), sameSite != stored.sameSite,
            stored.sameSite != .none || isSecure
        {
            sameSite = stored.sameSite
            kept.insert(.sameSite)
        }
        if unstated.contains(.exactExpiry), let end = expiry, let storedEnd = stored.expiry, end != storedEnd,
            end == Timestamp(seconds: storedEnd.seconds)
        {
            expiry = storedEnd
            kept.insert(.exactExpiry)
        }
        return kept
    }

    /// Adds the attributes that the record leaves open.
    ///
    /// - Returns: those that it had not got.
    private mutating func takeOver(_ known: CookieAttributes) -> CookieProperties {
        let added = known.intersection(unstated.attributes).subtracting(attributes)
        attributes.formUnion(added)
        return CookieProperties(added)
    }

    private func leavesSameSiteOpen(storedAs stored: SameSite) -> Bool {
        if sameSite == .default { return unstated.contains(.sameSite) }
        return stored == .default && unstated.contains(.noSameSite)
    }
}

extension CookieRecord {
    /// Creates a record of a cookie. It lacks only the cookie's place in the order of creation.
    public init(_ cookie: Cookie) {
        self.init(
            name: cookie.name, value: cookie.value, domain: cookie.domain.description, isHostOnly: cookie.isHostOnly,
            path: cookie.path, sameSite: cookie.sameSite, expiry: cookie.expiry, creation: cookie.creation)
        attributes = cookie.attributes
        lastAccess = cookie.lastAccess
        partitionKey = cookie.id.partitionKey
    }

    /// The octets of this cookie in a Cookie field; see ``Cookie/pair``.
    package var pair: Octets { Octets.pair(name, value) }
}

extension CookieRecord {
    /// The field value that sets the cookie if its own host sends it over a secure connection (section 4.1 of
    /// the draft, and CHIPS).
    package var setCookieLine: [UInt8] {
        var line = name.bytes + [ASCII.equals] + value.bytes
        if !isHostOnly { line += "; Domain=\(domain)".utf8 }
        line += "; Path=".utf8
        line += path
        if let expiry { line += "; Expires=\(expiry.httpDate)".utf8 }
        if isSecure { line += "; Secure".utf8 }
        if isHTTPOnly { line += "; HttpOnly".utf8 }
        if let sameSite = sameSite.attributeValue { line += "; SameSite=\(sameSite)".utf8 }
        if partitionKey != nil { line += "; Partitioned".utf8 }
        return line
    }

    /// The set-cookie-string by which a script stores a cookie, or deletes it; `nil` if no such string can express the
    /// cookie.
    package static func scriptLine(
        name: Octets, value: Octets, path: Octets, domain: Octets?, expiry: Timestamp?, isSecure: Bool,
        sameSite: SameSite, isPartitioned: Bool, deleting: Bool
    ) -> Octets? {
        func breaksOut(_ text: Octets) -> Bool {
            text.contains { $0 == ASCII.semicolon || $0 < ASCII.space || $0 == 0x7F }
        }
        guard path.first == ASCII.slash, !name.contains(ASCII.equals),
            ![name, value, path, domain ?? []].contains(where: breaksOut)
        else { return nil }
        var line = name.bytes + [ASCII.equals] + value.bytes + "; Path=".utf8 + path.bytes
        if let domain { line += "; Domain=".utf8 + domain.bytes }
        if deleting {
            line += "; Max-Age=0".utf8
        } else if let expiry {
            line += "; Expires=\(expiry.httpDate)".utf8
        }
        if isSecure { line += "; Secure".utf8 }
        if let sameSite = sameSite.attributeValue { line += "; SameSite=\(sameSite)".utf8 }
        if isPartitioned { line += "; Partitioned".utf8 }
        return Octets(line)
    }
}
