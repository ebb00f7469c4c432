import WebPrimitives

/// The progress meter and the progress bar (`-#`) that curl writes to standard error.
///
/// Neither ends with a line feed, and each update begins with a carriage return. So curl's next line follows them in the
/// same line of a file.
enum CurlProgress {
    /// Returns where the text begins that follows progress at the start of a line: 0 if there is no progress.
    static func end(in line: Span<UInt8>) -> Int {
        var position = 0
        while position < line.count {
            if line[position] == ASCII.carriageReturn {
                position += 1
            } else if let end = meterEnd(line, from: position) ?? barEnd(line, from: position) {
                position = end
            } else {
                break
            }
        }
        return position
    }

    /// Whether a line has nothing but progress: the meter's heading, or figures, or nothing.
    static func isWhole(_ line: Span<UInt8>) -> Bool {
        let text = line.extracting(line.trimmingBlanks(0..<line.count))
        if text.hasPrefix("% Total ") || text.hasPrefix("Dload ") { return true }
        var hasDigit = false
        for index in 0..<text.count {
            guard isOfMeter(text[index]) else { return false }
            if ASCII.isDigit(text[index]) { hasDigit = true }
        }
        return hasDigit || text.isEmpty
    }

    /// An update of the meter is 78 octets long, or 77 in versions that write times as `mm:ss`.
    private static func meterEnd(_ line: Span<UInt8>, from start: Int) -> Int? {
        guard line.count >= start + 77, line[start + 2] != ASCII.space, line[start + 3] == ASCII.space else {
            return nil
        }
        var colonCount = 0
        for index in start..<(start + 77) {
            guard isOfMeter(line[index]) else { return nil }
            if line[index] == ASCII.colon { colonCount += 1 }
        }
        let isLong = colonCount > 3 && line.count > start + 77 && isOfMeter(line[start + 77])
        return start + (isLong ? 78 : 77)
    }

    private static func isOfMeter(_ octet: UInt8) -> Bool {
        switch octet {
        case ASCII.space, ASCII.hyphen, ASCII.colon, ASCII.dot: true
        // Days and hours, and the units of sizes.
        case UInt8(ascii: "d"), UInt8(ascii: "h"), UInt8(ascii: "m"): true
        case UInt8(ascii: "k"), UInt8(ascii: "M"), UInt8(ascii: "G"), UInt8(ascii: "T"), UInt8(ascii: "P"): true
        default: ASCII.isDigit(octet)
        }
    }

    /// An update of the bar ends with a percentage, or with a carriage return if curl does not know the size.
    private static func barEnd(_ line: Span<UInt8>, from start: Int) -> Int? {
        var position = start
        bar: while position < line.count {
            switch line[position] {
            case ASCII.numberSign, ASCII.equals, ASCII.hyphen, ASCII.space, UInt8(ascii: "O"): position += 1
            default: break bar
            }
        }
        guard position > start else { return nil }
        if position == line.count { return line[start] == ASCII.numberSign ? position : nil }
        if line[position] == ASCII.carriageReturn { return position + 1 }
        let digits = position
        while position < line.count, position < digits + 5, ASCII.isDigit(line[position]) || line[position] == ASCII.dot
        {
            position += 1
        }
        guard position > digits, position < line.count, line[position] == UInt8(ascii: "%") else { return nil }
        return position + 1
    }
}
