import HTTPMessages
import WebPrimitives

// What stands behind a header block or a body.
extension HTTPReader {
    /// Looks for a status line; whatever else is there is body.
    ///
    /// - Parameter bodyLength: how long the body is that may begin here, `.max` where that is not known, `nil` where a
    ///   body has just ended.
    mutating func readBoundary(
        _ bytes: Span<UInt8>, from start: Int, bodyLength: Int?, into items: inout [CaptureItem]
    ) -> Int {
        var position = start
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if probe.isEmpty, byte == ASCII.lineFeed || byte == ASCII.carriageReturn {
                blankCount += 1
                if byte == ASCII.lineFeed { lines.skip(lines: 1) }
                continue
            }
            probe.append(byte)
            switch StatusLine.match(probe.span) {
            case .partly:
                continue
            case .yes:
                beginHead(into: &items)
            case .no:
                beginBody(bodyLength)
            }
            // Whatever comes next reads the last byte once more.
            return position - 1
        }
        return position
    }

    /// The probe is a status line, as far as it must be.
    private mutating func beginHead(into items: inout [CaptureItem]) {
        if mayContinue {
            lines.begin(with: probe.dropLast())
            stage = .statusLine
        } else {
            items.append(.failure(.responseSkipped(at: CapturePlace(source: source, line: lines.number + 1))))
            stage = .rest
        }
        resetProbe()
    }

    /// The probe is no status line: all bytes since the boundary, but the last one, belong to a body.
    ///
    /// Where the body is shorter than these, a status line cannot begin among them either: `HTTP/` begins with the
    /// only H in it, and empty lines were passed over.
    private mutating func beginBody(_ bodyLength: Int?) {
        let count = blankCount + probe.count - 1
        if let bodyLength, bodyLength != .max, count <= bodyLength {
            stage = .body(bodyLength - count)
        } else {
            stage = .rest
        }
        resetProbe()
    }

    private mutating func resetProbe() {
        probe = []
        blankCount = 0
    }
}
