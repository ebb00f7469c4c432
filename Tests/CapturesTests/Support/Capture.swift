import CookieModel

@testable import Captures

/// Reads captures for tests and says in short what came out.
struct Capture {
    var bytes: [UInt8]
    var url: String?
    var format: CaptureFormat?

    init(_ text: String, url: String? = nil, format: CaptureFormat? = nil) {
        self.init(bytes: Array(text.utf8), url: url, format: format)
    }

    init(bytes: [UInt8], url: String? = nil, format: CaptureFormat? = nil) {
        self.bytes = bytes
        self.url = url
        self.format = format
    }

    /// A reader that has read nothing.
    var reader: CaptureReader { CaptureReader(source: "x", url: url, format: format) }

    /// A reader that has read these bytes.
    func reader(atEndOf bytes: [UInt8]) -> CaptureReader {
        var reader = reader
        reader.read(bytes.span) { _ in }
        reader.finish { _ in }
        return reader
    }

    /// All items, read in one piece.
    var items: [CaptureItem] { items(cutAt: []) }

    /// All items, with the bytes cut at these positions, which must be in order.
    func items(cutAt positions: [Int]) -> [CaptureItem] {
        var reader = reader
        var found: [CaptureItem] = []
        var start = 0
        for end in positions + [bytes.count] {
            reader.read(bytes.span.extracting(start..<end)) { found.append($0) }
            start = end
        }
        reader.finish { found.append($0) }
        return found
    }

    /// All items, with the bytes in pieces of this length.
    func items(pieceLength: Int) -> [CaptureItem] {
        items(cutAt: Array(stride(from: pieceLength, to: bytes.count, by: pieceLength)))
    }

    var responses: [CapturedResponse] { items.responses }
    var cookies: [CookieRecord] { items.cookies }
    var failures: [CaptureError] { items.failures }

    /// Every item in a few words: `200 https://a.test/ [a=1|b=2]`, `cookie a=1`, `entry-malformed at x: entry 1`.
    var summary: [String] {
        items.map { item in
            switch item {
            case .response(let response):
                "\(response.status) \(response.url) [\(response.setCookie.map(\.description).joined(separator: "|"))]"
            case .cookie(let record, _): "cookie \(record.name)=\(record.value)"
            case .storage(let item, _): "storage \(item.origin) \(item.key)=\(item.value)"
            case .failure(let error): "\(error.code) at \(error.place)"
            }
        }
    }
}

extension [CaptureItem] {
    var responses: [CapturedResponse] {
        compactMap { item in
            if case .response(let response) = item { response } else { nil }
        }
    }

    /// The cookies, without what their format leaves open.
    var cookies: [CookieRecord] {
        compactMap { item in
            guard case .cookie(var record, _) = item else { return nil }
            record.unstated = []
            return record
        }
    }

    var failures: [CaptureError] {
        compactMap { item in
            if case .failure(let error) = item { error } else { nil }
        }
    }
}
