package import CookieModel
internal import Crypto

/// Seals values under one key with AES-256-GCM (NIST SP 800-38D), bound to the place where they are stored. Opens
/// values that were sealed under older keys.
///
/// A sealed value is: one byte for the form (1), four bytes for the key's ID, the nonce (12 bytes), the ciphertext, the
/// tag (16 bytes). ``NonceSequence`` makes the nonces. At most 2^32 values should be sealed under one key.
package struct Sealer: Sendable {
    private static let form: UInt8 = 1
    private static let headerLength = 5
    private static let nonceLength = 12
    private static let tagLength = 16
    package static let overhead = headerLength + nonceLength + tagLength

    /// The ID of the newest key, which seals values.
    package let keyID: UInt32
    /// The key that seals.
    let newestKey: SealingKey
    /// The older keys, by ID. They open values that are not resealed yet.
    private let olderKeys: [UInt32: SealingKey]
    /// What tells the keys of this database from the same keys in others: the check values of their rows, by ID.
    private let marks: [UInt32: Octets]

    package init(
        _ key: SealingKey, id: UInt32, olderKeys: [UInt32: SealingKey] = [:], marks: [UInt32: Octets] = [:]
    ) {
        newestKey = key
        keyID = id
        self.olderKeys = olderKeys
        self.marks = marks
    }

    /// Whether the sealer has the key with an ID.
    func hasKey(_ id: UInt32) -> Bool { id == keyID || olderKeys[id] != nil }

    /// The ID of the key that a sealed value names; `nil` if it is not a sealed value.
    static func keyID(of sealed: some RandomAccessCollection<UInt8>) -> UInt32? {
        guard sealed.count >= overhead, sealed.first == form else { return nil }
        return sealed.dropFirst().prefix(headerLength - 1).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Seals one value for the place that `place` names.
    package func seal(_ value: some Collection<UInt8>, at place: [UInt8]) throws -> [UInt8] {
        var nonces = NonceSequence()
        return try seal(value, at: place, &nonces)
    }

    /// Seals one of many values for the place that `place` names.
    func seal(
        _ value: some Collection<UInt8>, at place: [UInt8], _ nonces: inout NonceSequence
    ) throws -> [UInt8] {
        let key = newestKey.symmetricKey
        let number = nonces.next()
        let nonce = try withUnsafeBytes(of: (number.high.bigEndian, number.low.bigEndian)) {
            try AES.GCM.Nonce(data: UnsafeRawBufferPointer(rebasing: $0[0..<Sealer.nonceLength]))
        }
        // Read in place: there may be hundreds of thousands of values.
        let box =
            try value.withContiguousStorageIfAvailable {
                try AES.GCM.seal($0, using: key, nonce: nonce, authenticating: place)
            } ?? AES.GCM.seal(Array(value), using: key, nonce: nonce, authenticating: place)
        // With a nonce of the usual length, nonce, ciphertext and tag are in one piece.
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        var sealed: [UInt8] = []
        sealed.reserveCapacity(Sealer.overhead + value.count)
        sealed.append(Sealer.form)
        withUnsafeBytes(of: keyID.bigEndian) { sealed += $0 }
        sealed.appendInPlace(combined)
        return sealed
    }

    /// The length of a value whose sealed form has the given length.
    static func openedCount(_ sealedCount: Int) -> Int {
        max(sealedCount - overhead, 0)
    }

    /// Opens a value that ``seal(_:at:)`` sealed at the same place; `nil` if it was changed, moved or truncated.
    package func open(_ sealed: Octets, at place: [UInt8]) -> Octets? {
        sealed.withSpan { span in span.withUnsafeBytes { open($0, at: place) } }
    }

    /// The same for a value in a buffer.
    package func open(_ sealed: UnsafeRawBufferPointer, at place: [UInt8]) -> Octets? {
        guard let id = Sealer.keyID(of: sealed), let key = id == keyID ? newestKey : olderKeys[id],
            let box = try? AES.GCM.SealedBox(
                combined: UnsafeRawBufferPointer(rebasing: sealed[Sealer.headerLength...])),
            let value = try? AES.GCM.open(box, using: key.symmetricKey, authenticating: place)
        else { return nil }
        var opened: [UInt8] = []
        opened.reserveCapacity(sealed.count - Sealer.overhead)
        opened.appendInPlace(value)
        return Octets(opened)
    }
}

extension Sealer {
    /// The keys for the digests of one purpose, the newest first. They belong to this database and this purpose alone.
    package func digestKeys(for purpose: String) -> [DigestKey] {
        let older = olderKeys.keys.sorted(by: >).compactMap { id in olderKeys[id].map { (id, $0) } }
        return ([(keyID, newestKey)] + older).map { id, key in
            DigestKey(
                id: id,
                key: HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: key.symmetricKey, salt: marks[id].map(Array.init) ?? [],
                    info: Array(purpose.utf8), outputByteCount: SHA256.byteCount))
        }
    }

    /// Whether both have the same keys of the same database.
    package func hasSameKeys(as other: Sealer) -> Bool {
        keyID == other.keyID && newestKey.isSame(as: other.newestKey) && marks == other.marks
            && olderKeys.count == other.olderKeys.count
            && olderKeys.allSatisfy { id, key in other.olderKeys[id].map(key.isSame) ?? false }
    }
}

/// A key by which values are found and not shown: their digests (HMAC-SHA256) are stored instead.
package struct DigestKey: Sendable {
    /// The ID of the sealing key that it is derived from.
    package let id: UInt32
    fileprivate let key: SymmetricKey

    /// The first eight octets of the digest of a text as a number, which is never 0.
    package func number(_ text: SealedPlace) -> Int64 {
        let code = HMAC<SHA256>.authenticationCode(for: text.bytes, using: key)
        let number = code.withUnsafeBytes { Int64(bitPattern: $0.loadUnaligned(as: UInt64.self).bigEndian) }
        return number == 0 ? 1 : number
    }
}

extension [UInt8] {
    /// Appends bytes without copying them first. It is generic, so that a type of a module that is not imported here
    /// can report whether its bytes are contiguous.
    fileprivate mutating func appendInPlace(_ bytes: some Sequence<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ append(contentsOf: UnsafeRawBufferPointer($0)) }) == nil {
            append(contentsOf: bytes)
        }
    }
}

/// A 256-bit key that values are sealed under. Its description shows only its type.
public struct SealingKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let symmetricKey: SymmetricKey

    /// A new key from the system's random numbers.
    public init() {
        symmetricKey = SymmetricKey(size: .bits256)
    }

    /// A key from its 32 bytes; `nil` for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        symmetricKey = SymmetricKey(data: bytes)
    }

    /// A copy of the key's 32 bytes, which is no longer protected: to put it into a keychain, from which ``init(bytes:)``
    /// makes the key again.
    public var exposedBytes: [UInt8] {
        symmetricKey.withUnsafeBytes { Array($0) }
    }

    /// Whether both are the same key, in a time that does not depend on where they differ.
    func isSame(as other: SealingKey) -> Bool {
        symmetricKey == other.symmetricKey
    }

    /// Does not show the key.
    public var description: String { "SealingKey" }
    /// Does not show the key.
    public var debugDescription: String { "SealingKey" }
    /// Does not show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Nonces for the values of one transaction: a random one, and its successors.
///
/// No nonce may be used twice under one key, in any process. Of `n` values that are sealed in runs of consecutive
/// nonces, each from a random start of 96 bits, two share one with a probability below n²/2^96: at least as good as if
/// every nonce was random, without asking the system for each.
struct NonceSequence {
    private var high: UInt64
    private var low: UInt32

    /// A sequence from a random start.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(high: generator.next(), low: generator.next())
    }

    /// A sequence from a given start, for tests.
    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// The next nonce, as a number of 96 bits.
    mutating func next() -> (high: UInt64, low: UInt32) {
        let nonce = (high, low)
        low &+= 1
        if low == 0 { high &+= 1 }
        return nonce
    }
}
