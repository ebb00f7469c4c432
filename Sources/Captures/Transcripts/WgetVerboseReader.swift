import HTTPMessages
import WebPrimitives

/// Reads the output of `wget -S` on standard error: `--2026-11-21 02:56:22--  URL` before each request, and the lines
/// of the response indented by two spaces, with escapes for characters that cannot be printed.
///
/// With `-d`, requests and responses are also printed as they are on the wire, each between two marks.
struct WgetVerboseReader: TranscriptContent {
    var transcript: ClientTranscript
    private var section = Section.log
    /// Whether responses are printed as they are on the wire. Their indented lines do not count then.
    private var hasWire = false

    private enum Section {
        case log
        case request
        case response
    }

    init(_ start: CaptureStart) {
        transcript = ClientTranscript(start)
    }

    mutating func take(_ bytes: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        if takeWire(line, at: place, into: &items) { return }
        if line.hasPrefix("  ") {
            if hasWire { return }
            let text = line.extracting(2..<line.count)
            // Each response of a retry begins without an empty line after the one before.
            if StatusLine(text) != nil { transcript.endResponse(into: &items) }
            guard !text.isEmpty else { return }
            let plain = WgetVerboseReader.unescaped(text)
            transcript.takeResponseLine(plain.span, at: place, into: &items)
            return
        }
        transcript.endResponse(into: &items)
        if let start = WgetVerboseReader.urlStart(line) { transcript.ask(for: line.extracting(start..<line.count)) }
    }

    /// Takes a line of what `-d` prints of requests and responses. Returns `false` for any other line.
    private mutating func takeWire(
        _ line: Span<UInt8>, at place: CapturePlace, into items: inout [CaptureItem]
    ) -> Bool {
        switch section {
        case .log:
            if line.equals("---request begin---") {
                section = .request
            } else if line.equals("---response begin---") {
                (section, hasWire) = (.response, true)
                transcript.endResponse(into: &items)
            } else {
                return false
            }
        case .request where line.equals("---request end---"): section = .log
        case .request: transcript.takeRequestField(line)
        case .response where line.equals("---response end---"):
            section = .log
            transcript.endResponse(into: &items)
        case .response: transcript.takeResponseLine(line, at: place, into: &items)
        }
        return true
    }

    /// Whether a log begins with this line.
    static func begins(with line: Span<UInt8>) -> Bool {
        urlStart(line) != nil || line.hasPrefix("DEBUG output created by Wget ")
            || line.hasPrefix("Setting --") && line.firstIndex(of: UInt8(ascii: "("), from: 0) != nil
    }

    /// The octets that a line represents: wget doubles a backslash, and writes a backslash and a letter or three octal
    /// digits for an octet that its locale cannot print.
    private static func unescaped(_ line: Span<UInt8>) -> [UInt8] {
        let letters: [UInt8: UInt8] = [
            0x5C: 0x5C, 0x61: 0x07, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09, 0x76: 0x0B,
        ]
        func octal(_ index: Int) -> Int? {
            index < line.count && line[index] & 0xF8 == ASCII.zero ? Int(line[index] & 7) : nil
        }
        var plain: [UInt8] = []
        plain.reserveCapacity(line.count)
        var index = 0
        while index < line.count {
            if line[index] == ASCII.backslash, index + 1 < line.count {
                if let octet = letters[line[index + 1]] {
                    plain.append(octet)
                    index += 2
                    continue
                }
                if let high = octal(index + 1), high < 4, let middle = octal(index + 2), let low = octal(index + 3) {
                    plain.append(UInt8(high << 6 | middle << 3 | low))
                    index += 4
                    continue
                }
            }
            plain.append(line[index])
            index += 1
        }
        return plain
    }

    /// Where the URL begins in a line such as `--2026-11-21 02:56:22--  https://example.com/`.
    static func urlStart(_ line: Span<UInt8>) -> Int? {
        let stamp: StaticString = "--0000-00-00 00:00:00--  "
        guard line.count > stamp.utf8CodeUnitCount else { return nil }
        for index in 0..<stamp.utf8CodeUnitCount {
            let expected = stamp.utf8Start[index]
            guard expected == ASCII.zero ? ASCII.isDigit(line[index]) : line[index] == expected else { return nil }
        }
        return stamp.utf8CodeUnitCount
    }
}
