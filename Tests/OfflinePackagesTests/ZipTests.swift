import Crypto
import TestSupport
import Testing
import WebPrimitives

@testable import OfflinePackages

/// A file in memory.
struct MemoryZip: ZipSource {
    var octets: [UInt8]
    var length: Int64 { Int64(octets.count) }

    func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        Array(octets[Int(position)..<min(octets.count, Int(position) + count)])
    }
}

/// Archives for tests, with what an attacker would change in them.
struct ZipSample {
    /// An entry as it is written: the header, the octets, and the record of the directory.
    struct Entry {
        var name = "a.txt"
        /// The name in the header before the octets; `nil` for the same.
        var headerName: String?
        var octets = Array("hello".utf8)
        /// The length and checksum that are stated; `nil` for the true ones.
        var length: Int?
        var checksum: UInt32?
        var compressedLength: Int?
        var method = 0
        var flags = 0
        var mode = 0
        var extra: [UInt8] = []
        /// Where the directory says that the header is; `nil` for the true place.
        var position: Int?
        /// Octets after the entry, such as a descriptor.
        var suffix: [UInt8] = []
        /// The octets before compression, if they are compressed.
        var plain: [UInt8]?
    }

    var entries: [Entry] = []
    var comment: [UInt8] = []
    var prefix: [UInt8] = []
    /// How many entries the end states; `nil` for the true number.
    var count: Int?

    var octets: [UInt8] {
        var (file, directory) = (prefix, [UInt8]())
        for entry in entries {
            let plain = entry.plain ?? entry.octets
            var checksum = CRC32()
            checksum.update(plain)
            let start = file.count
            func sizes(_ target: inout [UInt8]) {
                append(Int(entry.checksum ?? checksum.value), 4, &target)
                append(entry.compressedLength ?? entry.octets.count, 4, &target)
                append(entry.length ?? plain.count, 4, &target)
            }
            append(0x0403_4B50, 4, &file)
            for value in [20, entry.flags, entry.method, 0, 0x21] { append(value, 2, &file) }
            sizes(&file)
            let header = entry.headerName ?? entry.name
            append(header.utf8.count, 2, &file)
            append(entry.extra.count, 2, &file)
            file += Array(header.utf8) + entry.extra + entry.octets + entry.suffix
            append(0x0201_4B50, 4, &directory)
            for value in [3 << 8 | 20, 20, entry.flags, entry.method, 0, 0x21] { append(value, 2, &directory) }
            sizes(&directory)
            append(entry.name.utf8.count, 2, &directory)
            append(entry.extra.count, 2, &directory)
            for _ in 0..<3 { append(0, 2, &directory) }
            append(entry.mode << 16, 4, &directory)
            append(entry.position ?? start, 4, &directory)
            directory += Array(entry.name.utf8) + entry.extra
        }
        let start = file.count
        file += directory
        append(0x0605_4B50, 4, &file)
        for value in [0, 0, count ?? entries.count, count ?? entries.count] { append(value, 2, &file) }
        append(directory.count, 4, &file)
        append(start, 4, &file)
        append(comment.count, 2, &file)
        return file + comment
    }

    private func append(_ value: Int, _ width: Int, _ target: inout [UInt8]) {
        for index in 0..<width { target.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}

@Suite("Reading of archives")
struct ZipTests {
    /// "hello" in a stored block of Deflate.
    static let deflated: [UInt8] = [1, 5, 0, 0xFA, 0xFF] + Array("hello".utf8)

    /// The descriptor of "hello".
    static func descriptor(isMarked: Bool, checksum: UInt32 = 0x3610_A686) -> [UInt8] {
        (isMarked ? [0x50, 0x4B, 7, 8] : []) + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
            + [5, 0, 0, 0, 5, 0, 0, 0]
    }

    private func read(_ sample: ZipSample, _ limits: PackageLimits = PackageLimits()) throws -> [String: [UInt8]] {
        let source = MemoryZip(octets: sample.octets)
        let directory = try ZipDirectory(source, limits: limits)
        return try directory.entries.mapValues { entry in
            var reader = ZipEntryReader(entry, of: source)
            return try reader.readAll()
        }
    }

    @Test(
        "Plain archives are read",
        arguments: [
            ZipSample(entries: [.init()]), ZipSample(entries: [.init()], comment: Array("a comment".utf8)),
            ZipSample(entries: [.init(octets: deflated, method: 8, plain: Array("hello".utf8))]),
            ZipSample(entries: [.init(name: "folder/", octets: [], mode: 0o040755), .init(mode: 0o100644)]),
            ZipSample(entries: [.init(name: "folder/", octets: [3, 0], method: 8, plain: []), .init()]),
            ZipSample(entries: [.init(flags: 8, suffix: descriptor(isMarked: true))]),
            ZipSample(entries: [.init(flags: 8, suffix: descriptor(isMarked: false))]),
            // An extra field that is none of ZIP64's: the time of Unix.
            ZipSample(entries: [.init(extra: [0x55, 0x54, 1, 0, 0])]),
        ])
    func plain(sample: ZipSample) throws {
        #expect(try read(sample) == ["a.txt": Array("hello".utf8)])
    }

    @Test(
        "Archives that deceive are refused",
        arguments: [
            ("two entries", ZipSample(entries: [.init(), .init()])),
            ("leaves its folder", ZipSample(entries: [.init(name: "../a.txt")])),
            ("leaves its folder", ZipSample(entries: [.init(name: "/a.txt")])),
            ("leaves its folder", ZipSample(entries: [.init(name: "a//b")])),
            ("leaves its folder", ZipSample(entries: [.init(name: "a/./b")])),
            ("leaves its folder", ZipSample(entries: [.init(name: "..\\a.txt")])),
            ("leaves its folder", ZipSample(entries: [.init(name: "c:a.txt")])),
            ("leaves its folder", ZipSample(entries: [.init(name: "a\u{0}b")])),
            ("link", ZipSample(entries: [.init(mode: 0o120777)])),
            ("link", ZipSample(entries: [.init(mode: 0o020666)])),
            ("encrypted", ZipSample(entries: [.init(flags: 1)])),
            ("encrypted", ZipSample(entries: [.init(flags: 0x40)])),
            ("encrypted", ZipSample(entries: [.init(flags: 0x2000)])),
            ("method 12", ZipSample(entries: [.init(method: 12)])),
            ("differ", ZipSample(entries: [.init(headerName: "b.txt")])),
            ("ZIP64", ZipSample(entries: [.init(extra: [1, 0, 0, 0])])),
            ("ZIP64", ZipSample(entries: [.init(length: 0xFFFF_FFFF, compressedLength: 0xFFFF_FFFF)])),
            ("ZIP64", ZipSample(entries: [.init()], count: 0xFFFF)),
            ("damaged", ZipSample(entries: [.init()], prefix: [0])),
            ("damaged", ZipSample(entries: [.init()], count: 2)),
            ("damaged", ZipSample(entries: [.init(checksum: 7)])),
            ("damaged", ZipSample(entries: [.init(length: 4)])),
            ("damaged", ZipSample(entries: [.init(octets: deflated, length: 4, method: 8)])),
            ("damaged", ZipSample(entries: [.init(octets: deflated, length: 6, method: 8)])),
            ("damaged", ZipSample(entries: [.init(octets: deflated + [0], method: 8, plain: Array("hello".utf8))])),
            ("damaged", ZipSample(entries: [.init(octets: [7, 7, 7], length: 5, method: 8)])),
            // A folder whose octets are no empty file.
            (
                "damaged",
                ZipSample(entries: [.init(name: "a/", octets: [1, 0, 0x78, 0xFF, 0xFF], method: 8, plain: [])])
            ),
            ("damaged", ZipSample(entries: [.init(name: "a/", octets: [3, 0, 7], method: 8, plain: [])])),
            // A file that only a reader of the headers finds.
            ("belong to no entry", ZipSample(entries: [.init(suffix: [0x50, 0x4B, 3, 4]), .init(name: "b.txt")])),
            ("belong to no entry", ZipSample(entries: [.init(), .init(name: "b.txt", suffix: [0])])),
            ("belong to no entry", ZipSample(entries: [.init(suffix: descriptor(isMarked: true))])),
            ("damaged", ZipSample(entries: [.init(flags: 8)])),
            ("damaged", ZipSample(entries: [.init(flags: 8, suffix: descriptor(isMarked: true, checksum: 7))])),
            // Some readers take the last end without a look at the length of its comment.
            ("second end", ZipSample(entries: [.init()], comment: ZipSample().octets + [0])),
            ("not a ZIP archive", ZipSample()),
        ])
    func hostile(reason: String, sample: ZipSample) throws {
        // The last one is cut off below.
        let isCut = sample.entries.isEmpty
        let error = #expect(throws: PackageError.self) {
            if isCut { _ = try ZipDirectory(MemoryZip(octets: Array("GIF89a".utf8))) } else { _ = try read(sample) }
        }
        #expect(error?.code == .invalid && error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("Entries of two records at one place are refused although all headers agree")
    func overlap() throws {
        // The octets of the first entry are a whole second entry, which the directory names as well.
        let inner = ZipSample(entries: [.init(name: "b.txt")]).octets.prefix(30 + 5 + 5)
        let sample = ZipSample(entries: [.init(octets: Array(inner)), .init(name: "b.txt", position: 30 + 5)])
        let error = #expect(throws: PackageError.self) { try read(sample) }
        #expect(error?.description.contains("share octets") == true, "\(error?.description ?? "")")
    }

    @Test("No archive costs more than the limits, whatever it states")
    func limits() throws {
        var limits = PackageLimits()
        (limits.entries, limits.totalLength, limits.ratioFreeLength, limits.ratio) = (2, 12, 5, 2)
        let bomb = ZipSample.Entry(octets: [0, 1, 2], length: 9, method: 8)
        for (reason, entries) in [
            ("more than 2 entries", ["a", "b", "c"].map { ZipSample.Entry(name: $0) }),
            ("more than 12 octets", [.init(name: "a", octets: [UInt8](repeating: 1, count: 13))]),
            ("more than 2 times", [bomb]),
        ] {
            let error = #expect(throws: PackageError.self) { try read(ZipSample(entries: entries), limits) }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
        limits = PackageLimits()
        limits.directoryLength = 50
        let error = #expect(throws: PackageError.self) { try read(ZipSample(entries: [.init()]), limits) }
        #expect(error?.description.contains("directory has more than 50") == true, "\(error?.description ?? "")")
        limits.fileLength = 20
        #expect(throws: PackageError.self) { try read(ZipSample(entries: [.init()]), limits) }
    }

    @Test("Every archive that is cut off is refused, and no changed octet is read as something else")
    func damage() throws {
        let sample = ZipSample(entries: [
            .init(), .init(name: "b.txt", octets: ZipTests.deflated, method: 8, plain: Array("hello".utf8)),
        ])
        let octets = sample.octets
        for count in 0..<octets.count {
            #expect(throws: PackageError.self, "\(count)") {
                _ = try ZipDirectory(MemoryZip(octets: Array(octets[..<count])))
            }
        }
        let known = try read(sample)
        for index in octets.indices {
            var changed = octets
            changed[index] ^= 0x5A
            let source = MemoryZip(octets: changed)
            guard let directory = try? ZipDirectory(source) else { continue }
            for (name, entry) in directory.entries {
                var reader = ZipEntryReader(entry, of: source)
                guard let read = try? reader.readAll() else { continue }
                // A changed name is found by the manifest, which names every file.
                #expect(known[name].map { $0 == read } ?? true, "\(index)")
            }
        }
    }

    @Test("A download that has broken off is known by its missing end, and a file of another kind is none")
    func cutOff() throws {
        let octets = ZipSample(entries: [.init()], comment: Array("a comment".utf8)).octets
        for count in 4..<octets.count {
            #expect(try ZipDirectory.isCutOff(MemoryZip(octets: Array(octets[..<count]))), "\(count)")
        }
        #expect(try !ZipDirectory.isCutOff(MemoryZip(octets: octets)))
        #expect(try !ZipDirectory.isCutOff(MemoryZip(octets: Array("<!doctype html>".utf8))))
        #expect(try !ZipDirectory.isCutOff(MemoryZip(octets: [])))
    }

    @Test("What is written is read again, and the same files make the same octets")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            var builder = PackageBuilder()
            var bodies: [String: [UInt8]] = [:]
            for number in 0..<generator.below(8) + 1 {
                let body = (0..<generator.below(3000)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                let url = try RequestURL("https://shop.example/\(number)?q=\(generator.below(3))")
                bodies[url.description] = body
                try builder.add(.init(url: url, fields: [.init("Content-Type", "text/plain")], body: body))
            }
            let key = generator.below(2) == 0 ? PackageKey() : nil
            let version = try #require(PackageVersion("1.0.\(generator.below(9))"))
            var file: [UInt8] = []
            let written = try builder.write(name: "shop", version: version, signedBy: key) { file += $0 }
            let archive = try PackageArchive(MemoryZip(octets: file))
            #expect(archive.manifest == written && archive.manifest.resources.count == bodies.count)
            #expect(try archive.verifiedKey(pinned: key?.publicKey) == key?.publicKey)
            for resource in archive.manifest.resources {
                var body: [UInt8] = []
                try archive.read(resource) { body += $0 }
                #expect(body == bodies[resource.url.description])
            }
            if key == nil {
                var again: [UInt8] = []
                _ = try builder.write(name: "shop", version: version, signedBy: nil) { again += $0 }
                #expect(again == file)
            }
        }
    }
}
