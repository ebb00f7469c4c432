import CookieModel
import HTTPMessages

/// What has been read of one header block, and what it says about the bytes behind it.
struct CapturedHead {
    /// What stands behind the block.
    enum Sequel {
        /// Another response of the same transfer may: of the same URL, or of the one in `Location`.
        case sameURL
        case location(Octets)
        /// Nothing but the body.
        case none
    }

    /// Which block it is, and which line it begins at, both counted from 1.
    let index: Int
    let line: Int
    let statusLine: StatusLine
    private(set) var setCookie = SetCookieLines()
    private(set) var date: Timestamp?
    private(set) var location: Octets?
    private var contentLength: Int?
    private var isLengthUnusable = false

    init(index: Int, line: Int, statusLine: StatusLine) {
        self.index = index
        self.line = line
        self.statusLine = statusLine
    }

    var status: Int { statusLine.status }

    /// Takes one field line, folded lines joined; false where it is none.
    mutating func take(_ field: Span<UInt8>) -> Bool {
        guard let parts = field.fieldParts else { return false }
        let name = field.extracting(parts.name)
        let value = field.extracting(parts.value)
        if name.equalsIgnoringCase("set-cookie") {
            setCookie.append(value)
        } else if name.equalsIgnoringCase("location") {
            // The first that is not empty, as in curl.
            if location == nil, !value.isEmpty { location = value.withUnsafeBufferPointer { Octets($0) } }
        } else if name.equalsIgnoringCase("date") {
            date = date ?? CookieDate.parse(value)
        } else if name.equalsIgnoringCase("content-length") {
            takeLength(value)
        } else if name.equalsIgnoringCase("transfer-encoding") || name.equalsIgnoringCase("content-encoding") {
            // The body as printed is decoded, so no field tells its length.
            isLengthUnusable = true
        }
        return true
    }

    private mutating func takeLength(_ value: Span<UInt8>) {
        var length = 0
        for index in value.indices {
            guard ASCII.isDigit(value[index]), length < Int.max / 16 else {
                isLengthUnusable = true
                return
            }
            length = length * 10 + Int(value[index] &- ASCII.zero)
        }
        if value.isEmpty || contentLength ?? length != length { isLengthUnusable = true }
        contentLength = length
    }

    /// How long the body is, as far as that can be relied on; `nil` for up to the end.
    var bodyLength: Int? {
        if status / 100 == 1 || status == 204 || status == 304 || statusLine.opensTunnel { return 0 }
        return isLengthUnusable ? nil : contentLength
    }

    /// What may stand behind the block.
    var sequel: Sequel {
        switch status {
        case 100..<200, 401, 407: return .sameURL
        case 301, 302, 303, 307, 308:
            guard let location else { return .none }
            return .location(location)
        default: return statusLine.opensTunnel ? .sameURL : .none
        }
    }
}
