import WebPrimitives

/// A file that is read at any position.
package protocol ZipSource: Sendable {
    var length: Int64 { get }

    /// Reads octets from a position; fewer than `count` only at the end.
    func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8]
}

/// The directory of a ZIP archive (APPNOTE.TXT 6.3, section 4.3), read strictly.
///
/// Readers of ZIP differ: some go by the directory at the end, some by the headers before the files. A package is one
/// file for all of them, or it is refused: both must agree, no two files share octets, and no name occurs twice. No name
/// is ever a path on a disk.
package struct ZipDirectory: Sendable {
    /// A file of the archive.
    package struct Entry: Sendable, Hashable {
        package let name: String
        /// Whether its octets are compressed with Deflate.
        let isCompressed: Bool
        let checksum: UInt32
        let compressedLength: Int64
        package let length: Int64
        /// Where its octets begin.
        var position: Int64
    }

    private static let headerLength = 30
    private static let recordLength = 46
    private static let endLength = 22
    /// The most octets of a comment, which may follow the end of the directory.
    private static let commentLimit = 0xFFFF

    /// The files by name. Folders are left out.
    private(set) var entries: [String: Entry] = [:]

    /// Reads the directory and the header of each file.
    package init(_ source: some ZipSource, limits: PackageLimits = PackageLimits()) throws(PackageError) {
        guard source.length <= limits.fileLength else {
            throw .invalid("the file has more than \(limits.fileLength) octets; make several packages")
        }
        let end = try ZipDirectory.end(source)
        guard end.count <= limits.entries else {
            throw .invalid("the archive has more than \(limits.entries) entries; make several packages")
        }
        guard end.length <= limits.directoryLength else {
            throw .invalid(
                "the archive's directory has more than \(limits.directoryLength) octets; make several packages")
        }
        let directory = try ZipDirectory.read(source, end.length, at: end.position)
        var (position, places): (Int, [Place]) = (0, [])
        var names: Set<String> = []
        var total: Int64 = 0
        for _ in 0..<end.count {
            guard var record = Record(directory, at: position) else { throw .damaged }
            position += record.byteCount
            try record.check(limits)
            guard names.insert(record.name).inserted else {
                throw .invalid("the archive has two entries named '\(record.shownName)'; remove one")
            }
            total += record.entry.length
            guard total <= limits.totalLength else {
                throw .invalid("the archive expands to more than \(limits.totalLength) octets; make several packages")
            }
            let start = record.entry.position
            record.entry.position = try ZipDirectory.checkHeader(of: record, source)
            places.append(
                Place(
                    octets: start..<(record.entry.position + record.entry.compressedLength),
                    descriptor: record.hasDescriptor ? record.entry : nil))
            if record.isFolder {
                // Nothing reads it later, and octets in it would be a file for another reader.
                var reader = ZipEntryReader(record.entry, of: source)
                _ = try reader.readAll()
            } else {
                entries[record.name] = record.entry
            }
        }
        guard position == directory.count else { throw .damaged }
        try ZipDirectory.check(places, upTo: end.position, source)
    }

    /// The header and the octets of an entry.
    private struct Place {
        let octets: Range<Int64>
        /// The entry if a descriptor follows its octets; `nil` if none does.
        let descriptor: Entry?
    }

    /// Checks that the entries follow each other, and the directory follows them, with nothing between them.
    private static func check(
        _ places: [Place], upTo end: Int64, _ source: some ZipSource
    ) throws(PackageError) {
        let places = places.sorted {
            ($0.octets.lowerBound, $0.octets.upperBound) < ($1.octets.lowerBound, $1.octets.upperBound)
        }
        // Nothing may lie before the archive, such as a program.
        guard (places.first?.octets.lowerBound ?? 0) == 0 else { throw .damaged }
        var last: Int64 = 0
        for (index, place) in places.enumerated() {
            let next = index + 1 < places.count ? places[index + 1].octets.lowerBound : end
            guard place.octets.lowerBound >= last, place.octets.upperBound <= next else {
                throw .invalid("two entries of the archive share octets; it was made to deceive. Do not use it")
            }
            last = place.octets.upperBound
            if let entry = place.descriptor {
                guard let length = try descriptorLength(of: entry, at: last, before: next, source) else {
                    throw .damaged
                }
                last += length
            }
            guard last == next else { throw .hasHiddenOctets }
        }
        guard last == end else { throw .hasHiddenOctets }
    }

    /// The length of the data descriptor of an entry (section 4.3.9), with a signature or without; `nil` if it contradicts
    /// the directory.
    private static func descriptorLength(
        of entry: Entry, at position: Int64, before next: Int64, _ source: some ZipSource
    ) throws(PackageError) -> Int64? {
        let length = next - position
        guard length == 12 || length == 16 else { return nil }
        let octets = try read(source, Int(length), at: position)
        let start = Int(length) - 12
        guard start == 0 || number(octets, 0, 4) == 0x0807_4B50,
            number(octets, start, 4) == UInt64(entry.checksum),
            number(octets, start + 4, 4) == UInt64(entry.compressedLength),
            number(octets, start + 8, 4) == UInt64(entry.length)
        else { return nil }
        return length
    }

    // MARK: - The end

    /// Whether a file begins as an archive and lacks its end, as a download that has broken off does.
    package static func isCutOff(_ source: some ZipSource) throws(PackageError) -> Bool {
        guard source.length >= 4, number(try read(source, 4, at: 0), 0, 4) == 0x0403_4B50 else { return false }
        return endRecord(in: try tail(of: source)) == nil
    }

    /// The octets that contain the end record.
    private static func tail(of source: some ZipSource) throws(PackageError) -> [UInt8] {
        let length = min(source.length, Int64(endLength + commentLimit))
        return try read(source, Int(length), at: source.length - length)
    }

    /// Where the first record begins whose comment ends with the file.
    private static func endRecord(in tail: [UInt8]) -> Int? {
        tail.indices.dropLast(endLength - 1).first { index in
            isEndSignature(tail, index) && Int(number(tail, index + 20, 2)) == tail.count - index - endLength
        }
    }

    private static func isEndSignature(_ octets: [UInt8], _ index: Int) -> Bool {
        octets[index] == 0x50 && number(octets, index, 4) == 0x0605_4B50
    }

    /// Finds the end of central directory record (section 4.3.16).
    private static func end(
        _ source: some ZipSource
    ) throws(PackageError) -> (position: Int64, length: Int, count: Int) {
        let tail = try tail(of: source)
        let start = source.length - Int64(tail.count)
        guard let found = endRecord(in: tail) else {
            throw .invalid("the file is not a ZIP archive, or its end is missing; build or download it again")
        }
        // Another reader would take the last one.
        guard !(found + 4..<max(found + 4, tail.count - 3)).contains(where: { isEndSignature(tail, $0) }) else {
            throw .invalid("the comment of the archive has a second end of an archive; remove the comment")
        }
        let (count, size, offset) = (
            number(tail, found + 10, 2), number(tail, found + 12, 4), number(tail, found + 16, 4)
        )
        guard count != 0xFFFF, size != 0xFFFF_FFFF, offset != 0xFFFF_FFFF else { throw .isZip64 }
        guard number(tail, found + 4, 2) == 0, number(tail, found + 6, 2) == 0, number(tail, found + 8, 2) == count
        else { throw .invalid("the archive is a part of several; join them") }
        // Nothing may lie between the directory and its end.
        guard Int64(offset) + Int64(size) == start + Int64(found) else { throw .damaged }
        return (Int64(offset), Int(size), Int(count))
    }

    // MARK: - Headers

    /// Compares the header of a file with its record (section 4.3.7).
    ///
    /// - Returns: Where its octets begin.
    private static func checkHeader(of record: Record, _ source: some ZipSource) throws(PackageError) -> Int64 {
        let entry = record.entry
        let header = try read(source, headerLength, at: entry.position)
        guard number(header, 0, 4) == 0x0403_4B50 else { throw .damaged }
        let (nameLength, extraLength) = (Int(number(header, 26, 2)), Int(number(header, 28, 2)))
        let rest = try read(source, nameLength + extraLength, at: entry.position + Int64(headerLength))
        let agrees =
            number(header, 6, 2) == record.flags && number(header, 8, 2) == record.method
            && rest[..<nameLength].elementsEqual(record.name.utf8)
            // With a descriptor after the octets, the header may have no sizes.
            && [
                (14, UInt64(entry.checksum)), (18, UInt64(entry.compressedLength)), (22, UInt64(entry.length)),
            ].allSatisfy { place, value in
                number(header, place, 4) == value || record.hasDescriptor && number(header, place, 4) == 0
            }
        guard agrees else {
            throw .invalid(
                "the archive's directory and the header of '\(record.shownName)' differ; it was made to deceive, or is "
                    + "damaged. Build or download it again")
        }
        guard !Record.hasZip64(rest[nameLength...]) else { throw .isZip64 }
        return entry.position + Int64(headerLength + nameLength + extraLength)
    }

    static func read(_ source: some ZipSource, _ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        guard position >= 0, count >= 0, Int64(count) <= source.length - position else { throw .damaged }
        let octets = try source.read(count, at: position)
        guard octets.count == count else { throw .damaged }
        return octets
    }

    /// The number in octets, the lowest one first.
    fileprivate static func number(_ octets: [UInt8], _ position: Int, _ length: Int) -> UInt64 {
        (0..<length).reversed().reduce(0) { $0 << 8 | UInt64(octets[position + $1]) }
    }

    /// A record of the directory (section 4.3.12).
    private struct Record {
        let name: String
        let flags: UInt64
        let method: UInt64
        let byteCount: Int
        var entry: Entry
        private let isUnix: Bool
        private let mode: UInt64
        private let hasZip64Field: Bool

        /// - Returns: `nil` if the directory ends before the record does, or it is none.
        init?(_ directory: [UInt8], at start: Int) {
            guard start + recordLength <= directory.count else { return nil }
            func number(_ offset: Int, _ length: Int) -> UInt64 {
                ZipDirectory.number(directory, start + offset, length)
            }
            let (nameLength, extraLength) = (Int(number(28, 2)), Int(number(30, 2)))
            byteCount = recordLength + nameLength + extraLength + Int(number(32, 2))
            let nameEnd = start + recordLength + nameLength
            guard number(0, 4) == 0x0201_4B50, start + byteCount <= directory.count, number(34, 2) == 0,
                let name = String(validating: directory[(start + recordLength)..<nameEnd], as: UTF8.self)
            else { return nil }
            self.name = name
            (flags, method) = (number(8, 2), number(10, 2))
            isUnix = number(4, 2) >> 8 == 3
            mode = number(38, 4) >> 16
            let sizes = [number(20, 4), number(24, 4), number(42, 4)]
            hasZip64Field =
                sizes.contains(0xFFFF_FFFF) || Record.hasZip64(directory[nameEnd..<(nameEnd + extraLength)])
            entry = Entry(
                name: name, isCompressed: method == 8, checksum: UInt32(number(16, 4)),
                compressedLength: Int64(sizes[0]), length: Int64(sizes[1]), position: Int64(sizes[2]))
        }

        var isFolder: Bool { name.hasSuffix("/") }
        var hasDescriptor: Bool { flags & 8 != 0 }
        var shownName: String { String(name.prefix(100)) }

        /// Whether extra fields have the one of ZIP64 (section 4.5.3), or are no fields.
        static func hasZip64(_ fields: ArraySlice<UInt8>) -> Bool {
            var rest = fields
            while rest.count >= 4 {
                let octets = Array(rest.prefix(4))
                if ZipDirectory.number(octets, 0, 2) == 1 { return true }
                rest = rest.dropFirst(4 + Int(ZipDirectory.number(octets, 2, 2)))
            }
            return false
        }

        func check(_ limits: PackageLimits) throws(PackageError) {
            // Bits 0 and 6: encryption. Bit 13: a masked directory.
            guard flags & 0x2041 == 0 else {
                throw .invalid("the entry '\(shownName)' is encrypted; make the archive without a password")
            }
            guard method == 0 || method == 8 else {
                throw .invalid("the entry '\(shownName)' is compressed by method \(method); use Deflate, as 'zip' does")
            }
            guard !hasZip64Field else { throw .isZip64 }
            guard Record.isSafe(name) else {
                throw .invalid("the entry '\(shownName)' has a name that leaves its folder; rename it")
            }
            // S_IFMT of Unix: only files and folders, and no statement.
            guard !isUnix || [0, 0o040000, 0o100000].contains(mode & 0o170000) else {
                throw .invalid("the entry '\(shownName)' is a link or a device; put the file itself into the archive")
            }
            guard !isFolder || entry.length == 0 else { throw .damaged }
            guard method == 8 || entry.length == entry.compressedLength else { throw .damaged }
            guard
                entry.length <= limits.ratioFreeLength
                    || entry.length / limits.ratio <= entry.compressedLength
            else {
                throw .invalid(
                    "the entry '\(shownName)' expands more than \(limits.ratio) times; store it without compression")
            }
        }

        /// Whether a name is that of a file below the archive's folder, on every system.
        private static func isSafe(_ name: String) -> Bool {
            guard (1...4096).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
                !name.contains("\\"), !name.contains(":"), !name.hasPrefix("/")
            else { return false }
            let path = name.hasSuffix("/") ? name.dropLast() : name[...]
            return path.split(separator: "/", omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        }
    }
}

extension PackageError {
    static let damaged = PackageError.invalid(
        "the archive is damaged, or its end is missing; build or download it again")
    fileprivate static let hasHiddenOctets = PackageError.invalid(
        "octets of the archive belong to no entry, and other readers may find a file there; build it again")
    fileprivate static let isZip64 = PackageError.invalid(
        "the archive uses ZIP64, for archives of more than 4 GiB or 65,535 entries; make it smaller")
}
