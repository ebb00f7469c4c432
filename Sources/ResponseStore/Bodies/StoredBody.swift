import Platform
import Synchronization
import WebPrimitives

/// Reads the body of a stored response, or a range of it, chunk by chunk.
///
/// It goes on to the end even if the response is removed meanwhile. Its calls read files, so they belong on a thread that
/// may block.
package final class StoredBody: Sendable {
    /// The body was changed, or cannot be read. The response has been removed from the cache.
    package struct Damage: DescribedError {
        /// One sentence with the next step.
        package var description: String {
            "the stored body was changed, or cannot be read; its response is removed from the cache: send the request again"
        }
    }

    /// Where the body is.
    enum Source {
        /// A short one, opened.
        case memory([UInt8])
        /// Sealed chunks.
        case file(Descriptor)
    }

    /// How many octets there are to read.
    package let length: Int64
    private let source: Source
    private let seal: BodySeal
    private let range: Range<Int64>
    private let onDamage: @Sendable () -> Void
    /// The position of the next octet, and the chunk that was opened first.
    private let state: Mutex<(position: Int64, first: [UInt8]?)>

    /// Opens a body and its first chunk. Takes over the file of `source`.
    ///
    /// - Parameter range: Positions in the body, within its length.
    /// - Returns: `nil` if its length or the first chunk is damaged.
    init?(_ source: Source, _ seal: BodySeal, _ range: Range<Int64>, onDamage: @escaping @Sendable () -> Void) {
        self.source = source
        self.seal = seal
        self.range = range
        self.onDamage = onDamage
        length = Int64(range.count)
        state = Mutex((range.lowerBound, nil))
        // At the very end there may be no other chunk.
        let number = min(StoredBody.number(range.lowerBound), seal.chunkCount - 1)
        guard isLengthRight, let first = chunk(number) else { return nil }
        state.withLock { $0.first = first }
    }

    deinit {
        if case .file(let file) = source { file.close() }
    }

    /// Whether all of it is in memory, so that ``next()`` reads no file.
    package var isInMemory: Bool { if case .memory = source { true } else { false } }

    /// The next octets, at most 64 KiB; `nil` at the end.
    package func next() throws(Damage) -> [UInt8]? {
        let octets: [UInt8]?? = state.withLock { state in
            guard state.position < range.upperBound else { return .some(nil) }
            let number = StoredBody.number(state.position)
            guard let chunk = state.first ?? chunk(number) else { return nil }
            state.first = nil
            let start = number * Int64(BodySeal.chunkLength)
            let end = min(range.upperBound - start, Int64(chunk.count))
            defer { state.position = start + end }
            let lower = Int(state.position - start)
            return lower == 0 && end == chunk.count ? chunk : Array(chunk[lower..<Int(end)])
        }
        if let octets { return octets }
        onDamage()
        throw Damage()
    }

    /// All octets that are left.
    package func readAll() throws(Damage) -> [UInt8] {
        var octets: [UInt8] = []
        while let next = try next() { octets += next }
        return octets
    }

    private static func number(_ position: Int64) -> Int64 { position / Int64(BodySeal.chunkLength) }

    private var isLengthRight: Bool {
        switch source {
        case .memory(let octets): return Int64(octets.count) == seal.length
        case .file(let file):
            var status = stat()
            return fstat(file.number, &status) == 0 && Int64(status.st_size) == seal.sealedLength
        }
    }

    /// Opens a chunk; `nil` if it is damaged or cannot be read.
    private func chunk(_ number: Int64) -> [UInt8]? {
        switch source {
        case .memory(let octets): return octets
        case .file(let file):
            let place = seal.place(ofChunk: number)
            let combined = try? file.read(place.count, at: place.lowerBound, after: seal.nonce(ofChunk: number))
            return combined.flatMap(seal.open(combined:))
        }
    }
}

extension StoredBody {
    /// The next pieces, so many that a change of threads is worth it; none at the end. No thread of Swift's own reads a file.
    package func pieces() async throws -> [[UInt8]] {
        if isInMemory { return try next().map { [$0] } ?? [] }
        return try await WorkerThreads.shared.run {
            var pieces: [[UInt8]] = []
            while pieces.count < StoredBody.pieceCount, let piece = try self.next() { pieces.append(piece) }
            return pieces
        }
    }

    private static let pieceCount = 4

    /// All octets that are left. No thread of Swift's own reads a file.
    package func octets() async throws -> [UInt8] {
        try isInMemory ? readAll() : await WorkerThreads.shared.run { try self.readAll() }
    }
}
