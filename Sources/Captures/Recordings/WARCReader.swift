import CookieModel

/// Reads WARC 1.0 and 1.1 (ISO 28500): records with named fields and a block of the length that they say.
///
/// Of records of the type `response` the HTTP header block is read; all other records, and all bodies, are passed over. A
/// record whose fields are broken ends the reading: where the next one begins cannot be told.
struct WARCReader: FormatReader {
    private enum Stage {
        /// Before a record: its version, or empty lines.
        case version
        case fields
        /// Within a response's header block, with so many bytes of the block left.
        case head(Int)
        case skip(Int)
        case over
    }

    private struct Record {
        var isResponse = false
        var url: String?
        var date: Timestamp?
        var length: Int?
        var isBroken = false
    }

    private let source: String
    private var stage = Stage.version
    private var lines: LineBuffer
    private var record = Record()
    private var entryCount = 0
    private var block: HeaderBlock?

    init(source: String, firstLine: Int) {
        self.source = source
        lines = LineBuffer(firstNumber: firstLine)
    }

    var bufferedByteCount: Int { lines.bufferedByteCount + (block?.bufferedByteCount ?? 0) }

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        var position = 0
        while position < bytes.count {
            switch stage {
            case .version, .fields:
                guard let line = lines.next(in: bytes, from: &position) else { return }
                take(line, of: bytes, into: &items)
            case .head(let length):
                let piece = bytes.extracting(position..<min(position + length, bytes.count))
                var end = 0
                let line = lines.next(in: piece, from: &end)
                position += end
                stage = .head(length - end)
                if let line { take(line, of: piece, into: &items) }
                if case .head(0) = stage { endHead(isWhole: false, into: &items) }
            case .skip(let length):
                let end = position + min(length, bytes.count - position)
                lines.skip(lines: bytes.extracting(position..<end).lineFeedCount)
                stage = end - position == length ? .version : .skip(length - (end - position))
                position = end
            case .over: return
            }
        }
    }

    mutating func finish(into items: inout [CaptureItem]) {
        switch stage {
        case .version:
            guard let line = lines.last() else { return }
            take(line, of: [UInt8]().span, into: &items)
            if case .fields = stage { items.append(.failure(.recordsTruncated(at: place))) }
        case .fields: items.append(.failure(.recordsTruncated(at: place)))
        case .head:
            endHead(isWhole: false, into: &items)
            items.append(.failure(.recordsTruncated(at: place)))
        case .skip: items.append(.failure(.recordsTruncated(at: place)))
        case .over: break
        }
    }

    private var place: CapturePlace {
        CapturePlace(source: source, entry: entryCount > 0 ? entryCount : nil, line: lines.number)
    }

    private mutating func take(_ line: LineBuffer.Line, of bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        switch line {
        case .inPiece(let range): take(bytes.extracting(range), into: &items)
        case .joined(let line): take(line.span, into: &items)
        case .tooLong:
            if case .head = stage {
                block?.leaveOut(lines.number, into: &items)
            } else {
                record.isBroken = true
            }
        }
    }

    private mutating func take(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {
        let line = bytes.extracting(bytes.droppingCarriageReturn)
        switch stage {
        case .version where line.isEmpty: break
        case .version where line.hasPrefix("WARC/1."):
            entryCount += 1
            record = Record()
            stage = .fields
        case .version:
            items.append(.failure(.recordMalformed(at: place)))
            stage = .over
        case .fields where line.isEmpty: endFields(into: &items)
        case .fields: takeField(line)
        case .head(let length): takeHead(line, rest: length, into: &items)
        case .skip, .over: break
        }
    }

    private mutating func takeField(_ line: Span<UInt8>) {
        guard let colon = line.firstIndex(of: ASCII.colon, from: 0) else {
            record.isBroken = true
            return
        }
        let name = line.extracting(0..<colon)
        let value = line.extracting(line.trimmingBlanks((colon + 1)..<line.count))
        if name.equalsIgnoringCase("warc-type") {
            record.isResponse = value.equalsIgnoringCase("response")
        } else if name.equalsIgnoringCase("warc-target-uri") {
            // Version 1.0 had the address in angle brackets.
            let isBracketed = value.hasPrefix("<") && value[value.count - 1] == UInt8(ascii: ">")
            record.url = String(repairing: value.extracting(isBracketed ? 1..<(value.count - 1) : 0..<value.count))
        } else if name.equalsIgnoringCase("warc-date") {
            record.date = value.withUnsafeBufferPointer { Timestamp(rfc3339: $0) }
        } else if name.equalsIgnoringCase("content-length") {
            record.length = String(validating: value).flatMap { Int($0) }
        }
    }

    private mutating func endFields(into items: inout [CaptureItem]) {
        guard !record.isBroken, let length = record.length, length >= 0 else {
            items.append(.failure(.recordMalformed(at: place)))
            stage = .over
            return
        }
        stage = record.isResponse && length > 0 ? .head(length) : .skip(length)
    }

    private mutating func takeHead(_ line: Span<UInt8>, rest: Int, into items: inout [CaptureItem]) {
        if line.isEmpty, block != nil { return endHead(isWhole: true, into: &items) }
        if block != nil {
            block?.take(line, number: lines.number, into: &items)
        } else if let statusLine = StatusLine(line), record.url != nil {
            let head = ResponseHead(index: entryCount, line: lines.number, statusLine: statusLine)
            block = HeaderBlock(head, source: source)
        } else {
            // A response of another protocol: DNS, FTP.
            stage = .skip(rest)
        }
    }

    private mutating func endHead(isWhole: Bool, into items: inout [CaptureItem]) {
        // What is left of a line belongs to no field that is whole. The line goes on behind the record.
        let isCut = lines.last() != nil
        let place = place
        if isCut { lines.skip(lines: -1) }
        if case .head(let rest) = stage { stage = .skip(rest) }
        guard var block else { return }
        self.block = nil
        if !isWhole { items.append(.failure(.headersTruncated(at: place))) }
        block.end(at: TranscriptURL(text: record.url, origin: .recorded), time: record.date, into: &items)
    }
}
