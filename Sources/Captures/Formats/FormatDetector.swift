/// Tells formats apart by their first bytes, as soon as these cannot mean anything else.
struct FormatDetector {
    enum Finding: Equatable {
        case format(CaptureFormat)
        /// No format that is known, with what it is as far as can be told.
        case unknown(String)
    }

    /// How each line of our own JSON lines begins.
    private static let cookieLineStart: StaticString = #"{"crumb":1"#

    /// Where the first line begins that is not known to be a comment.
    private var position = 0

    /// What `prefix`, a capture's first bytes without a preamble, begins; `nil` where more bytes are needed.
    ///
    /// - Parameter isWhole: whether no more bytes will come.
    mutating func finding(in prefix: Span<UInt8>, isWhole: Bool) -> Finding? {
        guard prefix.count > 0 else { return isWhole ? .unknown("The input is empty.") : nil }
        if prefix.hasPrefix(Self.cookieLineStart) { return .format(.json) }
        if !isWhole, prefix.isStart(of: Self.cookieLineStart) { return nil }
        if prefix[0] == ASCII.leftBrace { return .format(.har) }
        if prefix.hasPrefix("HTTP/") { return .format(.http) }
        while position < prefix.count {
            let lineEnd = prefix.firstIndex(of: ASCII.lineFeed, from: position)
            guard isWhole || lineEnd != nil else { return nil }
            let line = prefix.extracting(position..<(lineEnd ?? prefix.count))
            switch kind(of: line.extracting(line.droppingCarriageReturn)) {
            case .comment: position = (lineEnd ?? prefix.count) + 1
            case .cookie: return .format(.netscape)
            case .other:
                // No further than here: how many bytes there are behind it depends on the pieces.
                return .unknown(Self.description(of: prefix.extracting(0..<(lineEnd ?? prefix.count))))
            }
        }
        return isWhole ? .unknown("The input holds nothing but comments.") : nil
    }

    private enum LineKind {
        case comment
        case cookie
        case other
    }

    private func kind(of line: Span<UInt8>) -> LineKind {
        if line.isEmpty { return .comment }
        if line[0] == ASCII.numberSign {
            let isTelling =
                line.hasPrefix("# Netscape HTTP Cookie File") || line.hasPrefix("# HTTP Cookie File")
                || line.hasPrefix("#HttpOnly_")
            return isTelling ? .cookie : .comment
        }
        return looksLikeCookie(line) ? .cookie : .other
    }

    /// Six tabs or more; or, for lines that lack a value or have spaces where tabs should be, five columns or more
    /// of which the second is TRUE or FALSE.
    private func looksLikeCookie(_ line: Span<UInt8>) -> Bool {
        var tabCount = 0
        var words: [Range<Int>] = []
        var start = 0
        for index in 0...line.count where index == line.count || ASCII.isBlank(line[index]) {
            if index < line.count, line[index] == ASCII.tab { tabCount += 1 }
            if index > start, words.count < 5 { words.append(start..<index) }
            start = index + 1
        }
        if tabCount >= 6 { return true }
        guard words.count >= 5 else { return false }
        let flag = line.extracting(words[1])
        return flag.equalsIgnoringCase("true") || flag.equalsIgnoringCase("false")
    }

    /// What an unknown input is, so that its owner knows what to do.
    private static func description(of prefix: Span<UInt8>) -> String {
        if prefix.count >= 2 {
            switch (prefix[0], prefix[1]) {
            case (0x1F, 0x8B): return "The input is compressed with gzip: unpack it first."
            case (0x50, 0x4B): return "The input is a ZIP archive: unpack it first."
            case (0x28, 0xB5): return "The input is compressed with zstd: unpack it first."
            case (0xFF, 0xFE), (0xFE, 0xFF): return "The input is UTF-16 text: save it as UTF-8."
            default: break
            }
        }
        if prefix.hasPrefix("SQLite format 3") { return "The input is an SQLite database." }
        let isBinary = prefix.firstIndex(of: 0, from: 0) != nil
        return "The input is \(isBinary ? "binary and " : "")in no format that is known here."
    }
}
