import Testing
import WebPrimitives

@testable import Captures

@Suite("Compressed captures")
struct UnpackingTests {
    private static let dump = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n"
    private static let har = HARText.document(HARText.entry(setCookie: #""h=1""#))
    private static let summary = "200 https://a.test/ [a=1]"

    /// A ZIP archive, whose files are in one block of Deflate each, or not compressed.
    private struct Archive {
        var bytes: [UInt8] = []

        init(
            _ files: [(name: String, content: [UInt8])], isCompressed: Bool = true, flags: UInt16 = 0,
            method: UInt16? = nil
        ) {
            for (name, content) in files {
                let packed = isCompressed ? Archive.deflated(content) : content
                var checksum = CRC32()
                checksum.update(content)
                let sizes =
                    Archive.little(checksum.value) + Archive.little(UInt32(packed.count))
                    + Archive.little(UInt32(content.count))
                let isStreamed = flags & 8 != 0
                bytes += [0x50, 0x4B, 3, 4, 20, 0]
                bytes += Archive.little(flags)
                bytes += Archive.little(method ?? (isCompressed ? 8 : 0))
                bytes += [0, 0, 0x21, 0]
                bytes += isStreamed ? [UInt8](repeating: 0, count: 12) : sizes
                bytes += Archive.little(UInt16(name.utf8.count))
                bytes += [0, 0]
                bytes += Array(name.utf8)
                bytes += packed
                if isStreamed { bytes += [0x50, 0x4B, 7, 8] + sizes }
            }
            bytes += [0x50, 0x4B, 1, 2] + [UInt8](repeating: 0, count: 42)
            bytes += [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)
        }

        static func little(_ number: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }

        static func deflated(_ content: [UInt8]) -> [UInt8] {
            let length = UInt16(content.count)
            var bytes: [UInt8] = [1]
            bytes += little(length)
            bytes += little(~length)
            bytes += content
            return bytes
        }
    }

    private static func gzip(_ content: [UInt8]) -> [UInt8] {
        var checksum = CRC32()
        checksum.update(content)
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        bytes += Archive.deflated(content)
        bytes += Archive.little(checksum.value)
        bytes += Archive.little(UInt32(content.count))
        return bytes
    }

    private static func gzip(_ text: String) -> [UInt8] { gzip(Array(text.utf8)) }

    private static func zip(_ files: [(String, String)], compressed: Bool = true, flags: UInt16 = 0) -> [UInt8] {
        Archive(files.map { ($0.0, Array($0.1.utf8)) }, isCompressed: compressed, flags: flags).bytes
    }

    private static let tar: [UInt8] = Array("a.txt".utf8) + [UInt8](repeating: 0, count: 252) + Array("ustar".utf8)
    private static let attachment = String(repeating: "0aF3", count: 10)

    private static let cases: [(bytes: [UInt8], summary: [String])] = {
        var cases: [(bytes: [UInt8], summary: [String])] = []
        func add(_ bytes: [UInt8], _ summary: String...) { cases.append((bytes, summary)) }
        let (packed, file) = (gzip(dump), zip([("d.txt", dump)]))
        let list = #"{"cookies":[{"name":"n","value":"v","domain":"a.test"}]}"#
        add(packed, summary)
        add(gzip("# Netscape HTTP Cookie File\n") + gzip(".a.test\tTRUE\t/\tFALSE\t0\tn\tv\n"), "cookie n=v")
        add(packed + [0, 0, 0], summary)
        add(file, summary)
        add(zip([("d.txt", dump)], compressed: false), summary)
        add(zip([("x/", ""), ("x/d.txt", dump), ("h.har", har)], flags: 8), summary, "200 https://a.test/ [h=1]")
        add(zip([(attachment + ".json", list), ("har.har", har)]), "200 https://a.test/ [h=1]")
        add(zip([("__MACOSX/._d.txt", "x"), ("d.txt", dump)]), summary)
        add(zip([("README", "hello"), ("d.txt", dump), ("e", "")]), summary, "files-passed-over at x")
        add(zip([("logo.png", "PNG\0"), ("d.txt", dump)]), summary, "files-passed-over at x")
        add(zip([("README", "hello")]), "input-unrecognized at x")
        add(zip([]), "input-unrecognized at x")
        add(zip([("d.txt", dump), ("bad.har", "{")]), summary, "input-truncated at x/bad.har")
        add(zip([("n\u{1B}\n.har", "{")]), "input-truncated at x/n.har")
        // Not twice.
        add(gzip(packed), "input-unrecognized at x")
        add(Archive([("d.gz", packed)]).bytes, "input-unrecognized at x/d.gz", "input-unrecognized at x")
        // Encrypted, another method, and a file whose end only the directory tells.
        add(zip([("d.txt", dump)], flags: 1), "input-unrecognized at x")
        add(Archive([("d.txt", [])], method: 9).bytes, "input-unrecognized at x")
        add(zip([("d.txt", dump)], compressed: false, flags: 8), "input-unrecognized at x")
        // The end is missing, or damaged.
        add(packed.dropLast(), summary, "input-truncated at x")
        add(
            Array(packed.prefix(40)), "input-truncated at x: entry 1, line 2", "200 https://a.test/ []",
            "input-truncated at x")
        add(Array(packed.prefix(10)), "input-truncated at x")
        add(packed + [1], summary, "entry-malformed at x")
        add(Array(file.prefix(20)), "input-truncated at x")
        return cases
    }()

    @Test("A compressed capture is read like its content", arguments: cases)
    func contents(bytes: [UInt8], summary: [String]) {
        let capture = Capture(bytes: bytes, url: "https://a.test/")
        #expect(capture.summary == summary)
        for length in [1, 2, 3, 7, 64] { #expect(capture.items(pieceLength: length) == capture.items) }
    }

    @Test("A compressed capture of Python is read, from a file and from a stream")
    func archives() throws {
        for text in [
            "UEsDBBQACAAIAAAAIQAAAAAAAAAAAAAAAAANAAAAZHVtcHMvb25lLnR4dPMICQnQN9QzVDAyMFDw9+blCk4t0XXOz8/OTLVSSLQ1RBVIsjWyV"
                + "ghILMmw1bdW8CgpKfDPy6lEVZJsa4xNCS8XAFBLBwhxPf+oQgAAAGoAAABQSwECFAMUAAgACAAAACEAcT3/qEIAAABqAAAADQAAAAAA"
                + "AAAAAAAAgAEAAAAAZHVtcHMvb25lLnR4dFBLBQYAAAAAAQABADsAAAB9AAAAAAA=",
            "UEsDBBQAAAAIAAAAIQBxPf+oQgAAAGoAAAANAAAAZHVtcHMvb25lLnR4dPMICQnQN9QzVDAyMFDw9+blCk4t0XXOz8/OTLVSSLQ1RBVIsjWyV"
                + "ghILMmw1bdW8CgpKfDPy6lEVZJsa4xNCS8XAFBLAQIUAxQAAAAIAAAAIQBxPf+oQgAAAGoAAAANAAAAAAAAAAAAAACAAQAAAABkdW1w"
                + "cy9vbmUudHh0UEsFBgAAAAABAAEAOwAAAG0AAAAAAA==",
        ] {
            let bytes = try #require(Base64.decode(Array(text.utf8)))
            let capture = Capture(bytes: bytes, url: "https://a.test/", format: .http)
            #expect(capture.responses.map(\.setCookie.count) == [3])
            #expect(capture.responses.map(\.place.source) == ["x/dumps/one.txt"])
            #expect(capture.failures.isEmpty)
            for length in 1...20 { #expect(capture.items(pieceLength: length) == capture.items) }
        }
    }

    @Test("Unpacking ends at the limit, wherever the pieces are cut")
    func limit() {
        let packed = Self.gzip(String(repeating: "x", count: 100)) + Self.gzip("y")
        for (limit, count) in [(200, 101), (101, 101), (100, 100), (99, 99), (50, 50)] {
            for length in [1, 7, packed.count] {
                var unpacker = Unpacker(isArchive: false, limit: limit)
                var (output, failures): ([UInt8], [Unpacker.Failure]) = ([], [])
                for start in stride(from: 0, to: packed.count, by: length) {
                    unpacker.append(packed.span.extracting(start..<min(start + length, packed.count)))
                    while let part = unpacker.next() {
                        switch part {
                        case .octets(let octets): output += octets
                        case .failure(let failure): failures.append(failure)
                        case .file, .endOfFile: break
                        }
                    }
                }
                unpacker.finish()
                #expect(unpacker.next() == nil, "nothing comes after the end")
                #expect(output.count == count && failures == (count < 101 ? [.tooLong] : []), "\(limit)")
            }
        }
    }

    @Test("A compressed capture that expands a thousand times is read in limited memory")
    func ratio() {
        // A block with fixed codes: one space, and then 258 of them in 13 bits each.
        var (bits, count, packed) = (UInt64(0b011), UInt64(3), [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] as [UInt8])
        func reversed(_ code: UInt64, _ length: Int) -> UInt64 {
            (0..<length).reduce(0) { $0 << 1 | code >> UInt64($1) & 1 }
        }
        func add(_ code: UInt64, _ length: Int) {
            bits |= reversed(code, length) << count
            count += UInt64(length)
            while count >= 8 {
                packed.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                count -= 8
            }
        }
        add(0x30 + 0x20, 8)
        for _ in 0..<4000 {
            add(0b1100_0101, 8)
            add(0, 5)
        }
        var run = BoundedMemoryTests.Run(reader: CaptureReader(source: "x"))
        run.push(packed)
        run.finish()
        #expect(run.peak < 300_000)
        #expect(run.failures.map(\.code) == [.inputTruncated])
    }

    @Test(
        "Other compressions are named, with the command that unpacks them",
        arguments: [
            ([0x28, 0xB5, 0x2F, 0xFD, 0], "zstdcat"), (Array("BZh9".utf8), "bzcat"), ([0x1F, 0x9D, 0x90], "zcat"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xzcat"), ([0x04, 0x22, 0x4D, 0x18], "lz4cat"),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "7z x"),
            (tar, "tar -xf"),
        ] as [([UInt8], String)])
    func others(bytes: [UInt8], command: String) {
        let failures = Capture(bytes: bytes).failures
        #expect(failures.map(\.code) == [.inputUnrecognized])
        #expect(failures.allSatisfy { $0.message.contains(command) })
        #expect(Capture(bytes: Self.gzip(bytes)).failures == failures)
    }

    @Test("Brotli has no signature and is recognized by the file name")
    func brotli() {
        for (name, isTold) in [("x.har.br", true), ("x.har", false)] {
            var reader = CaptureReader(source: name)
            var failures: [CaptureError] = []
            reader.read([0x1B, 0x20, 0, 0x80].span) { _ in }
            reader.finish { if case .failure(let error) = $0 { failures.append(error) } }
            #expect(failures.map { $0.message.contains("brotli -dc") } == [isTold])
        }
    }
}
