import CookieModel

/// Reads Safari's `Cookies.binarycookies`: pages with tables of offsets, each cookie with offsets of its texts.
///
/// No offset and no size is trusted: a cookie is dropped if one of its offsets points outside its page or the cookie
/// itself. Partitions are not read, because their place in the file is not documented.
struct BinaryCookiesReader: FormatReader {
    private enum Stage {
        case start
        case sizes(count: Int)
        case page
        case skip(Int)
        case over
    }

    /// More pages than any file has: a page is a site's.
    private static let pageLimit = 1 << 20

    private let source: String
    private var stage = Stage.start
    private var buffer: [UInt8] = []
    private var neededCount = 8
    /// The sizes of the pages, the next one last.
    private var sizes: [Int] = []
    private var entryCount = 0

    init(source: String) {
        self.source = source
    }

    var bufferedByteCount: Int { buffer.capacity + sizes.capacity * 8 }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var position = 0
        while true {
            if case .over = stage { return }
            if case .skip(let length) = stage {
                let count = min(length, bytes.count - position)
                position += count
                stage = .skip(length - count)
                guard count == length else { return }
                beginPage(into: &items)
                continue
            }
            let count = min(neededCount - buffer.count, bytes.count - position)
            buffer.append(bytes.extracting(position..<(position + count)))
            position += count
            guard buffer.count == neededCount else { return }
            takeBuffer(into: &items)
        }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        if case .over = stage { return }
        let place = CapturePlace(source: source, entry: entryCount > 0 ? entryCount : nil)
        items.append(.failure(.documentTruncated(afterEntry: entryCount), at: place))
    }

    private mutating func takeBuffer(into items: inout [CaptureItem]) {
        let bytes = buffer
        buffer.removeAll(keepingCapacity: true)
        switch stage {
        case .start:
            let count = bytes.span.bigEndian(at: 4)
            guard bytes.span.hasPrefix("cook"), count <= Self.pageLimit else {
                items.append(.failure(.notBinaryCookies, at: CapturePlace(source: source)))
                stage = .over
                return
            }
            stage = .sizes(count: count)
            neededCount = count * 4
            if count == 0 { stage = .over }
        case .sizes(let count):
            sizes = (0..<count).reversed().map { bytes.span.bigEndian(at: $0 * 4) }
            beginPage(into: &items)
        case .page:
            takePage(bytes.span, into: &items)
            beginPage(into: &items)
        case .skip, .over: break
        }
    }

    /// Prepares for the next page. After the last one come only a checksum and settings.
    private mutating func beginPage(into items: inout [CaptureItem]) {
        guard let size = sizes.popLast() else {
            stage = .over
            return
        }
        guard size <= CaptureLimits.responseByteCount else {
            entryCount += 1
            items.append(.failure(.entryTooLarge, at: CapturePlace(source: source, entry: entryCount)))
            stage = .skip(size)
            return
        }
        stage = .page
        neededCount = size
    }

    private mutating func takePage(_ page: Span<UInt8>, into items: inout [CaptureItem]) {
        let count = page.count >= 8 ? page.littleEndian(at: 4) : 0
        guard page.count >= 8, count <= (page.count - 8) / 4 else {
            entryCount += 1
            let place = CapturePlace(source: source, entry: entryCount)
            items.append(.failure(.entryMalformed("Its page is shorter than its header says."), at: place))
            return
        }
        for index in 0..<count {
            entryCount += 1
            let place = CapturePlace(source: source, entry: entryCount)
            let start = page.littleEndian(at: 8 + index * 4)
            let size = start <= page.count - 4 ? page.littleEndian(at: start) : 0
            guard size >= 56, size <= page.count - start,
                let record = cookie(page.extracting(start..<(start + size)))
            else {
                items.append(.failure(.entryMalformed("Its offsets point outside of it."), at: place))
                continue
            }
            items.append(.cookie(record, place))
        }
    }

    private func cookie(_ bytes: Span<UInt8>) -> CookieRecord? {
        let flags = bytes.littleEndian(at: 8)
        guard let domain = text(bytes, at: bytes.littleEndian(at: 16)),
            let name = text(bytes, at: bytes.littleEndian(at: 20)),
            let path = text(bytes, at: bytes.littleEndian(at: 24)),
            let value = text(bytes, at: bytes.littleEndian(at: 28))
        else { return nil }
        let isDomainCookie = domain.first == ASCII.dot
        let host = (isDomainCookie ? domain.dropFirst() : domain[...]).withSpan { String(repairing: $0) }
        return CookieRecord(
            name: name, value: value, domain: host, isHostOnly: !isDomainCookie, path: path.isEmpty ? "/" : path,
            isSecure: flags & 1 != 0, isHTTPOnly: flags & 4 != 0, sameSite: sameSite(flags),
            expiry: moment(bytes, at: 40), creation: moment(bytes, at: 48))
    }

    private func sameSite(_ flags: Int) -> SameSite {
        guard flags & 8 != 0 else { return .default }
        return flags & 16 != 0 ? .strict : .lax
    }

    /// The text that ends with a zero byte.
    private func text(_ bytes: Span<UInt8>, at start: Int) -> Octets? {
        guard start >= 56, start < bytes.count, let end = bytes.firstIndex(of: 0, from: start) else { return nil }
        return bytes.extracting(start..<end).withUnsafeBufferPointer { Octets($0) }
    }

    /// Seconds since 2001 as a floating-point number; 0 means none.
    private func moment(_ bytes: Span<UInt8>, at position: Int) -> Timestamp? {
        let high = UInt64(bytes.littleEndian(at: position + 4))
        let seconds = Double(bitPattern: high << 32 | UInt64(bytes.littleEndian(at: position)))
        guard seconds.isFinite, seconds != 0 else { return nil }
        let microseconds = (seconds + 978_307_200) * 1_000_000
        if microseconds >= 0x1p62 { return .distantFuture }
        return microseconds <= -0x1p62 ? .distantPast : Timestamp(microseconds: Int64(microseconds.rounded()))
    }
}

extension Span<UInt8> {
    /// Returns the 32-bit number at `position`, which must be within the bytes.
    fileprivate func littleEndian(at position: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(self[position + $1]) << ($1 * 8) }
    }

    fileprivate func bigEndian(at position: Int) -> Int {
        (0..<4).reduce(0) { $0 << 8 | Int(self[position + $1]) }
    }
}
