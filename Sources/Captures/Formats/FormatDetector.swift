import WebPrimitives

/// Tells formats apart by their first bytes, as soon as these cannot mean anything else.
struct FormatDetector {
    enum Finding: Equatable {
        case format(CaptureFormat)
        /// No known format, with a description of the input if there is one.
        case unknown(String)
        /// No known format, and no text.
        case binary
        /// Another program must unpack or convert it first, and which.
        case packed(String)
    }

    /// The beginnings of the formats that have one of their own.
    private static let beginnings: [(StaticString, CaptureFormat)] = [
        ("HTTP/", .http), ("WARC/1.", .warc), ("curl ", .curlCommand), ("curl.exe ", .curlCommand),
        ("$ curl ", .curlCommand), ("wget ", .curlCommand), ("$ wget ", .curlCommand),
        ("$session = New-Object ", .powerShell), ("Invoke-WebRequest ", .powerShell), ("fetch(", .fetchCall),
        ("await fetch(", .fetchCall), ("mozLz40\u{0}", .firefoxSession),
        // Behind the word comes a number, which no file needs all four bytes for.
        ("cook\u{0}", .binaryCookies),
    ]

    /// Where the first line begins that is not known to be a comment.
    private var position = 0
    /// Whether curl's progress came first.
    private var hasProgress = false
    private var json = JSONFormatDetector()

    /// Returns the finding for `prefix`, a capture's first bytes without a preamble; `nil` if more bytes are needed.
    ///
    /// - Parameter isWhole: whether no more bytes will come.
    mutating func finding(in prefix: Span<UInt8>, isWhole: Bool) -> Finding? {
        guard prefix.count > 0 else { return isWhole ? .unknown("The input is empty.") : nil }
        if let end = Self.bracketedNumberEnd(prefix) {
            let rest = prefix.extracting(end..<prefix.count)
            if rest.hasPrefix(" Downloading '") {
                return .packed(
                    "The input is a log of wget2, which leaves out responses. Save its cookies instead: "
                        + "wget2 --keep-session-cookies --save-cookies FILE URL")
            }
            let mayTell = rest.isEmpty || rest[0] == ASCII.space && rest.count < 14
            if !isWhole, mayTell { return nil }
        }
        if Self.isJSON(prefix) {
            // What follows a number tells whether it is one of JSON.
            let isUndecided = prefix[0] == ASCII.leftBracket && Self.numberEnd(prefix) == prefix.count
            return isUndecided && !isWhole ? nil : json.finding(in: prefix, isWhole: isWhole)
        }
        for (beginning, format) in Self.beginnings where prefix.hasPrefix(beginning) { return .format(format) }
        if prefix.count > 7, prefix.hasPrefixIgnoringCase("cookie:") { return .format(.cookieHeader) }
        while position < prefix.count {
            let lineEnd = prefix.firstIndex(of: ASCII.lineFeed, from: position)
            guard isWhole || lineEnd != nil else { return nil }
            let whole = prefix.extracting(position..<(lineEnd ?? prefix.count))
            let line = whole.extracting(CurlProgress.end(in: whole)..<whole.count)
            if line.count < whole.count || line.hasPrefix("% Total ") { hasProgress = true }
            if hasProgress, line.hasPrefix("HTTP/") { return .format(.http) }
            switch kind(of: line.extracting(line.droppingCarriageReturn)) {
            case .comment: position = (lineEnd ?? prefix.count) + 1
            case .telling(let format): return .format(format)
            case .other where CookieTableReader.begins(withSpacesIn: line):
                return .packed(
                    "The input is a table of cookies with spaces between its columns, where a value cannot be told from "
                        + "its neighbours. Copy the rows from the browser's developer tools again, with tabs, or save the "
                        + "network panel as HAR.")
            case .other:
                // No further than here: how many bytes follow depends on the pieces.
                return Self.unknown(prefix.extracting(0..<(lineEnd ?? prefix.count)))
            }
        }
        return isWhole ? .unknown("The input contains only comments.") : nil
    }

    /// Whether the first byte is one of a JSON document, which can tell its format at any byte, not just at a line's end.
    /// `[0-1]` is no JSON: `curl -v --trace-ids` begins its lines like this.
    static func isJSON(_ prefix: Span<UInt8>) -> Bool {
        guard prefix.count > 0, prefix[0] != ASCII.leftBrace else { return prefix.count > 0 }
        guard prefix[0] == ASCII.leftBracket else { return false }
        let end = numberEnd(prefix)
        guard end < prefix.count else { return true }
        return prefix[end] != (end == 1 ? UInt8(ascii: "x") : ASCII.hyphen)
    }

    /// The end of the digits after the first byte, of which 20 count.
    private static func numberEnd(_ prefix: Span<UInt8>) -> Int {
        var position = 1
        while position < prefix.count, position <= 20, ASCII.isDigit(prefix[position]) { position += 1 }
        return position
    }

    /// Where `[0]` at the beginning ends, with which wget2 numbers its downloads; `nil` for anything else.
    private static func bracketedNumberEnd(_ prefix: Span<UInt8>) -> Int? {
        guard prefix.count > 1, prefix[0] == ASCII.leftBracket else { return nil }
        let end = numberEnd(prefix)
        guard end > 1, end < prefix.count, prefix[end] == ASCII.rightBracket else { return nil }
        return end + 1
    }

    private enum LineKind {
        /// A comment, curl's progress or a remark of curl's, which every text could begin with: the next line may tell.
        case comment
        case telling(CaptureFormat)
        case other
    }

    private func kind(of line: Span<UInt8>) -> LineKind {
        if CurlProgress.isWhole(line) { return .comment }
        if line[0] == ASCII.numberSign {
            let isTelling =
                line.hasPrefix("# Netscape HTTP Cookie File") || line.hasPrefix("# HTTP Cookie File")
                || line.hasPrefix("#HttpOnly_")
            return isTelling ? .telling(.netscape) : .comment
        }
        if HTTPieReader.isRequestLine(line) { return .telling(.httpieVerbose) }
        if line[0] == HTTPieReader.escape {
            let plain = HTTPieReader.withoutColors(line)
            return HTTPieReader.isRequestLine(plain.span) ? .telling(.httpieVerbose) : .other
        }
        if WgetVerboseReader.begins(with: line) { return .telling(.wgetVerbose) }
        if CookieTableReader.begins(with: line) { return .telling(.cookieTable) }
        return kind(ofTranscript: line.extracting(TranscriptLine.start(of: line)..<line.count))
            ?? (looksLikeCookie(line) ? .telling(.netscape) : .other)
    }

    /// The kind of a line that is curl's own; `nil` for any other line.
    private func kind(ofTranscript line: Span<UInt8>) -> LineKind? {
        if line.hasPrefix("== Info: ") || line.hasPrefix("=> Send ") || line.hasPrefix("<= Recv ") {
            return .telling(.curlTrace)
        }
        if line.hasPrefix("< HTTP/") { return .telling(.curlVerbose) }
        if line.hasPrefix("> "), line.count > 12 {
            // The version ends a request's first line.
            for length in [6, 8] where line.extracting((line.count - length)..<line.count).hasPrefix("HTTP/") {
                return .telling(.curlVerbose)
            }
        }
        return line.hasPrefix("* ") || line.hasPrefix("{ [") || line.hasPrefix("} [") ? .comment : nil
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

    /// The first octets of compressed files, and the command that unpacks each. A ``CaptureReader`` unpacks the first two
    /// itself, but not twice.
    private static let compressions: [(signature: [UInt8], program: String, command: String)] = [
        ([0x1F, 0x8B], "gzip", "zcat"), ([0x50, 0x4B], "ZIP", "unzip -p"),
        ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstdcat"),
        (Array("BZh".utf8), "bzip2", "bzcat"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz", "xzcat"),
        ([0x04, 0x22, 0x4D, 0x18], "LZ4", "lz4cat"), ([0x37, 0x7A, 0xBC, 0xAF], "7-Zip", "7z x -so"),
        ([0x1F, 0x9D], "compress", "zcat"),
    ]

    /// Describes an input of unknown format, so that its owner knows what to do.
    private static func unknown(_ prefix: Span<UInt8>) -> Finding {
        for (signature, program, command) in compressions where signature.count <= prefix.count {
            if (0..<signature.count).allSatisfy({ signature[$0] == prefix[$0] }) {
                return .packed(CaptureFailure.remedy(forCompressionWith: program, command))
            }
        }
        if prefix.count >= 2, (prefix[0], prefix[1]) == (0xFF, 0xFE) || (prefix[0], prefix[1]) == (0xFE, 0xFF) {
            return .packed("The input is UTF-16 text. Save it as UTF-8.")
        }
        // The name of the archive's first file comes first.
        if prefix.count >= 262, prefix.extracting(257..<262).equals("ustar") {
            return .packed("The input is a tar archive. Unpack it first: tar -xf FILE")
        }
        if prefix.count >= 2, (prefix[0], prefix[1]) == (HTTPieReader.escape, ASCII.leftBracket) {
            return .packed(
                "The input has the colors of a terminal. Record it without: http --pretty=none, or "
                    + "curl --no-styled-output")
        }
        if prefix.hasPrefix("SQLite format 3") {
            return .packed("The input is an SQLite database. Name its file instead of piping it, unpacked.")
        }
        if CaptureFormat.isPacketCapture(prefix) {
            return .packed(
                "The input is a packet capture, which tshark reads. Name its file instead of piping it, unpacked.")
        }
        return prefix.firstIndex(of: 0, from: 0) == nil ? .unknown("Format not recognized.") : .binary
    }
}

extension CaptureFormat {
    /// Whether a file with this beginning is a packet capture: pcap or pcapng, in either byte order.
    ///
    /// The first bytes of pcapng are line ends, which may be cut off; its byte order comes after a length.
    package static func isPacketCapture(_ beginning: Span<UInt8>) -> Bool {
        func word(at index: Int) -> UInt32 {
            (index..<(index + 4)).reduce(0) { $0 << 8 | UInt32(beginning[$1]) }
        }
        guard beginning.count >= 12 else { return false }
        let pcap: [UInt32] = [0xD4C3_B2A1, 0xA1B2_C3D4, 0x4D3C_B2A1, 0xA1B2_3C4D]
        return pcap.contains(word(at: 0)) || (0...8).contains { [0x4D3C_2B1A, 0x1A2B_3C4D].contains(word(at: $0)) }
    }
}

/// Skips a byte order mark and white space before a capture.
struct Preamble {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Bytes that began like a byte order mark; after the preamble, the capture's first ones.
    private(set) var held: [UInt8] = []
    private var isAtStart = true
    /// The place of the byte that comes next.
    private(set) var line = 1
    private(set) var column = 1

    /// The position in `piece` where the capture begins (after ``held``); `nil` if it does not begin there.
    mutating func skip(_ piece: Span<UInt8>) -> Int? {
        var position = 0
        while isAtStart, position < piece.count {
            guard piece[position] == Self.byteOrderMark[held.count] else {
                isAtStart = false
                break
            }
            held.append(piece[position])
            position += 1
            if held.count == Self.byteOrderMark.count {
                held = []
                isAtStart = false
            }
        }
        guard held.isEmpty else { return isAtStart ? nil : position }
        while position < piece.count, ASCII.isWhiteSpace(piece[position]) {
            if piece[position] == ASCII.lineFeed {
                line += 1
                column = 1
            } else {
                column += 1
            }
            position += 1
        }
        return position < piece.count ? position : nil
    }
}
