/// The bytes of a ``Secret``: one allocation that is never moved or copied, and is zeroed before it is freed.
final class SecretStorage: Sendable {
    // Written in `init` and `wipe` only, read in between: no two threads can meet here.
    nonisolated(unsafe) private let buffer: UnsafeMutableBufferPointer<UInt8>

    init(copying bytes: some Collection<UInt8>) {
        buffer = .allocate(capacity: bytes.count)
        _ = buffer.initialize(fromContentsOf: bytes)
    }

    deinit {
        wipe()
        buffer.deallocate()
    }

    var count: Int { buffer.count }

    func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(buffer).span)
    }

    /// Overwrites the bytes with zeros.
    ///
    /// Kept out of line, so that the optimizer does not see the stores and the end of the memory's life together and
    /// drop the stores as dead.
    @inline(never)
    func wipe() {
        buffer.update(repeating: 0)
    }
}
