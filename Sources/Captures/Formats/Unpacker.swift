import WebPrimitives

/// Unpacks a capture that comes in pieces: a gzip file, or the files of a ZIP archive.
///
/// Memory is bounded, however far the input expands: pieces of 32 KiB come out, and after
/// ``CaptureLimits/unpackedByteCount`` of them the reading ends. A ZIP archive is read from its beginning, without the
/// directory at its end, so it can come through a pipe.
struct Unpacker: Sendable {
    /// A part of the input, in order.
    enum Part {
        /// A file of an archive begins.
        case file(name: String)
        case octets([UInt8])
        case endOfFile
        /// The rest cannot be unpacked.
        case failure(Failure)
    }

    /// Why the rest cannot be unpacked.
    enum Failure: Error, Sendable {
        case damaged
        case truncated
        case tooLong
        case encrypted
        /// Another method of compression than Deflate, or a file whose end only the archive's directory tells.
        case unsupported
    }

    private enum Stage {
        case gzip
        case fileHeader
        /// How many octets are left of a file that is not compressed.
        case stored(UInt64)
        case compressed
        case fileTrailer
        case ended
    }

    private static let pieceLength = 1 << 15

    /// Whether the input is an archive of files.
    let isArchive: Bool
    private let limit: Int
    private var input = BitInput()
    private var stage: Stage
    private var isWhole = false
    private var members = GzipMembers()
    /// The file of the archive that is read.
    private var hasDescriptor = false
    private var expectedChecksum: UInt32 = 0
    private var inflate = Inflate()
    private var checksum = CRC32()
    private var unpackedByteCount = 0

    /// Whether octets begin a packed input; `nil` if they are too few to tell.
    static func recognizes(_ beginning: Span<UInt8>) -> Bool? {
        let signatures: [[UInt8]] = [[0x1F, 0x8B, 0x08], [0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6]]
        let candidates = signatures.filter { signature in
            (0..<min(signature.count, beginning.count)).allSatisfy { signature[$0] == beginning[$0] }
        }
        if candidates.isEmpty { return false }
        return candidates.contains { $0.count <= beginning.count } ? true : nil
    }

    /// Unpacks an input.
    init(isArchive: Bool, limit: Int = CaptureLimits.unpackedByteCount) {
        self.isArchive = isArchive
        self.limit = limit
        stage = isArchive ? .fileHeader : .gzip
    }

    var bufferedByteCount: Int { input.bufferedByteCount }

    /// Takes the next octets of the input.
    mutating func append(_ piece: Span<UInt8>) {
        if case .ended = stage { return }
        input.append(piece)
    }

    /// Takes the end of the input.
    mutating func finish() {
        isWhole = true
    }

    /// Returns the next part; `nil` if more octets are needed, or at the end.
    mutating func next() -> Part? {
        if case .ended = stage { return nil }
        do throws(Failure) {
            if let part = try nextPart() { return part }
            if isWhole, !isComplete { throw .truncated }
            return nil
        } catch {
            stage = .ended
            return .failure(error)
        }
    }

    private var isComplete: Bool {
        switch stage {
        case .gzip: members.areComplete && input.count == 0
        case .ended: true
        default: false
        }
    }

    private mutating func nextPart() throws(Failure) -> Part? {
        while true {
            guard unpackedByteCount <= limit else { throw .tooLong }
            switch stage {
            case .gzip, .compressed:
                let piece: [UInt8]?
                do { piece = try isArchive ? inflate.next(&input) : members.next(&input) } catch { throw .damaged }
                if let piece { return .octets(try counted(piece)) }
                guard isArchive, inflate.isComplete else { return nil }
                stage = .fileTrailer
            case .stored(0): stage = .fileTrailer
            case .stored(let count):
                let length = min(Int(clamping: count), input.count, Unpacker.pieceLength)
                guard length > 0 else { return nil }
                stage = .stored(count - UInt64(length))
                return .octets(try counted(Array(input.takeOctets(length))))
            case .fileHeader: return try fileHeader()
            case .fileTrailer:
                guard try takeTrailer() else { return nil }
                stage = .fileHeader
                return .endOfFile
            case .ended: return nil
            }
        }
    }

    /// A piece within the limit. What exceeds the limit is cut off, and the next part is a failure.
    private mutating func counted(_ piece: [UInt8]) throws(Failure) -> [UInt8] {
        let room = limit - unpackedByteCount
        guard room > 0 else { throw .tooLong }
        unpackedByteCount += piece.count
        checksum.update(piece)
        return piece.count > room ? Array(piece[..<room]) : piece
    }

    // MARK: - Archives (APPNOTE.TXT, section 4.3)

    /// Takes the header of a file, or the beginning of the directory, which is not needed.
    private mutating func fileHeader() throws(Failure) -> Part? {
        guard input.count >= 4 else { return nil }
        switch input.number(at: 0, 4) {
        case 0x0403_4B50: break
        case 0x0201_4B50, 0x0605_4B50, 0x0606_4B50, 0x0806_4B50:
            stage = .ended
            return nil
        default: throw .damaged
        }
        guard input.count >= 30 else { return nil }
        let (nameLength, extraLength) = (Int(input.number(at: 26, 2)), Int(input.number(at: 28, 2)))
        guard input.count >= 30 + nameLength + extraLength else { return nil }
        let flags = input[6]
        guard flags & 1 == 0 else { throw .encrypted }
        hasDescriptor = flags & 8 != 0
        expectedChecksum = UInt32(input.number(at: 14, 4))
        switch input.number(at: 8, 2) {
        case 8: stage = .compressed
        // Without a size, only the directory tells where such a file ends.
        case 0 where !hasDescriptor: stage = .stored(storedByteCount(extra: (30 + nameLength), extraLength))
        default: throw .unsupported
        }
        (inflate, checksum) = (Inflate(), CRC32())
        let octets = input.takeOctets(30 + nameLength + extraLength).dropFirst(30).prefix(nameLength)
        return .file(name: String(decoding: octets, as: UTF8.self))
    }

    /// The size of a file, which is in an extra field (section 4.5.3) if it has more than 32 bits.
    private func storedByteCount(extra start: Int, _ length: Int) -> UInt64 {
        let size = input.number(at: 18, 4)
        guard size == UInt64(UInt32.max) else { return size }
        var position = start
        while position + 4 <= start + length {
            let fieldLength = Int(input.number(at: position + 2, 2))
            if input.number(at: position, 2) == 1, fieldLength >= 16, position + 20 <= start + length {
                return input.number(at: position + 12, 8)
            }
            position += 4 + fieldLength
        }
        return size
    }

    /// Takes the descriptor after a file, if it has one, and verifies the checksum.
    ///
    /// A descriptor's signature is optional, and its sizes have 4 or 8 octets. The next signature tells.
    private mutating func takeTrailer() throws(Failure) -> Bool {
        if hasDescriptor {
            guard input.count >= 26 else { return false }
            let start = input.number(at: 0, 4) == 0x0807_4B50 ? 4 : 0
            guard let length = [12, 20].first(where: { input.number(at: start + $0, 2) == 0x4B50 }) else {
                throw .damaged
            }
            expectedChecksum = UInt32(input.number(at: start, 4))
            _ = input.takeOctets(start + length)
        }
        guard checksum.value == expectedChecksum else { throw .damaged }
        return true
    }
}

extension Unpacker {
    /// Whether a file of an archive may be a capture. Not captures are folders, files that macOS adds, and the bodies of a
    /// HAR of Playwright, whose names are digests.
    static func mayBeCapture(_ name: String) -> Bool {
        guard !name.hasSuffix("/"), !name.hasPrefix("__MACOSX/") else { return false }
        let stem = name.split(separator: "/").last?.prefix { $0 != "." } ?? ""
        return stem.utf8.count != 40 || !stem.allSatisfy(\.isHexDigit)
    }
}
