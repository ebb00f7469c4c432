import CookieModel
import HTTPMessages

/// Reads WARC 1.0 and 1.1 (ISO 28500): records with named fields and a block, whose length one of the fields gives.
///
/// Only the HTTP header blocks of records of the types `response` and `request` are read; all other records, and all
/// bodies, are skipped. A record whose fields are broken ends the reading, because the start of the next one is
/// unknown.
///
/// Depending on the writer, a request's record comes before or after its response's. A response is therefore held back
/// until the next record of the two types.
struct WARCReader: FormatReader {
    private enum Stage {
        /// Before a record: its version, or empty lines.
        case version
        case fields
        /// Within a header block, with the given number of bytes of the record left.
        case head(Int)
        case skip(Int)
        case over
    }

    private enum Kind {
        case response, request, other
    }

    private struct Record {
        var kind = Kind.other
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
    /// The header of a request's record, current or read before its response.
    private var request: (url: String, head: RequestHead)?
    private var isWithinRequest = false
    /// The response that may still get its request.
    private var held: CapturedResponse?

    init(_ start: CaptureStart) {
        source = start.source
        lines = LineBuffer(firstNumber: start.line)
    }

    var bufferedByteCount: Int {
        lines.bufferedByteCount + (block?.bufferedByteCount ?? 0) + (request?.head.bufferedByteCount ?? 0)
            + (held?.setCookie.reduce(0) { $0 + $1.count } ?? 0)
    }

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
        finishRecord(into: &items)
        release(into: &items)
    }

    private mutating func finishRecord(into items: inout [CaptureItem]) {
        switch stage {
        case .version:
            guard let line = lines.last() else { return }
            take(line, of: [UInt8]().span, into: &items)
            if case .fields = stage { items.append(.failure(.recordsTruncated, at: place)) }
        case .fields, .head, .skip:
            if case .head = stage { endHead(isWhole: false, into: &items) }
            items.append(.failure(.recordsTruncated, at: place))
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
            let place = place
            if case .head = stage {
                block?.leaveOutLine(at: place, into: &items)
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
            items.append(.failure(.recordMalformed, at: place))
            stage = .over
        case .fields where line.isEmpty: endFields(into: &items)
        case .fields: takeField(line)
        case .head(let length): takeHead(line, rest: length, into: &items)
        case .skip, .over: break
        }
    }

    private mutating func takeField(_ line: Span<UInt8>) {
        guard let parts = line.fieldParts else {
            record.isBroken = true
            return
        }
        let name = line.extracting(parts.name)
        let value = line.extracting(parts.value)
        if name.equalsIgnoringCase("warc-type") {
            let isRequest = value.equalsIgnoringCase("request")
            record.kind = isRequest ? .request : value.equalsIgnoringCase("response") ? .response : .other
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
            items.append(.failure(.recordMalformed, at: place))
            stage = .over
            return
        }
        stage = record.kind != .other && length > 0 ? .head(length) : .skip(length)
        isWithinRequest = false
        if record.kind == .response { release(into: &items) }
    }

    private mutating func takeHead(_ line: Span<UInt8>, rest: Int, into items: inout [CaptureItem]) {
        if line.isEmpty, block != nil || isWithinRequest { return endHead(isWhole: true, into: &items) }
        if isWithinRequest {
            request?.head.take(line: line)
        } else if record.kind == .request, let url = record.url {
            // The request's own line.
            request = (url, RequestHead())
            isWithinRequest = true
        } else if block != nil {
            let place = place
            block?.take(line, at: place, into: &items)
        } else if record.kind == .response, let statusLine = StatusLine(line), record.url != nil {
            block = HeaderBlock(statusLine, at: place)
        } else {
            // A response of another protocol: DNS, FTP.
            stage = .skip(rest)
        }
    }

    private mutating func endHead(isWhole: Bool, into items: inout [CaptureItem]) {
        // The rest of the line belongs to no complete field. The line continues after the record.
        let isCut = lines.last() != nil
        let place = place
        if isCut { lines.skip(lines: -1) }
        if case .head(let rest) = stage { stage = .skip(rest) }
        if isWithinRequest {
            isWithinRequest = false
            if held?.url == request?.url { release(into: &items) }
            return
        }
        guard var block else { return }
        self.block = nil
        if !isWhole { items.append(.failure(.headersTruncated, at: place)) }
        block.end(at: TranscriptURL(text: record.url, origin: .recorded), time: record.date, into: &items)
        guard case .response(let response)? = items.last else { return }
        items.removeLast()
        held = response
        if request?.url == response.url { release(into: &items) }
    }

    /// Gives out the response that was held back, with its request if that is known.
    private mutating func release(into items: inout [CaptureItem]) {
        guard var response = held else { return }
        held = nil
        if let (url, head) = request, url == response.url {
            request = nil
            let location = response.evidence.location
            response.evidence = head.evidence
            response.evidence.location = location
            response.requestCookies = head.cookies.octets
        }
        items.append(.response(response))
    }
}
