import CookieModel

/// Reads a table of cookies that was copied from a browser's developer tools: a cookie a line, its columns separated by
/// tabs.
///
/// Chromium and Firefox begin with the same nine columns, which count if the table has no heading. A heading names the
/// columns in another order. A mark (`✓`) or `true` sets a flag. An empty flag is read as not set, and does not clear that of
/// a stored cookie.
struct CookieTableReader: LineContent {
    private enum Column {
        case name, value, domain, path, expires, httpOnly, secure, sameSite, partition, crossSite, other

        init(heading: Octets) {
            self =
                switch heading.lowercased {
                case "name": .name
                case "value": .value
                case "domain", "host": .domain
                case "path": .path
                case "expires", "expires / max-age": .expires
                case "httponly": .httpOnly
                case "secure": .secure
                case "samesite": .sameSite
                case "partition key", "partition key site": .partition
                case "cross site": .crossSite
                default: .other
                }
        }
    }

    private struct Problem: Error {
        let finding: String
    }

    /// The columns before Firefox's time of the last access, and Chromium's.
    private static let usual: [Column] = [
        .name, .value, .domain, .path, .expires, .other, .httpOnly, .secure, .sameSite, .partition, .crossSite,
    ]
    private static let columnLimit = 64

    private var columns = CookieTableReader.usual

    /// Whether a table begins with this line: a heading, or a row with a path, an expiry and a size.
    static func begins(with line: Span<UInt8>) -> Bool {
        let cells = cells(of: line)
        guard heading(cells) == nil else { return true }
        guard cells.count >= 6, cells[3].first == ASCII.slash, isSession(cells[4]) || moment(cells[4]) != nil else {
            return false
        }
        return !cells[5].isEmpty && cells[5].allSatisfy(ASCII.isDigit)
    }

    /// Whether a table begins with this line that has several spaces in the place of each tab.
    static func begins(withSpacesIn line: Span<UInt8>) -> Bool {
        var text: [UInt8] = []
        for index in 0..<line.count {
            if line[index] != ASCII.space {
                text.append(line[index])
            } else if text.last == ASCII.space {
                text[text.count - 1] = ASCII.tab
            } else if text.last != ASCII.tab {
                text.append(line[index])
            }
        }
        return begins(with: text.span)
    }

    /// The columns that a heading names; `nil` for any other line.
    private static func heading(_ cells: [Octets]) -> [Column]? {
        guard cells.count >= 3 else { return nil }
        let columns = cells.map { Column(heading: $0) }
        return columns.contains(.name) && columns.contains(.value) && columns.contains(.domain) ? columns : nil
    }

    /// The cells of a line, without the blanks around them.
    private static func cells(of line: Span<UInt8>) -> [Octets] {
        let text = line.withUnsafeBufferPointer { Octets($0) }
        return text.split(separator: ASCII.tab, maxSplits: columnLimit, omittingEmptySubsequences: false)
            .map { Octets(Array($0)).trimmingBlanks }
    }

    mutating func take(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        guard !line.trimmingBlanks(0..<line.count).isEmpty else { return }
        let cells = Self.cells(of: line)
        if let heading = Self.heading(cells) {
            columns = heading
            return
        }
        do throws(Problem) {
            items.append(.cookie(try record(cells), place))
        } catch {
            items.append(.failure(.lineMalformed(error.finding), at: place))
        }
    }

    private func record(_ cells: [Octets]) throws(Problem) -> CookieRecord {
        func cell(_ column: Column) -> Octets? {
            columns.firstIndex(of: column).flatMap { $0 < cells.count ? cells[$0] : nil }
        }
        // Both browsers show the domain of a cookie for subdomains with a dot.
        let written = cell(.domain)?.utf8String ?? ""
        let domain = written.hasPrefix(".") ? String(written.dropFirst()) : written
        guard let name = cell(.name), let value = cell(.value), !domain.isEmpty else {
            throw Problem(finding: "The row has no name, value and domain, separated by tabs.")
        }
        let path = cell(.path) ?? "/"
        guard path.isEmpty || path.first == ASCII.slash else {
            throw Problem(finding: "The path does not begin with a slash.")
        }
        let (isSecure, isHTTPOnly) = (Self.flag(cell(.secure)), Self.flag(cell(.httpOnly)))
        var record = CookieRecord(
            name: name, value: value, domain: domain,
            isHostOnly: domain == written || WebHost(domain)?.isIPAddress == true, path: path.isEmpty ? "/" : path,
            isSecure: isSecure ?? false, isHTTPOnly: isHTTPOnly ?? false)
        if isSecure == nil { record.unstated.insert(.secure) }
        if isHTTPOnly == nil { record.unstated.insert(.httpOnly) }
        if let sameSite = Self.sameSite(cell(.sameSite), isSecure: record.isSecure) {
            record.sameSite = sameSite
        } else {
            record.unstated.insert(.sameSite)
        }
        if let text = cell(.expires), !Self.isSession(text) {
            guard let moment = Self.moment(text) else {
                throw Problem(finding: "The expiry is neither a date nor 'Session'.")
            }
            record.expiry = moment
        }
        // Firefox has the time of the last access there.
        if let site = cell(.partition), site.starts(with: "http".utf8), let url = try? RequestURL(site) {
            record.partitionKey = PartitionKey(
                topLevelSite: "\(url.scheme.name)://\(url.host)",
                hasCrossSiteAncestor: Self.flag(cell(.crossSite)) ?? false)
        }
        return record
    }

    private static func isSession(_ text: Octets) -> Bool { text.isEmpty || text.lowercased == "session" }

    private static func moment(_ text: Octets) -> Timestamp? {
        Timestamp(rfc3339: text) ?? text.withSpan { CookieDate.parse($0) }
    }

    /// A flag; `nil` for an empty cell.
    private static func flag(_ text: Octets?) -> Bool? {
        guard let text, !text.isEmpty else { return nil }
        return text.lowercased != "false"
    }

    private static func sameSite(_ text: Octets?, isSecure: Bool) -> SameSite? {
        switch text?.lowercased {
        case "strict": .strict
        case "lax": .lax
        case "none" where isSecure: SameSite.none
        default: nil
        }
    }
}
