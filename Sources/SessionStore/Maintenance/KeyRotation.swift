/// What a rotation of the key came to.
public struct KeyRotation: Sendable, Hashable {
    /// How many values were sealed anew.
    public var resealed = 0
    /// Values that no key at hand opens, since they were changed, moved or cut off: they stay as they are.
    public var unreadable: [SealedValueLocation] = []
    /// Whether an earlier rotation was brought to its end, rather than a new key made.
    public var wasResumed = false
    /// Whether the old keys are gone from the key file. Backups from before need them.
    public var oldKeysDropped = false
    /// Whether the write-ahead log was emptied. Where another process was reading, it keeps values under the old key
    /// until that process is done.
    public var isLogEmpty = false

    /// Nothing done yet.
    public init() {}
}
