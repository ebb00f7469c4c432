import WebPrimitives

/// Writes a ZIP archive whose entries are stored without compression.
///
/// The same entries make the same octets: no time and no property of the machine is written.
package struct ZipWriter: Sendable {
    private var directory: [UInt8] = []
    private var count = 0
    private var length: Int64 = 0

    package init() {}

    /// An entry's header and its octets, which follow those that were written before.
    package mutating func entry(_ name: String, _ octets: [UInt8]) throws(PackageError) -> [UInt8] {
        var checksum = CRC32()
        checksum.update(octets)
        var fields: [UInt8] = []
        // Version 2.0, names in UTF-8, stored, at the first moment that the format knows.
        for value in [20, 1 << 11, 0, 0, 0x21] { ZipWriter.append(UInt64(value), 2, to: &fields) }
        ZipWriter.append(UInt64(checksum.value), 4, to: &fields)
        ZipWriter.append(UInt64(octets.count), 4, to: &fields)
        ZipWriter.append(UInt64(octets.count), 4, to: &fields)
        ZipWriter.append(UInt64(name.utf8.count), 2, to: &fields)
        ZipWriter.append(0, 2, to: &fields)
        let start = length
        var written: [UInt8] = []
        ZipWriter.append(0x0403_4B50, 4, to: &written)
        written += fields
        written += name.utf8
        written += octets
        length += Int64(written.count)
        count += 1
        guard length < Int64(UInt32.max), count < 0xFFFF, name.utf8.count <= 0xFFFF else {
            throw .invalid("the package would have more than 4 GiB or 65,534 files; make several")
        }
        ZipWriter.append(0x0201_4B50, 4, to: &directory)
        ZipWriter.append(20, 2, to: &directory)
        directory += fields
        // No comment, the first disk, and no attributes.
        for width in [2, 2, 2, 4] { ZipWriter.append(0, width, to: &directory) }
        ZipWriter.append(UInt64(start), 4, to: &directory)
        directory += name.utf8
        return written
    }

    /// The directory, which ends the archive.
    package func end() -> [UInt8] {
        var written = directory
        ZipWriter.append(0x0605_4B50, 4, to: &written)
        for value in [0, 0, count, count] { ZipWriter.append(UInt64(value), 2, to: &written) }
        ZipWriter.append(UInt64(directory.count), 4, to: &written)
        ZipWriter.append(UInt64(length), 4, to: &written)
        ZipWriter.append(0, 2, to: &written)
        return written
    }

    private static func append(_ value: UInt64, _ width: Int, to octets: inout [UInt8]) {
        for index in 0..<width { octets.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }
}
