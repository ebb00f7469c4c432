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

    /// Does not show the key.
    public var description: String { "SealingKey" }
    /// Does not show the key.
    public var debugDescription: String { "SealingKey" }
    /// Does not show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
