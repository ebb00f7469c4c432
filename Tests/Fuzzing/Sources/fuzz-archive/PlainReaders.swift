@testable import OfflinePackages
@testable import WebPrimitives

/// Other readers of archives, as plain as can be. They check nothing: what they find is what other programs find.
enum PlainReaders {
    /// Goes from header to header, as a reader of a stream does. It finds the end of compressed octets by itself. Only the
    /// size of stored octets with a descriptor, which a stream does not tell, is that of the directory.
    static func byHeaders(_ file: [UInt8], _ directory: ZipDirectory) -> [String: [UInt8]]? {
        var (position, files): (Int, [String: [UInt8]]) = (0, [:])
        while number(file, position, 4) == 0x0403_4B50 {
            let (hasDescriptor, method) = (number(file, position + 6, 2) & 8 != 0, number(file, position + 8, 2))
            let nameEnd = position + 30 + number(file, position + 26, 2)
            guard let name = text(file, position + 30, nameEnd) else { return nil }
            let start = nameEnd + number(file, position + 28, 2)
            var end = start + number(file, position + 18, 4)
            if hasDescriptor { end = method == 8 ? file.count : start + Int(directory.entries[name]?.length ?? 0) }
            guard let (octets, rest) = unpacked(file, start, end, method) else { return nil }
            if !name.hasSuffix("/") { files[name] = octets }
            position = end - rest
            if hasDescriptor { position += descriptor(file, position) }
        }
        return files
    }

    /// 16 octets, or 12 if what looks like the signature is the checksum.
    private static func descriptor(_ file: [UInt8], _ position: Int) -> Int {
        guard number(file, position, 4) == 0x0807_4B50 else { return 12 }
        let next = number(file, position + 16, 4)
        return next == 0x0403_4B50 || next == 0x0201_4B50 || next == 0x0605_4B50 ? 16 : 12
    }

    /// Goes by the directory that the last end of the file names.
    static func byLastEnd(_ file: [UInt8]) -> [String: [UInt8]]? {
        guard let end = file.indices.last(where: { number(file, $0, 4) == 0x0605_4B50 }) else { return nil }
        var (position, files): (Int, [String: [UInt8]]) = (number(file, end + 16, 4), [:])
        for _ in 0..<number(file, end + 10, 2) {
            let nameEnd = position + 46 + number(file, position + 28, 2)
            guard let name = text(file, position + 46, nameEnd) else { return nil }
            let header = number(file, position + 42, 4)
            let start = header + 30 + number(file, header + 26, 2) + number(file, header + 28, 2)
            let (end, method) = (start + number(file, position + 20, 4), number(file, position + 10, 2))
            guard let (octets, rest) = unpacked(file, start, end, method), rest == 0 else { return nil }
            if !name.hasSuffix("/") { files[name] = octets }
            position = nameEnd + number(file, position + 30, 2) + number(file, position + 32, 2)
        }
        return files
    }

    /// The octets, and how many of the packed ones are left.
    private static func unpacked(
        _ file: [UInt8], _ start: Int, _ end: Int, _ method: Int
    ) -> (octets: [UInt8], rest: Int)? {
        guard start <= end, end <= file.count else { return nil }
        guard method == 8 else { return (Array(file[start..<end]), 0) }
        var (input, inflate, octets) = (BitInput(Array(file[start..<end])), Inflate(), [UInt8]())
        while !inflate.isComplete {
            guard let piece = (try? inflate.next(&input)) ?? nil else { break }
            octets += piece
        }
        return inflate.isComplete ? (octets, input.count) : nil
    }

    private static func text(_ file: [UInt8], _ start: Int, _ end: Int) -> String? {
        end <= file.count ? String(decoding: file[start..<end], as: UTF8.self) : nil
    }

    /// A number, the lowest octet first; -1 after the end of the file.
    private static func number(_ file: [UInt8], _ position: Int, _ width: Int) -> Int {
        guard position >= 0, position + width <= file.count else { return -1 }
        return (0..<width).reduce(0) { $0 | Int(file[position + $1]) << (8 * $1) }
    }
}
