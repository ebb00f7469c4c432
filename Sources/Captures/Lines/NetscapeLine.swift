import CookieModel

/// Reads cookie files: seven columns a line, separated by tabs, as Netscape wrote them and curl, wget, yt-dlp and
/// browsers' exporters do. ``NetscapeLine`` defines the form of a line.
///
/// A line that is not a cookie line is one failure. Empty lines and comments are skipped. A line directly followed by
/// the same one with the HttpOnly mark is one cookie: ``NetscapeWriter`` writes such pairs for tools that do not know
/// the mark.
struct NetscapeReader: LineFormatReader {
    let source: String
    var lines: LineBuffer
    private var parser = NetscapeLine()
    /// The last cookie, whose next line may be the same with the mark.
    private var waiting: (record: CookieRecord, place: CapturePlace)?
    /// The lines whose second column contradicts the dot before the domain.
    private var contradictions: (first: CapturePlace, count: Int)?

    /// A file whose first line has the number `firstLine` in `source`.
    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        switch parser.parse(bytes.extracting(bytes.droppingCarriageReturn)) {
        case .nothing: break
        case .cookie(let record):
            if parser.contradictsDot {
                contradictions = (contradictions?.first ?? place, (contradictions?.count ?? 0) + 1)
            }
            if let plain = waiting?.record, record.isHTTPOnly, !plain.isHTTPOnly {
                var marked = plain
                marked.isHTTPOnly = true
                if marked == record { waiting = nil }
            }
            passOn(into: &items)
            waiting = (record, place)
        case .malformed(let finding):
            passOn(into: &items)
            items.append(.failure(.lineMalformed(finding, at: place)))
        }
    }

    mutating func leaveOutLine(into items: inout [CaptureItem]) {
        passOn(into: &items)
        items.append(.failure(.lineTooLong(at: place)))
    }

    mutating func finishLines(into items: inout [CaptureItem]) {
        passOn(into: &items)
        guard let contradictions else { return }
        items.append(.failure(.subdomainsContradicted(contradictions.count, at: contradictions.first)))
    }

    private mutating func passOn(into items: inout [CaptureItem]) {
        if let (record, place) = waiting { items.append(.cookie(record, place)) }
        waiting = nil
    }
}

/// Parses one line of a cookie file.
///
/// | column | is |
/// | --- | --- |
/// | domain | leading dot and `:port` (wget) dropped; `#HttpOnly_` before it marks HttpOnly |
/// | subdomains | `TRUE` or `FALSE` in any case: it alone decides between domain cookie and host-only cookie |
/// | path | begins with `/`; empty or left out is `/` |
/// | secure | `TRUE` or `FALSE` in any case |
/// | expiry | seconds since 1970, also with decimals; 0, -1 and nothing mean "with the session" |
/// | name | octets |
/// | value | octets; left out is empty |
/// | same-site | `Strict`, `Lax` or `None`, as libsoup writes it; any other value does not count if the heading names 8 columns |
///
/// - A dot before the domain means the same as the second column. If they differ, the column counts, as in curl. A
///   cookie for an IP address is host-only, whatever the file says.
/// - Libsoup writes `None` both for `SameSite=None` and for no attribute; it is read as "not known", which is the
///   stricter one.
/// - A line with more columns is rejected, as in curl: a value that contains a tab looks the same as one more column.
/// - Other negative expiries are times before 1970, so the cookie has expired.
struct NetscapeLine {
    enum Result {
        /// An empty line or a comment.
        case nothing
        case cookie(CookieRecord)
        /// Not a cookie line, and why.
        case malformed(String)
    }

    /// The columns of the current line; kept to be used again.
    private var columns: [Range<Int>] = []
    /// Whether the last cookie's second column contradicts the dot before its domain.
    private(set) var contradictsDot = false
    /// Whether a comment names 8 columns.
    private var hasLongHeading = false

    /// Parses a line without its line end.
    mutating func parse(_ line: Span<UInt8>) -> Result {
        let marker: StaticString = "#HttpOnly_"
        let isHTTPOnly = line.hasPrefix(marker)
        let start = isHTTPOnly ? marker.utf8CodeUnitCount : 0
        if !isHTTPOnly, isNothing(line) {
            // A whole file of old Macs would be one comment.
            guard let end = line.firstIndex(of: ASCII.carriageReturn, from: 0),
                line.firstIndex(of: ASCII.tab, from: end) != nil
            else {
                split(line, from: 0)
                if columns.count == 8 { hasLongHeading = true }
                return .nothing
            }
            return .malformed("The lines end with carriage returns alone: save the file with line feeds.")
        }
        split(line, from: start)
        let isPathLeftOut = columns.count >= 3 && flag(line.extracting(columns[2])) != nil
        if isPathLeftOut { columns.insert(columns[2].lowerBound..<columns[2].lowerBound, at: 2) }
        if columns.count == 6 { columns.append(line.count..<line.count) }
        guard columns.count == 7 || columns.count == 8 else { return .malformed(finding(in: line, from: start)) }

        guard let (domain, isIPAddress) = domain(line.extracting(columns[0])) else {
            return .malformed("The first column is not a domain.")
        }
        guard let includesSubdomains = flag(line.extracting(columns[1])) else {
            return .malformed("The second column (include subdomains) is neither TRUE nor FALSE.")
        }
        let written = line.extracting(line.trimmingBlanks(columns[0]))
        contradictsDot = !isIPAddress && (written[0] == ASCII.dot) != includesSubdomains
        let path = columns[2]
        guard path.isEmpty || line[path.lowerBound] == ASCII.slash else {
            return .malformed("The third column (path) does not begin with a slash.")
        }
        guard let isSecure = flag(line.extracting(columns[3])) else {
            return .malformed("The fourth column (secure) is neither TRUE nor FALSE.")
        }
        guard let expiry = NetscapeExpiry(line.extracting(columns[4])) else {
            return .malformed("The fifth column (expiry) is not a number of seconds since 1970.")
        }
        let further = columns.count == 8 ? sameSite(line.extracting(columns[7])) : .default
        guard let sameSite = further ?? (hasLongHeading ? .default : nil) else {
            return .malformed("The line has 8 columns where a cookie has 7. (A value cannot contain a tab.)")
        }

        // Path, name and value share one copy of the line.
        let first = path.lowerBound
        let storage = line.extracting(first..<columns[6].upperBound).withUnsafeBufferPointer { Array($0) }
        func octets(_ column: Range<Int>) -> Octets {
            Octets(storage, in: (column.lowerBound - first)..<(column.upperBound - first))
        }
        return .cookie(
            CookieRecord(
                name: octets(columns[5]), value: octets(columns[6]), domain: domain,
                isHostOnly: isIPAddress || !includesSubdomains, path: path.isEmpty ? "/" : octets(path),
                isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, expiry: expiry.timestamp))
    }

    private func isNothing(_ line: Span<UInt8>) -> Bool {
        line.isEmpty || line[0] == ASCII.numberSign || line.trimmingBlanks(0..<line.count).isEmpty
    }

    private mutating func split(_ line: Span<UInt8>, from start: Int) {
        columns.removeAll(keepingCapacity: true)
        var position = start
        while columns.count < 9, let tab = line.firstIndex(of: ASCII.tab, from: position) {
            columns.append(position..<tab)
            position = tab + 1
        }
        columns.append(position..<line.count)
    }

    /// Describes the wrong number of columns.
    private func finding(in line: Span<UInt8>, from start: Int) -> String {
        if columns.count > 8 {
            return "The line has more columns than the 7 of a cookie. (A value cannot contain a tab.)"
        }
        var spaces = 0
        for index in start..<line.count where line[index] == ASCII.space { spaces += 1 }
        if columns.count == 1, spaces >= 4 {
            return "The columns are separated by spaces: a cookie file separates its 7 columns by tabs."
        }
        let columnWord = columns.count == 1 ? "column" : "columns"
        return "The line has \(columns.count) \(columnWord), separated by tabs, where a cookie has 7."
    }

    private func flag(_ column: Span<UInt8>) -> Bool? {
        if column.equalsIgnoringCase("false") { return false }
        return column.equalsIgnoringCase("true") ? true : nil
    }

    /// The same-site-flag of libsoup's eighth column.
    private func sameSite(_ column: Span<UInt8>) -> SameSite? {
        if column.equals("Strict") { return .strict }
        if column.equals("Lax") { return .lax }
        return column.equals("None") ? .default : nil
    }

    /// The domain without leading dot and port, and whether it is an IP address.
    private func domain(_ column: Span<UInt8>) -> (text: String, isIPAddress: Bool)? {
        var range = column.trimmingBlanks(0..<column.count)
        if range.count > 0, column[range.lowerBound] == ASCII.dot { range = (range.lowerBound + 1)..<range.upperBound }
        range = withoutPort(column, range)
        guard !range.isEmpty, let text = String(validating: column.extracting(range)) else { return nil }
        // curl writes an IPv6 address without brackets.
        let isBareIPv6 = column[range.lowerBound] != ASCII.leftBracket && text.utf8.count { $0 == ASCII.colon } > 1
        return (isBareIPv6 ? "[\(text)]" : text, isIPAddress(column.extracting(range)))
    }

    /// `host:8080` without `:8080`; an IPv6 address, which has several colons, only behind its brackets.
    private func withoutPort(_ column: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, ASCII.isDigit(column[end - 1]) { end -= 1 }
        guard end > range.lowerBound, end < range.upperBound, column[end - 1] == ASCII.colon else { return range }
        let host = range.lowerBound..<(end - 1)
        guard let last = host.last else { return range }
        let hasMoreColons = column.extracting(host).firstIndex(of: ASCII.colon, from: 0) != nil
        return !hasMoreColons || column[last] == ASCII.rightBracket ? host : range
    }

    /// Whether a host is an address rather than a name: one with a colon, or one whose last label is a number
    /// (URL Standard, "ends in a number").
    private func isIPAddress(_ host: Span<UInt8>) -> Bool {
        if host.firstIndex(of: ASCII.colon, from: 0) != nil { return true }
        var start = host.count
        while start > 0, ASCII.isDigit(host[start - 1]) { start -= 1 }
        return start < host.count && (start == 0 || host[start - 1] == ASCII.dot)
    }
}

/// The expiry column: seconds since 1970, with decimals or without.
struct NetscapeExpiry {
    /// The moment; `nil` for a cookie that ends with the session: 0, -1 or nothing.
    let timestamp: Timestamp?

    /// Parses the column; `nil` if it is no number. Decimals beyond a microsecond are cut off, and a number that
    /// is too large is the latest moment there is.
    init?(_ column: Span<UInt8>) {
        let range = column.trimmingBlanks(0..<column.count)
        var position = range.lowerBound
        let isNegative = position < range.upperBound && column[position] == ASCII.hyphen
        if isNegative { position += 1 }
        let digitsStart = position
        var seconds: Int64 = 0
        var isTooLarge = false
        while position < range.upperBound, ASCII.isDigit(column[position]) {
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(column[position] &- ASCII.zero))
            isTooLarge = isTooLarge || overflow || carry
            seconds = isTooLarge ? 0 : sum
            position += 1
        }
        guard position > digitsStart || range.isEmpty else { return nil }
        var microseconds: Int64 = 0
        if position < range.upperBound, column[position] == ASCII.dot {
            position += 1
            var unit: Int64 = 100_000
            while position < range.upperBound, ASCII.isDigit(column[position]) {
                microseconds += unit * Int64(column[position] &- ASCII.zero)
                unit /= 10
                position += 1
            }
        }
        guard position == range.upperBound else { return nil }

        let isMinusOne = isNegative && seconds == 1 && microseconds == 0
        if isMinusOne || seconds == 0 && microseconds == 0 && !isTooLarge {
            timestamp = nil
        } else if isTooLarge {
            timestamp = isNegative ? .distantPast : .distantFuture
        } else {
            let whole = Timestamp(seconds: isNegative ? -seconds : seconds)
            let (sum, overflow) = whole.microseconds.addingReportingOverflow(isNegative ? -microseconds : microseconds)
            timestamp = overflow ? whole : Timestamp(microseconds: sum)
        }
    }
}
