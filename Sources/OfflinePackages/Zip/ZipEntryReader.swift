import WebPrimitives

/// Reads the octets of one entry piece by piece, in bounded memory.
///
/// An entry has the length and the checksum that the directory states, and not an octet more: otherwise reading fails.
package struct ZipEntryReader: Sendable {
    private static let pieceLength: Int64 = 1 << 16

    private let source: any ZipSource
    private let entry: ZipDirectory.Entry
    private var input = BitInput()
    private var inflate = Inflate()
    private var checksum = CRC32()
    /// How many octets were read of the archive, and how many came out.
    private var (readLength, length): (Int64, Int64) = (0, 0)
    private var isEnded = false

    package init(_ entry: ZipDirectory.Entry, of source: some ZipSource) {
        self.entry = entry
        self.source = source
    }

    /// The next octets; `nil` at the end.
    package mutating func next() throws(PackageError) -> [UInt8]? {
        guard !isEnded else { return nil }
        guard let piece = try entry.isCompressed ? inflated() : stored() else {
            guard length == entry.length, checksum.value == entry.checksum, readLength == entry.compressedLength else {
                throw damage
            }
            isEnded = true
            return nil
        }
        length += Int64(piece.count)
        // Before the next piece is made: a length that is too small must not cost more than a piece.
        guard length <= entry.length else { throw damage }
        checksum.update(piece)
        return piece
    }

    /// All octets.
    package mutating func readAll() throws(PackageError) -> [UInt8] {
        var octets: [UInt8] = []
        while let piece = try next() { octets += piece }
        return octets
    }

    private mutating func stored() throws(PackageError) -> [UInt8]? {
        let piece = try raw()
        return piece.isEmpty ? nil : piece
    }

    private mutating func inflated() throws(PackageError) -> [UInt8]? {
        while true {
            let piece: [UInt8]?
            do { piece = try inflate.next(&input) } catch { throw damage }
            if let piece { return piece }
            if inflate.isComplete {
                // Octets after the end of the compressed ones would be another file for another reader.
                guard input.count == 0 else { throw damage }
                return nil
            }
            let more = try raw()
            guard !more.isEmpty else { throw damage }
            input.append(more.span)
        }
    }

    private mutating func raw() throws(PackageError) -> [UInt8] {
        let count = min(ZipEntryReader.pieceLength, entry.compressedLength - readLength)
        guard count > 0 else { return [] }
        let octets = try ZipDirectory.read(source, Int(count), at: entry.position + readLength)
        readLength += count
        return octets
    }

    private var damage: PackageError {
        .invalid(
            "the entry '\(entry.name.prefix(100))' is damaged, or is not what the archive's directory says; build or "
                + "download the package again")
    }
}
