import FuzzSupport

@testable import OfflinePackages
@testable import WebPrimitives

/// Any bytes as an archive: the first says whether the rest is the file itself, or a script that makes one.
enum ArchiveTarget {
    static func check(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let rest = Array(input.dropFirst())
        check(Bytes(first & 1 == 0 ? rest : ArchiveScript(rest).octets), Self.limits(first))
    }

    /// Small ones, so that short inputs reach them.
    private static func limits(_ choice: UInt8) -> PackageLimits {
        var limits = PackageLimits()
        (limits.totalLength, limits.resourceLength, limits.ratioFreeLength) = (1 << 18, 1 << 17, 1 << 12)
        if choice & 2 != 0 { (limits.entries, limits.totalLength, limits.ratio) = (3, 300, 2) }
        return limits
    }

    private static func check(_ source: Bytes, _ limits: PackageLimits) {
        let isCutOff = refusing { () throws(PackageError) in try ZipDirectory.isCutOff(source) }
        Invariant.holds(isCutOff != nil, "any file is cut off or not")
        let directory = refusing { () throws(PackageError) in try ZipDirectory(source, limits: limits) }
        _ = refusing { () throws(PackageError) in try checkPackage(source, limits) }
        guard let directory else { return }
        Invariant.holds(isCutOff == false, "what has a directory is not cut off")
        Invariant.holds(directory.entries.count <= limits.entries, "the number of entries is bounded")
        var (files, total): ([String: [UInt8]], Int64) = ([:], 0)
        for (name, entry) in directory.entries {
            total += entry.length
            Invariant.holds(name == entry.name && isPlain(name), "a name is that of a file below a folder")
            files[name] = read(entry, of: source)
        }
        Invariant.holds(total <= limits.totalLength, "the length of all files is bounded")
        // One entry that does not open spoils the archive for every reader.
        guard files.count == directory.entries.count else { return }
        Invariant.holds(PlainReaders.byHeaders(source.octets, directory) == files, "by headers, the files are the same")
        Invariant.holds(PlainReaders.byLastEnd(source.octets) == files, "from the last end on, the files are the same")
        checkWritten(files)
    }

    /// Every failure is of this code, and has a sentence.
    private static func refusing<Result>(_ body: () throws(PackageError) -> Result) -> Result? {
        do throws(PackageError) { return try body() } catch {
            Invariant.holds(error.code == .invalid || error.code == .refused, "a file is refused, and nothing else")
            Invariant.holds(error.description.count > 20 && error.description.utf8.count < 40_000, "with a sentence")
            return nil
        }
    }

    private static func read(_ entry: ZipDirectory.Entry, of source: Bytes) -> [UInt8]? {
        var (octets, reader): ([UInt8], ZipEntryReader) = ([], ZipEntryReader(entry, of: source))
        let isWhole: Void? = refusing { () throws(PackageError) in
            while let piece = try reader.next() {
                octets += piece
                Invariant.holds(octets.count <= entry.length, "not an octet more than is stated")
            }
        }
        guard isWhole != nil else { return nil }
        Invariant.holds(octets.count == entry.length, "as many octets as are stated")
        return octets
    }

    private static func isPlain(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: 0x2F, omittingEmptySubsequences: false).map(Array.init)
        return !parts.contains { $0.isEmpty || $0 == [0x2E] || $0 == [0x2E, 0x2E] }
            && !name.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x5C || $0 == 0x3A }
    }

    /// The same files in an archive that is written here.
    private static func checkWritten(_ files: [String: [UInt8]]) {
        var (writer, written) = (ZipWriter(), [UInt8]())
        for (name, octets) in files.sorted(by: { $0.key < $1.key }) {
            guard let entry = refusing({ () throws(PackageError) in try writer.entry(name, octets) }) else { return }
            written += entry
        }
        let source = Bytes(written + writer.end())
        guard let directory = refusing({ () throws(PackageError) in try ZipDirectory(source) }) else {
            return Invariant.holds(false, "what is written is read")
        }
        Invariant.holds(
            directory.entries.compactMapValues { read($0, of: source) } == files, "with the same files in it")
    }

    private static func checkPackage(_ source: Bytes, _ limits: PackageLimits) throws(PackageError) {
        let archive = try PackageArchive(source, limits: limits)
        Invariant.holds(archive.manifest.length <= limits.totalLength, "the length of all bodies is bounded")
        _ = refusing { () throws(PackageError) in try archive.verifiedKey(pinned: nil) }
        for resource in archive.manifest.resources {
            var count: Int64 = 0
            let isWhole: Void? = refusing { () throws(PackageError) in
                try archive.read(resource) { count += Int64($0.count) }
            }
            Invariant.holds(isWhole == nil || count == resource.length, "a body is as long as the manifest says")
        }
    }
}

/// A file in memory.
struct Bytes: ZipSource {
    let octets: [UInt8]
    var length: Int64 { Int64(octets.count) }

    init(_ octets: [UInt8]) { self.octets = octets }

    func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        Invariant.holds(position >= 0 && position <= length && count >= 0, "reading stays in the file")
        return Array(octets[Int(position)..<min(octets.count, Int(position) + count)])
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ArchiveTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
