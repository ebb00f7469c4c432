internal import Crypto

/// The SHA-256 of a capture's octets, and of what the import was told besides: by it the same import is known again.
public struct CaptureDigest: Sendable {
    private var hash = SHA256()

    /// The digest of nothing yet.
    public init() {}

    /// Takes in some octets.
    public mutating func update(_ octets: some Sequence<UInt8>) {
        var octets = Array(octets)
        octets.withUnsafeMutableBytes { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    }

    /// Takes in the octets of a buffer, without a copy.
    public mutating func update(_ octets: ArraySlice<UInt8>) {
        octets.withUnsafeBytes { hash.update(bufferPointer: $0) }
    }

    /// The digest of everything taken in.
    package var bytes: [UInt8] { Array(hash.finalize()) }
}
