import Platform
package import ResponseStore

extension StoredBody {
    /// The next octets, so many that a change of threads is worth it; `nil` at the end. No thread of Swift's own reads a file.
    package func piece() async throws -> [UInt8]? {
        try isInMemory ? next() : await WorkerThreads.shared.run { try self.batch() }
    }

    /// All octets.
    package func octets() async throws -> [UInt8] {
        try isInMemory ? readAll() : await WorkerThreads.shared.run { try self.readAll() }
    }

    private func batch() throws -> [UInt8]? {
        guard var octets = try next() else { return nil }
        while octets.count < 1 << 18, let more = try next() { octets += more }
        return octets
    }
}
