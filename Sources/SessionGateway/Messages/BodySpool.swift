import Crypto
import NIOCore
import NIOPosix
import Platform
import Synchronization

/// The body of a request as far as it has been sent, for the case that it has to be sent once more.
///
/// Beyond ``memoryLimit``, it is stored in a file without a name, sealed with a key that never leaves memory. Beyond
/// ``lengthLimit``, or without room, nothing of it is kept, and ``isIncomplete`` is `true`.
actor BodySpool {
    /// How many octets of one body are in memory.
    static let memoryLimit = 1 << 20
    /// How many octets of one body are kept.
    static let lengthLimit = 64 << 20
    /// How many octets are sealed together.
    private static let recordLength = 1 << 16
    private static let sealLength = 16

    /// The number of octets that all bodies of a gateway share.
    final class Budget: Sendable {
        private let used = Mutex(0)
        private let limit: Int

        init(limit: Int = 1 << 30) {
            self.limit = limit
        }

        fileprivate func take(_ count: Int) -> Bool {
            used.withLock { used in
                guard used + count <= limit else { return false }
                used += count
                return true
            }
        }

        fileprivate func giveBack(_ count: Int) {
            used.withLock { $0 -= count }
        }

        /// Whether so much is used that bodies are written to files early.
        fileprivate var isTight: Bool { used.withLock { $0 > limit / 16 } }
    }

    private let budget: Budget
    private let key = SymmetricKey(size: .bits256)
    /// The part that is not in the file.
    private var memory = ByteBuffer()
    /// How many records are in the file.
    private var records = 0
    private var file: Descriptor?
    private var taken = 0
    private var trailers: [UInt8]?
    /// Whether the end of the body was added.
    var isComplete: Bool { trailers != nil }
    /// Whether octets of the body are missing, so that it cannot be sent once more.
    private(set) var isIncomplete = false

    init(_ budget: Budget) {
        self.budget = budget
    }

    deinit {
        file?.close()
        budget.giveBack(taken)
    }

    /// Keeps a piece.
    func append(_ piece: BodyReader.Piece) async {
        switch piece {
        case .end(let trailers): self.trailers = trailers
        case .data(var octets):
            guard !isIncomplete else { return }
            let count = octets.readableBytes
            guard taken + count <= BodySpool.lengthLimit, budget.take(count) else { return abandon() }
            taken += count
            memory.writeBuffer(&octets)
            let limit = budget.isTight ? BodySpool.recordLength : BodySpool.memoryLimit
            guard memory.readableBytes > limit || file != nil && memory.readableBytes >= BodySpool.recordLength
            else { return }
            do {
                try await moveToFile()
            } catch {
                abandon()
            }
        }
    }

    /// Releases the kept octets.
    private func abandon() {
        isIncomplete = true
        memory = ByteBuffer()
        file?.close()
        file = nil
        records = 0
        budget.giveBack(taken)
        taken = 0
    }

    /// The piece that begins `position` octets after the beginning; `nil` if it has not been kept yet.
    ///
    /// - Throws: if the file cannot be read, or octets are missing.
    func piece(at position: Int) async throws -> BodyReader.Piece? {
        guard !isIncomplete else { throw SpoolError() }
        let filed = records * BodySpool.recordLength
        if position < filed {
            var record = try await record(position / BodySpool.recordLength)
            record.moveReaderIndex(forwardBy: position % BodySpool.recordLength)
            return .data(record)
        }
        let rest = memory.readableBytes - (position - filed)
        if rest > 0, let slice = memory.getSlice(at: memory.readerIndex + position - filed, length: rest) {
            return .data(slice)
        }
        return trailers.map { .end(trailers: $0) }
    }

    // MARK: - The file

    private func moveToFile() async throws {
        let file = try file ?? BodySpool.makeFile()
        self.file = file
        while memory.readableBytes >= BodySpool.recordLength {
            guard let octets = memory.getBytes(at: memory.readerIndex, length: BodySpool.recordLength) else { return }
            let box = try AES.GCM.seal(octets, using: key, nonce: BodySpool.nonce(records))
            let sealed = Array(box.ciphertext) + Array(box.tag)
            let offset = Int64(records * sealed.count)
            try await NIOThreadPool.singleton.runIfActive { try file.write(sealed, at: offset) }
            memory.moveReaderIndex(forwardBy: BodySpool.recordLength)
            memory.discardReadBytes()
            records += 1
        }
    }

    private func record(_ number: Int) async throws -> ByteBuffer {
        guard let file else { throw SpoolError() }
        let count = BodySpool.recordLength + BodySpool.sealLength
        let sealed = try await NIOThreadPool.singleton.runIfActive { try file.read(count, at: Int64(number * count)) }
        guard sealed.count == count else { throw SpoolError() }
        let box = try AES.GCM.SealedBox(
            nonce: BodySpool.nonce(number), ciphertext: sealed.dropLast(BodySpool.sealLength),
            tag: sealed.suffix(BodySpool.sealLength))
        return ByteBuffer(bytes: try AES.GCM.open(box, using: key))
    }

    /// The nonce of a record. Each record is written only once.
    private static func nonce(_ record: Int) throws -> AES.GCM.Nonce {
        let number = UInt64(record)
        return try AES.GCM.Nonce(
            data: [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - $0))) })
    }

    /// A file that no one else can open: it has lost its name before the first octet is in it.
    private static func makeFile() throws -> Descriptor {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var generator = SystemRandomNumberGenerator()
        let path = "\(folder)/crumb-\(String(generator.next(), radix: 16))\(String(generator.next(), radix: 16))"
        let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
        unlink(path)
        return file
    }
}

/// The error if there is no room for a body.
private struct SpoolError: Error {}
