import FuzzSupport

@testable import HTTPMessages
@testable import WebPrimitives

/// Any bytes as an HTTP/1.1 message: the first says who sends it, the second how it is cut into pieces.
enum MessageTarget {
    static func check(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let sender: MessageHead.Sender = input[0] & 1 == 0 ? .client : .server
        let length = Int(input[1] % 31) + 1
        let bytes = Array(input[2...])
        let end = MessageHead.end(in: bytes.span, from: 0)
        Invariant.holds(end == endInPieces(of: bytes, length), "where the pieces are cut does not move a head's end")
        guard let end else { return }
        guard let head = try? MessageHead(Array(bytes[..<end]), from: sender) else { return }
        check(head, from: sender)
        let body = Array(bytes[end...])
        let whole = chunks(of: body, body.count)
        let pieces = chunks(of: body, length)
        Invariant.holds(whole == pieces, "where the pieces are cut changes no body")
        Invariant.holds((whole?.data.count ?? 0) <= body.count, "no more octets come out than went in")
    }

    private static func endInPieces(of bytes: [UInt8], _ length: Int) -> Int? {
        var searched = 0
        for count in stride(from: 0, to: bytes.count + length, by: length) {
            let arrived = min(count, bytes.count)
            if let end = MessageHead.end(in: bytes.span.extracting(0..<arrived), from: searched) { return end }
            searched = max(0, arrived - 3)
        }
        return nil
    }

    private static func check(_ head: MessageHead, from sender: MessageHead.Sender) {
        var written = Array(head.octets[head.startLine]) + [13, 10]
        for field in head.fields {
            Invariant.holds(
                field.line.lowerBound <= field.name.lowerBound && field.name.upperBound <= field.value.lowerBound
                    && field.value.upperBound <= field.line.upperBound,
                "name and value are of their line")
            Invariant.holds(
                head.octets[field.name].allSatisfy(ASCII.isTokenCharacter) && !field.name.isEmpty, "a name is a token")
            Invariant.holds(
                !head.octets[field.line].contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a field is one line")
            written += Array(head.octets[field.name]) + Array(": ".utf8) + Array(head.octets[field.value]) + [13, 10]
        }
        // What a gateway writes is read in one way only, by the strictest reader too.
        let again = try? MessageHead(written + [13, 10], from: .server)
        Invariant.holds(again?.fields.count == head.fields.count, "what is written has the same fields")
        if let again {
            let pairs = zip(head.fields, again.fields)
            Invariant.holds(
                pairs.allSatisfy { head.octets[$0.value] == again.octets[$1.value] }, "and the same values")
        }
        let line = head.octets.span.extracting(head.startLine)
        switch sender {
        case .client:
            guard let request = try? RequestLine(line) else { return }
            let framing = try? BodyFraming(ofRequest: head, minorVersion: request.minorVersion)
            let isBoth = head.has("content-length") && head.has("transfer-encoding")
            Invariant.holds(framing == nil || !isBoth, "a request has one framing")
            Invariant.holds(framing != .untilClose, "a request does not end with its connection")
        case .server:
            guard let status = StatusLine(line)?.status else { return }
            let framing = try? BodyFraming(ofResponse: head, status: status, isToHead: false, minorVersion: 1)
            Invariant.holds(framing != .chunked || !head.has("content-length"), "a response has one framing")
        }
    }

    private struct Body: Equatable {
        var data: [UInt8] = []
        var trailers: [UInt8]?
    }

    /// The body in chunks; `nil` if it is none.
    private static func chunks(of bytes: [UInt8], _ length: Int) -> Body? {
        var reader = ChunkedBody()
        var body = Body()
        var pending: [UInt8] = []
        var start = 0
        while true {
            do {
                var position = 0
                switch try reader.next(in: pending.span, from: &position) {
                case .data(let count):
                    body.data += pending[position..<position + count]
                    pending.removeFirst(position + count)
                    continue
                case .end(let trailers):
                    body.trailers = trailers
                    return body
                case .incomplete: pending.removeFirst(position)
                }
            } catch {
                return nil
            }
            guard start < bytes.count else { return body }
            let end = min(start + max(length, 1), bytes.count)
            pending += bytes[start..<end]
            start = end
        }
    }
}

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    MessageTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
