import HTTPCaching
import SessionStore
import WebPrimitives

/// What finds a stored response in the index: keyed digests, so that the index shows neither URLs nor names.
///
/// Digests that are equal by chance do no harm. A lookup compares the sealed names as well, and an invalidation of one
/// response too many costs one request.
struct RowDigests: Sendable, Hashable {
    var jar: Int64
    var origin: Int64
    var site: Int64
    /// Origin and path.
    var path: Int64
    /// The query; ``anyQuery`` if the response has No-Vary-Search, so that it may answer requests with other queries.
    var query: Int64
    var audience: Int64

    /// The digest of a query that does not count. No query has it.
    static let anyQuery: Int64 = 0

    /// All digests, in the order of the columns.
    var numbers: [Int64] { [jar, origin, site, path, query, audience] }

    /// The context that a row's head is sealed to: a head does not open in another row's place.
    var place: [UInt8] {
        var place = SealedPlace("stored response")
        for number in numbers { place.append(number) }
        return place.bytes
    }
}

/// Makes the digests under one key.
struct DigestMaker: Sendable {
    private let key: DigestKey

    init(_ key: DigestKey) {
        self.key = key
    }

    /// The ID of the sealing key that the digests belong to.
    var keyID: UInt32 { key.id }

    func row(_ head: StoredHead) -> RowDigests {
        let response = head.response
        let url = response.url
        return RowDigests(
            jar: jar(head.jar), origin: origin(url, jar: head.jar), site: site(head.site, jar: head.jar),
            path: path(url, jar: head.jar),
            query: response.fields.has("no-vary-search") ? RowDigests.anyQuery : query(url),
            audience: audience(head.audience))
    }

    func jar(_ jar: Octets) -> Int64 { number("jar", [jar]) }

    func origin(_ url: RequestURL, jar: Octets) -> Int64 { number("origin", [jar, Octets(url.origin)]) }

    func site(_ site: Octets, jar: Octets) -> Int64 { number("site", [jar, site]) }

    func path(_ url: RequestURL, jar: Octets) -> Int64 { number("path", [jar, url.withoutQuery]) }

    func query(_ url: RequestURL) -> Int64 { number("query", [url.query]) }

    func audience(_ audience: Octets) -> Int64 { number("audience", [audience]) }

    func group(_ group: Octets, of url: RequestURL, jar: Octets) -> Int64 {
        number("group", [jar, Octets(url.origin), group])
    }

    private func number(_ kind: String, _ parts: [Octets]) -> Int64 {
        var text = SealedPlace(kind)
        for part in parts { text.append(part) }
        return key.number(text)
    }
}

/// The keys of a cache: the sealer of the jars' database, and the makers of digests that belong to it.
struct CacheKeys: Sendable {
    let sealer: Sealer
    /// The newest key first. Rows under older keys are found until they are resealed.
    let digests: [DigestMaker]

    init(_ sealer: Sealer) {
        self.sealer = sealer
        digests = sealer.digestKeys(for: "crumb response cache").map(DigestMaker.init)
    }

    /// Opens a row's head; `nil` if it is damaged, or its key is gone.
    ///
    /// - Parameter isVerified: Whether the digests are known to be those of the head, because it was found by them.
    func open(_ row: StoredRow, isVerified: Bool = false) -> StoredHead? {
        guard let opened = sealer.open(row.head, at: row.digests.place), let head = StoredHead(opened) else {
            return nil
        }
        // A cache of another database that was at the same path has other digests, even if both share a key file.
        guard isVerified || digests.first(where: { $0.keyID == row.keyID })?.row(head) == row.digests else {
            return nil
        }
        return head
    }
}
