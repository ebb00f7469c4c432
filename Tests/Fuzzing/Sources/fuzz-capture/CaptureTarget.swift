import FuzzSupport

@testable import Captures
@testable import CookieModel

/// Any bytes as a capture: the first says which format, or none so that it has to be told, the second how the rest is cut
/// into pieces.
enum CaptureTarget {
    private static let formats: [CaptureFormat?] = [nil] + CaptureFormat.allCases

    static func check(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let format = formats[Int(input[0]) % formats.count]
        let bytes = Array(input[2...])
        let whole = read(bytes, as: format, pieceLength: bytes.count)
        let pieces = read(bytes, as: format, pieceLength: Int(input[1] % 31) + 1)
        Invariant.holds(whole.items == pieces.items, "where the pieces are cut changes nothing")
        Invariant.holds(whole.format == pieces.format, "nor the format")
        // Only what is packed may come to more than came in.
        let isPacked = bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0x50, 0x4B])
        let count = max(bytes.count, 1) * (whole.format == .firefoxSession ? 256 : 1) * (isPacked ? 1100 : 1)
        Invariant.holds(whole.items.count <= count + 2, "there are no more items than bytes")
        for item in whole.items { checkItem(item, within: count) }
    }

    private static func read(
        _ bytes: [UInt8], as format: CaptureFormat?, pieceLength: Int
    ) -> (items: [CaptureItem], format: CaptureFormat?) {
        var reader = CaptureReader(source: "x", url: "https://a.test/b/c", format: format)
        var items: [CaptureItem] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + max(pieceLength, 1), bytes.count)
            reader.read(bytes.span.extracting(start..<end)) { items.append($0) }
            start = end
        }
        reader.finish { items.append($0) }
        Invariant.holds(reader.bufferedByteCount <= 4 * bytes.count + (1 << 20), "what is held is bounded by what came")
        return (items, reader.format)
    }

    private static func checkItem(_ item: CaptureItem, within count: Int) {
        let place = item.place
        Invariant.holds(place.source == "x" || place.source.hasPrefix("x/"), "a place names its capture")
        Invariant.holds((place.line ?? 1) >= 1 && (place.line ?? 1) <= count + 1, "a line is one of the input's")
        Invariant.holds((place.entry ?? 1) >= 1 && (place.entry ?? 1) <= count, "an entry is one of the input's")
        switch item {
        case .failure(let error):
            let leastCount = error.code == .storageLeftOut ? 0 : 1
            Invariant.holds(!error.message.isEmpty && error.count >= leastCount, "a failure has a sentence")
        case .response(let response):
            let length = response.setCookie.reduce(0) { $0 + $1.count }
            // A message's cookie is put together of its parts, and a dump's URL grows with its redirects.
            Invariant.holds(length <= 3 * count + 256, "no more octets come out than went in")
        case .cookie(let record, _):
            Invariant.holds(record.name.count + record.value.count <= 3 * count, "no more octets come out than went in")
            Invariant.holds(record.path.first != nil, "a path is not empty")
        case .storage(let item, _):
            Invariant.holds(item.octetCount <= 3 * count, "no more octets come out than went in")
        }
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    CaptureTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
