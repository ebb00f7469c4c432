import WebPrimitives

/// How the end of a message's body is found (RFC 9112, section 6.3).
///
/// Two recipients that disagree on it read different requests from the same octets. So anything ambiguous is an error.
package enum BodyFraming: Sendable, Hashable {
    /// There is no body.
    case none
    /// The body has that many octets.
    case length(UInt64)
    /// The body is a sequence of chunks.
    case chunked
    /// The body ends with the connection. Only responses have it.
    case untilClose

    /// The framing of a request. A `Content-Length` of 0 is no body.
    package init(ofRequest head: MessageHead, minorVersion: Int) throws(MessageError) {
        let lengths = head.values("content-length")
        if let coding = try BodyFraming.coding(of: head) {
            guard lengths.isEmpty else { throw .framingContradictory }
            // Section 6.1: a Transfer-Encoding in an HTTP/1.0 message is faulty framing.
            guard minorVersion > 0 else { throw .codingUnsupported }
            self = coding
        } else if let length = lengths.first {
            guard lengths.count == 1 else { throw .lengthRepeated }
            let length = try BodyFraming.length(length)
            self = length == 0 ? .none : .length(length)
        } else {
            self = .none
        }
    }

    /// The framing of a response.
    ///
    /// - Parameters:
    ///   - status: Its status code.
    ///   - isToHead: Whether the request's method was HEAD.
    package init(ofResponse head: MessageHead, status: Int, isToHead: Bool, minorVersion: Int) throws(MessageError) {
        // Section 6.3, item 1: these have no body, whatever their fields say. An interim response is passed on without such
        // fields, as sections 6.1 and 6.2 want it.
        guard status / 100 != 1 else {
            self = .none
            return
        }
        let lengths = head.values("content-length")
        let coding = try BodyFraming.coding(of: head)
        if coding != nil, !lengths.isEmpty { throw .framingContradictory }
        if isToHead || status == 204 || status == 304 {
            self = .none
        } else if let coding {
            guard minorVersion > 0 else { throw .codingUnsupported }
            self = coding
        } else if let length = lengths.first {
            // Section 6.3, item 5: the same number several times is one number.
            guard lengths.allSatisfy({ $0 == length }) else { throw .lengthRepeated }
            self = .length(try BodyFraming.length(length))
        } else {
            self = .untilClose
        }
    }

    /// The framing that a Transfer-Encoding gives; `nil` without one.
    private static func coding(of head: MessageHead) throws(MessageError) -> BodyFraming? {
        let values = head.values("transfer-encoding")
        guard let first = values.first else { return nil }
        guard values.count == 1, first.withSpan({ $0.equalsIgnoringCase("chunked") }) else { throw .codingUnsupported }
        return .chunked
    }

    private static func length(_ value: Octets) throws(MessageError) -> UInt64 {
        guard !value.isEmpty, value.count <= 18, value.allSatisfy(ASCII.isDigit) else { throw .lengthInvalid }
        return value.reduce(0) { $0 * 10 + UInt64($1 - ASCII.zero) }
    }
}
