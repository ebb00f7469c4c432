import WebPrimitives

/// The answer that a stored response gives to a request.
public struct StoredAnswer: Sendable, Hashable {
    /// The status code.
    public let status: Int
    /// The fields, without those that frame the message on a connection.
    public let fields: MessageFields
    /// The octets of the body, as positions in the representation; `nil` if there is no body.
    ///
    /// They have no end if the length of the body is unknown.
    public let body: Range<Int64>?
}

extension CachedResponse {
    /// The answer to a request for which this response was chosen (sections 4 and 4.3.2).
    ///
    /// Evaluates If-None-Match, If-Modified-Since, Range and If-Range in the order of RFC 9110, section 13.2.2. If-Match
    /// and If-Unmodified-Since are not applicable to a cache.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - age: The current age; `nil` if the response was validated for this request.
    /// - Returns: `nil` if not all that the request asks for is stored (section 3.3).
    public func answer(to request: CacheRequest, age: Int64?) -> StoredAnswer? {
        guard hasAll(for: request) else { return nil }
        let fields = answeredFields(age: age)
        guard status == 200 else { return whole(fields, for: request) }
        // When If-None-Match is present, evaluate the precondition: if false for GET/HEAD, respond 304 (Not Modified).
        // When the method is GET or HEAD, If-None-Match is not present, and If-Modified-Since is present, evaluate the
        // precondition: if false, respond 304 (Not Modified).
        if isUnmodified(for: request) { return StoredAnswer(status: 304, fields: fields.ofNotModified, body: nil) }
        // When the method is GET and both Range and If-Range are present, evaluate the precondition: if true and the Range
        // is applicable to the selected representation, respond 206 (Partial Content); otherwise, ignore the Range header
        // field and respond 200 (OK).
        guard request.isGet, let range = ByteRange(request.fields), let length = knownLength,
            allowsRange(of: request)
        else { return whole(fields, for: request) }
        var partial = fields
        guard let positions = range.positions(of: length) else {
            // RFC 9110, section 15.5.17: None of the ranges is satisfiable. The answer is not the representation.
            partial.remove { Self.representationFields.contains($0.name.lowercased) }
            partial.set("content-range", as: "Content-Range", Octets("bytes */\(length)"))
            partial.set("content-length", as: "Content-Length", "0")
            return StoredAnswer(status: 416, fields: partial, body: nil)
        }
        partial.set("content-range", as: "Content-Range", ContentRange.value(positions, of: extent.total))
        partial.set("content-length", as: "Content-Length", Octets(String(positions.count)))
        return StoredAnswer(status: 206, fields: partial, body: positions)
    }

    /// The fields that a 416 response does not have: those that describe the representation, and how long it is reused.
    private static let representationFields: Set<Octets> = [
        "cache-control", "expires", "pragma", "etag", "last-modified", "content-type", "content-encoding",
        "content-language", "content-location", "content-disposition", "content-digest", "repr-digest",
        "no-vary-search", "cache-groups",
    ]

    /// The length that ranges are cut to: that of the whole, or that of the stored part if no more is known.
    private var knownLength: Int64? {
        switch extent {
        case .whole(let length): length
        case .part(let positions, let total): total ?? positions.upperBound
        }
    }

    private func whole(_ fields: MessageFields, for request: CacheRequest) -> StoredAnswer {
        var fields = fields
        let length = extent.total
        let isBodiless = status == 204 || status == 304
        if let length, !isBodiless, fields.onlyValue("content-length") != Octets(String(length)) {
            fields.set("content-length", as: "Content-Length", Octets(String(length)))
        }
        let hasBody = request.method != "HEAD" && !isBodiless
        return StoredAnswer(status: status, fields: fields, body: hasBody ? 0..<(length ?? .max) : nil)
    }

    private func answeredFields(age: Int64?) -> MessageFields {
        guard let age else { return fields }
        var fields = fields
        // Section 5.2.2.4: A cache MAY use the response if the listed header fields are excluded from the subsequent
        // response or it has been successfully revalidated.
        let excluded = Set(directives.unvalidatedFields)
        if !excluded.isEmpty { fields.remove { excluded.contains($0.name.lowercased) } }
        // When a stored response is used to satisfy a request without validation, a cache MUST generate an Age header
        // field, replacing any present in the response with a value equal to the stored response's current_age.
        fields.set("age", as: "Age", Octets(String(min(age, DeltaSeconds.limit))))
        return fields
    }

    /// Whether the client has this representation already.
    private func isUnmodified(for request: CacheRequest) -> Bool {
        if let condition = EntityTagCondition(request.fields.values("if-none-match")) {
            return condition.matches(entityTag)
        }
        guard let since = HTTPDate.parse(request.fields, "if-modified-since", receivedAt: responseTime)
        else { return false }
        // If a request contains an If-Modified-Since header field and the Last-Modified header field is not present in a
        // stored response, a cache SHOULD use the stored response's Date field value.
        return (lastModified ?? date) <= since
    }

    /// Whether If-Range, if there is one, lets the range of a request be answered (RFC 9110, section 13.1.5).
    func allowsRange(of request: CacheRequest) -> Bool {
        guard request.fields.has("if-range") else { return true }
        guard let value = request.fields.onlyValue("if-range") else { return false }
        // If the entity-tag validator provided exactly matches the ETag field value using the strong comparison function,
        // the condition is true.
        if let tag = EntityTag(value) { return entityTag.map(tag.stronglyMatches) ?? false }
        // If the HTTP-date validator provided is not a strong validator, the condition is false. If it exactly matches
        // the Last-Modified field value, the condition is true.
        return hasStrongModification && value == fields.onlyValue("last-modified")
    }
}

extension MessageFields {
    /// The fields of a 304 response (RFC 9110, section 15.4.5), those of the cache included.
    fileprivate var ofNotModified: MessageFields {
        // The server MUST generate any of the following header fields that would have been sent in a 200 (OK) response:
        // Content-Location, Date, ETag, and Vary; Cache-Control and Expires. Other metadata guides cache updates only if
        // there is no ETag.
        var fields = self
        let hasTag = has("etag")
        fields.remove { field in
            let name = field.name.lowercased
            return !(Self.kept.contains(name) || !hasTag && name == "last-modified")
        }
        return fields
    }

    private static let kept: Set<Octets> = [
        "content-location", "date", "etag", "vary", "cache-control", "expires", "age", "cache-groups",
        "no-vary-search",
    ]
}
