package import WebPrimitives

/// A member of the Cache-Status field (RFC 9211), which tells how a cache handled a request.
package struct CacheStatus: Sendable, Hashable {
    /// Why a request was forwarded (section 2.2).
    package enum Forwarding: String, Sendable {
        /// The cache was configured not to handle the request.
        case bypass = "bypass"
        /// The method needs to be forwarded.
        case method = "method"
        /// No stored response has the target URI.
        case uriMiss = "uri-miss"
        /// A stored response has the target URI, but Vary does not match.
        case varyMiss = "vary-miss"
        /// A fresh response is stored, but the request's directives did not allow its use.
        case request = "request"
        /// A stale response is stored.
        case stale = "stale"
        /// A part of the response is stored.
        case partial = "partial"
    }

    /// The cache's name.
    package var cache: Octets
    /// Whether the request was answered without being forwarded. An error of the cache is neither a hit nor forwarded.
    package var isHit: Bool
    /// Why the request was forwarded; `nil` if it was not.
    package var forwarding: Forwarding?
    /// The status code of the forwarded request's response, if it was forwarded.
    package var forwardedStatus: Int?
    /// Whether the response was stored.
    package var isStored = false
    /// How many seconds the response remains fresh; negative if it is stale.
    package var timeToLive: Int64?
    /// Anything else, such as the rule that decided.
    package var detail: Octets?

    /// The status of a decision.
    package init(_ decision: LookupDecision, cache: Octets = "crumb") {
        self.cache = cache
        forwarding = decision.forwarding
        isHit = forwarding == nil && decision.outcome != .unavailable
        timeToLive = isHit ? decision.choice?.freshness.timeToLive : nil
        detail = Octets(decision.rule.description)
    }

    /// The member, such as `crumb; hit; ttl=376; detail="protocol"`.
    package var value: Octets {
        var text: [UInt8] = []
        text.reserveCapacity(96)
        text += Self.item(cache)
        if let forwarding {
            text += "; fwd=".utf8
            text += forwarding.rawValue.utf8
            if let forwardedStatus {
                text += "; fwd-status=".utf8
                text += String(forwardedStatus).utf8
            }
            if isStored { text += "; stored".utf8 }
        } else if isHit {
            text += "; hit".utf8
        }
        if let timeToLive {
            text += "; ttl=".utf8
            text += String(timeToLive).utf8
        }
        if let detail {
            text += "; detail=".utf8
            text += Self.item(detail)
        }
        return Octets(text)
    }

    /// A token, or else a string, in which octets that no string may have become question marks.
    private static func item(_ text: Octets) -> Octets {
        let isToken =
            FieldList.isToken(text) && text.first.map { ASCII.isLetter($0) || $0 == UInt8(ascii: "*") } ?? false
        if isToken { return text }
        var octets = [ASCII.quote]
        for byte in text {
            if byte == ASCII.quote || byte == ASCII.backslash { octets.append(ASCII.backslash) }
            octets.append((0x20..<0x7F).contains(byte) ? byte : ASCII.questionMark)
        }
        return Octets(octets + [ASCII.quote])
    }
}
