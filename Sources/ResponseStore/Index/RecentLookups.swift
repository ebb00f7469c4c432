import SQLiteEngine
import WebPrimitives

/// The last lookups, as long as nothing is committed to the index, and the short bodies that they led to.
///
/// A response that is used again and again is neither read nor opened again.
struct RecentLookups {
    /// What is looked up.
    struct Key: Hashable {
        let url: RequestURL
        let jar: Octets
        let audience: Octets
    }

    /// What is known of the index after a commit.
    struct Version: Equatable {
        let index: SQLiteReader.Version
        /// The newest key: without it, the rows would not open.
        let keyID: UInt32
    }

    /// How many lookups are kept, how many octets of heads they have, and how many octets of bodies are kept.
    private static let lookupLimit = 1000
    private static let headLimit = 1 << 24
    private static let bodyLimit = 1 << 24

    private var version: Version?
    /// The candidates, when they were read, and whether others have some. An earlier time means that the clock was set
    /// back, which changes ages.
    private var found: [Key: (stored: [StoredResponse], time: Timestamp, isForOthers: Bool?)] = [:]
    /// By their keys: no other body has the key of one, so a commit changes none.
    private var bodies: [Octets: [UInt8]] = [:]
    private var headSize = 0
    private var bodySize = 0

    /// The candidates of a lookup; `nil` if they have to be read.
    func candidates(_ key: Key, at current: Version?, now: Timestamp) -> [StoredResponse]? {
        guard current != nil, current == version, let found = found[key], found.time <= now else { return nil }
        return found.stored
    }

    /// Whether responses to the URL of a lookup are stored for others; `nil` if that has to be read.
    func isForOthers(_ key: Key, at current: Version?) -> Bool? {
        current != nil && current == version ? found[key]?.isForOthers : nil
    }

    /// A short body; `nil` if it has to be read.
    func body(_ seal: BodySeal) -> [UInt8]? { bodies.isEmpty ? nil : bodies[Octets(seal.keyOctets)] }

    /// Keeps the candidates of a lookup.
    ///
    /// - Parameter read: The version before they were read, so that a commit in between is read twice rather than never.
    mutating func keep(_ stored: [StoredResponse], for key: Key, at read: Version?, now: Timestamp) {
        guard let read else { return }
        headSize += stored.map(\.headLength).reduce(0, +)
        if version != read || found.count >= RecentLookups.lookupLimit || headSize > RecentLookups.headLimit {
            (version, found, headSize) = (read, [:], 0)
        }
        found[key] = (stored, now, nil)
    }

    /// Keeps whether responses to the URL of a lookup that is known are stored for others.
    mutating func keep(isForOthers: Bool, for key: Key, at read: Version?) {
        guard read != nil, read == version else { return }
        found[key]?.isForOthers = isForOthers
    }

    /// Keeps an opened body.
    mutating func keep(_ body: [UInt8], _ seal: BodySeal) {
        if bodySize + body.count > RecentLookups.bodyLimit { (bodies, bodySize) = ([:], 0) }
        if bodies.updateValue(body, forKey: Octets(seal.keyOctets)) == nil { bodySize += body.count }
    }

    /// Forgets all bodies: responses were removed.
    mutating func forgetBodies() {
        (bodies, bodySize) = ([:], 0)
    }
}
