import WebPrimitives

extension CachedResponse {
    /// The response as it is stored after its body was received (section 3.3); `nil` if it is not stored.
    ///
    /// - Parameters:
    ///   - bodyLength: How many octets of the body were received.
    ///   - isComplete: Whether the message was complete (RFC 9112, section 8).
    public func received(bodyLength: Int64, isComplete: Bool) -> CachedResponse? {
        var response = self
        response.mayBeIncomplete = false
        switch extent {
        case .whole:
            let length = fields.onlyValue("content-length").flatMap { DecimalNumber.parse($0, limit: ByteRange.limit) }
            if isComplete, length == nil || length == bodyLength {
                response.extent = .whole(length: bodyLength)
                return response
            }
            // If the request method is GET, the response status code is 200 (OK), and the entire response header section
            // has been received, a cache MAY store a response that is not complete if the stored response is recorded as
            // being incomplete.
            guard mayBeIncomplete, bodyLength > 0, !isComplete, length.map({ bodyLength < $0 }) ?? true
            else { return nil }
            response.fields.remove("content-length")
            response.extent = .part(0..<bodyLength, total: length)
        case .part(let positions, let total):
            // A body that is shorter than its range is a part of it, unless the message was complete: then one of the two
            // is wrong.
            let length = Int64(positions.count)
            guard bodyLength > 0, isComplete ? bodyLength == length : bodyLength <= length else { return nil }
            response.extent = .part(positions.lowerBound..<(positions.lowerBound + bodyLength), total: total)
        }
        return response.completed
    }

    /// The same response, as a complete one if no part is missing.
    private var completed: CachedResponse {
        guard case .part(let positions, let total?) = extent, positions == 0..<total else { return self }
        var response = self
        response.extent = .whole(length: total)
        return response
    }

    /// Whether the whole of a range that a request asks for is stored.
    func contains(_ range: ByteRange) -> Bool {
        guard case .part(let stored, let total) = extent else { return true }
        let length = total ?? stored.upperBound
        if total == nil, case .last = range { return false }
        // Without a total, a range that reaches beyond the stored part may go on.
        if total == nil, case .from(_, let last) = range, last.map({ $0 >= stored.upperBound }) ?? true { return false }
        return range.positions(of: length).map { stored.contains($0) } ?? false
    }

    /// The fields that ask for what is missing after the beginning of a representation, or else for the whole if it has
    /// changed; `nil` if the stored part is not the beginning, or has no strong validator.
    var completingFields: MessageFields? {
        guard case .part(let positions, _) = extent, positions.lowerBound == 0 else { return nil }
        var validator: Octets?
        if let entityTag {
            validator = entityTag.isWeak ? nil : fields.onlyValue("etag")
        } else if hasStrongModification {
            validator = fields.onlyValue("last-modified")
        }
        return validator.map { ["Range": Octets("bytes=\(positions.upperBound)-"), "If-Range": $0] }
    }

    /// A response whose stored part and that of a newer response make one range, and the octets it consists of.
    package struct Combination: Sendable, Hashable {
        /// Where a piece of the body comes from.
        package enum Source: Sendable, Hashable {
            /// The response that was stored before.
            case stored
            /// The newer response.
            case newer
        }

        /// A piece of the body.
        package struct Piece: Sendable, Hashable {
            /// The response that has it.
            package let source: Source
            /// Its positions in the representation.
            package let positions: Range<Int64>
        }

        /// The combined response.
        package let response: CachedResponse
        /// The pieces of its body, in order.
        package let pieces: [Piece]
    }

    /// The positions that are stored; `nil` if the length of the whole is unknown.
    private var positions: Range<Int64>? {
        switch extent {
        case .whole(let length): length.map { 0..<$0 }
        case .part(let positions, _): positions
        }
    }

    /// Combines what is stored of a representation with a newer part of it (section 3.4).
    ///
    /// - Returns: `nil` if the two are not known to be of one representation, or leave a gap.
    package func combined(with newer: CachedResponse) -> Combination? {
        // A cache MAY combine these ranges into a single stored response, if they all share the same strong validator.
        guard let stored = positions, case .part(let new, let newTotal) = newer.extent,
            url == newer.url, nominated == newer.nominated,
            sharesStrongValidator(with: newer.fields, receivedAt: newer.responseTime)
        else { return nil }
        // One representation has one length.
        let total = extent.total ?? newTotal
        guard newTotal == nil || newTotal == total, total.map({ max(stored.upperBound, new.upperBound) <= $0 }) ?? true,
            new.lowerBound <= stored.upperBound, stored.lowerBound <= new.upperBound
        else { return nil }
        var pieces: [Combination.Piece] = []
        if new.lowerBound < stored.lowerBound {
            pieces.append(Combination.Piece(source: .newer, positions: new.lowerBound..<stored.lowerBound))
        }
        pieces.append(Combination.Piece(source: .stored, positions: stored))
        if new.upperBound > stored.upperBound {
            pieces.append(Combination.Piece(source: .newer, positions: stored.upperBound..<new.upperBound))
        }
        // When combining the new response with one or more stored responses, a cache MUST update the stored response
        // header fields using the header fields provided in the new response.
        var response = updated(with: newer.fields, newer.requestTime, newer.responseTime, for: nil)
        response.extent = .part(
            min(stored.lowerBound, new.lowerBound)..<max(stored.upperBound, new.upperBound), total: total)
        return Combination(response: response.completed, pieces: pieces)
    }

    /// Whether the response and another one have the same strong validator (RFC 9110, section 8.8.1).
    func sharesStrongValidator(with other: MessageFields, receivedAt time: Timestamp) -> Bool {
        let tag = other.onlyValue("etag").flatMap(EntityTag.init)
        if entityTag != nil || tag != nil { return entityTag.map { tag.map($0.stronglyMatches) ?? false } ?? false }
        let date = HTTPDate.parse(other, "date", receivedAt: time) ?? time
        return hasStrongModification && lastModified == HTTPDate.parse(other, "last-modified", receivedAt: time)
            && lastModified.map { $0.advanced(bySeconds: 60) <= date } ?? false
    }
}

extension Range<Int64> {
    fileprivate func contains(_ other: Range<Int64>) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
