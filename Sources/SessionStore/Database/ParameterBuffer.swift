/// Keeps the octets that are bound to a statement until it has run, which saves SQLite an allocation for each.
///
/// A buffer belongs to one statement, and is used like it: by one thread at a time.
final class ParameterBuffer {
    /// Enough for most cookies.
    private static let size = 2048

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    private var used = 0

    deinit { bytes.deallocate() }

    /// Copies octets; `nil` where there is no room for them.
    func keep(_ octets: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8>? {
        guard octets.count <= bytes.count - used else { return nil }
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + octets.count)])
        room.copyMemory(from: UnsafeRawBufferPointer(octets))
        used += octets.count
        return UnsafePointer(room.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    /// Makes room for what is bound next.
    func removeAll() {
        used = 0
    }
}
