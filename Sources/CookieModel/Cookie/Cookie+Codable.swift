import WebPrimitives

/// A cookie as one object: the members of Crumb's JSON lines (docs/formats.md), so that programs can read each other's
/// cookies. Everything that a ``CookieStore`` needs comes back.
///
/// The object contains the value in the clear. Keep it in a keychain or an encrypted file.
extension Cookie: Codable {
    private enum Member: String, CodingKey {
        case version = "crumb"
        case name, nameBase64, value, valueBase64, domain, hostOnly, path, pathBase64, secure, httpOnly, sameSite
        case expires, created, lastAccess, partitionKey, sequence, requested, requestPath, requestPathBase64
    }

    /// The version of the format.
    private static let formatVersion = 1

    /// Writes all fields.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(Cookie.formatVersion, forKey: .version)
        try members.encode(name, .name, .nameBase64)
        try members.encode(value, .value, .valueBase64)
        try members.encode(domain.description, forKey: .domain)
        try members.encode(isHostOnly, forKey: .hostOnly)
        try members.encode(path, .path, .pathBase64)
        try members.encode(isSecure, forKey: .secure)
        try members.encode(isHTTPOnly, forKey: .httpOnly)
        try members.encodeIfPresent(sameSite.attributeValue, forKey: .sameSite)
        try members.encodeIfPresent(expiry?.serialized, forKey: .expires)
        try members.encode(creation.serialized, forKey: .created)
        try members.encode(lastAccess.serialized, forKey: .lastAccess)
        try members.encodeIfPresent(id.partitionKey?.serialized, forKey: .partitionKey)
        try members.encode(sequence, forKey: .sequence)
        guard let request else { return }
        try members.encode(request.time.serialized, forKey: .requested)
        try members.encode(request.path, .requestPath, .requestPathBase64)
    }

    /// Reads what ``encode(to:)`` writes. Ignores members that it does not know.
    ///
    /// - Throws: `DecodingError` for a missing or invalid member, and for a later version of the format.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        guard try members.decode(Int.self, forKey: .version) == Cookie.formatVersion else {
            throw members.invalid(.version, "a later version of the format")
        }
        guard let domain = WebHost(try members.decode(String.self, forKey: .domain)) else {
            throw members.invalid(.domain, "not a host name or IP address")
        }
        let sameSite = try members.decodeIfPresent(String.self, forKey: .sameSite)
        guard let sameSite = SameSite.allCases.first(where: { $0.attributeValue == sameSite }) else {
            throw members.invalid(.sameSite, "not None, Lax or Strict")
        }
        let creation = try members.moment(.created)
        let sequence = try members.decodeIfPresent(Int64.self, forKey: .sequence) ?? 0
        guard Cookie.sequences.contains(sequence) else { throw members.invalid(.sequence, "out of range") }
        self.init(
            id: ID(
                name: try members.octets(.name, .nameBase64), domain: domain,
                isHostOnly: try members.decode(Bool.self, forKey: .hostOnly),
                path: try members.octets(.path, .pathBase64),
                partitionKey: try members.decodeIfPresent(String.self, forKey: .partitionKey)
                    .flatMap(PartitionKey.init(serialized:))),
            value: try members.octets(.value, .valueBase64),
            isSecure: try members.decode(Bool.self, forKey: .secure),
            isHTTPOnly: try members.decode(Bool.self, forKey: .httpOnly), sameSite: sameSite,
            expiry: members.contains(.expires) ? try members.moment(.expires) : nil, creation: creation,
            lastAccess: members.contains(.lastAccess) ? try members.moment(.lastAccess) : creation,
            sequence: sequence)
        guard members.contains(.requested) else { return }
        request = CookieRequest(
            time: try members.moment(.requested), path: try members.octets(.requestPath, .requestPathBase64))
    }

    /// The places in an order of creation that leave room for later ones.
    static let sequences = 0...(Int64.max >> 1)
}

extension KeyedEncodingContainer {
    /// Writes octets as text, or in Base64 if they are not UTF-8.
    fileprivate mutating func encode(_ octets: Octets, _ key: Key, _ base64Key: Key) throws {
        if let text = octets.utf8String {
            try encode(text, forKey: key)
        } else {
            try encode(Base64.text(octets), forKey: base64Key)
        }
    }
}

extension KeyedDecodingContainer {
    fileprivate func octets(_ key: Key, _ base64Key: Key) throws -> Octets {
        guard contains(base64Key) else { return Octets(try decode(String.self, forKey: key)) }
        let text = try decode(String.self, forKey: base64Key)
        guard let octets = Base64.decode(text.utf8) else { throw invalid(base64Key, "not Base64") }
        return Octets(octets)
    }

    fileprivate func moment(_ key: Key) throws -> Timestamp {
        guard let moment = Timestamp(serialized: Octets(try decode(String.self, forKey: key))) else {
            throw invalid(key, "not a date and time")
        }
        return moment
    }

    fileprivate func invalid(_ key: Key, _ problem: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: problem)
    }
}
