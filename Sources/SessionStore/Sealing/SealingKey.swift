internal import Crypto

/// A 256-bit key that values are sealed under. Prints as nothing but its type.
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

    /// The key itself, to be written where it is kept.
    var exposedBytes: [UInt8] {
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
