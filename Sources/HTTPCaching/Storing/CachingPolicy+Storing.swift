import WebPrimitives

extension CachingPolicy {
    /// Decides whether the response to a request is stored (section 3).
    ///
    /// Decides by the header section, before the body is there. All reasons are collected.
    ///
    /// - Parameters:
    ///   - response: The response, which is not the answer to a validation that says "not modified".
    ///   - request: The request as it was forwarded.
    public func storing(_ response: OriginResponse, for request: CacheRequest) -> StoringDecision {
        var obstacles: [StoringObstacle] = []
        let directives = response.directives
        let range = response.status == 206 ? Self.storableRange(response.fields) : nil
        if rules.forbidsStoring(request) { obstacles.append(.rule) }
        // Departure: it would stay in the place of the file, also after that is there again.
        if rules.isPageInPlace(response, of: request) { obstacles.append(.pageInPlace) }
        // A cache MUST NOT store a response to a request unless:
        // the request method is understood by the cache;
        if !isMethodUnderstood(response, directives, for: request) { obstacles.append(.method) }
        // the response status code is final;
        let isFinal = response.status >= 200
        if !isFinal { obstacles.append(.statusNotFinal) }
        // if the response status code is 206 or 304, or the must-understand cache directive is present: the cache
        // understands the response status code;
        let isUnderstood = Self.understoodStatuses.contains(response.status)
        if isFinal, !isUnderstood, response.status == 304 || directives.needsUnderstanding {
            obstacles.append(.statusNotUnderstood)
        }
        // the no-store cache directive is not present in the response;
        if directives.forbidsStoring(response.status) { obstacles.append(.responseNoStore) }
        // Section 5.2.1.5: A cache MUST NOT store any part of a request with no-store or any response to it.
        if request.directives.forbidsStoring { obstacles.append(.requestNoStore) }
        // (The two conditions on private and Authorization are for shared caches.)
        // and the response contains at least one of the following:
        if !isCacheable(response, directives) { obstacles.append(.notCacheable) }
        // Departure: the failure of a precondition, a range or an expectation is no answer to a request without it. No
        // standard forbids to store one that has an expiration time.
        if [412, 416, 417].contains(response.status) { obstacles.append(.answersCondition) }
        // Section 3.3: A cache MUST NOT store partial-content responses if it does not understand the range units.
        if response.status == 206, range == nil || !request.isGet { obstacles.append(.rangeNotUnderstood) }
        // Section 4.1: A response with "*" always fails to match.
        let nominated = NominatedFields(request, for: response.fields)
        guard obstacles.isEmpty, let nominated else {
            return .reject(nominated == nil ? obstacles + [.variesOnAll] : obstacles)
        }
        var stored = CachedResponse(
            url: request.url, status: range == nil ? response.status : 200, fields: storedFields(of: response),
            nominated: nominated, requestTime: response.requestTime, responseTime: response.responseTime,
            extent: range.map { .part($0.positions, total: $0.total) } ?? .whole(length: nil))
        // Section 3.3: If the request method is GET, the response status code is 200 (OK), …, a cache MAY store a response
        // that is not complete.
        stored.mayBeIncomplete = request.isGet && response.status == 200
        return .store(stored)
    }

    /// The range of a 206 response; `nil` if it is not one range of octets.
    private static func storableRange(_ fields: MessageFields) -> ContentRange? {
        // RFC 9110, section 15.3.7.2: A server MUST NOT generate a Content-Range header field in the header section of a
        // multiple part response.
        let multipart: Octets = "multipart/byteranges"
        let isMultipart = fields.values("content-type").contains { $0.lowercased.starts(with: multipart) }
        return isMultipart ? nil : ContentRange(fields)
    }

    /// Whether the cache understands the method of a request and of its response (section 3).
    private func isMethodUnderstood(
        _ response: OriginResponse, _ directives: ResponseDirectives, for request: CacheRequest
    ) -> Bool {
        if request.isGet { return true }
        // RFC 9110, section 9.3.3: Responses to POST requests are only cacheable when they include explicit freshness
        // information and a Content-Location header field that has the same value as the POST's target URI. Such a
        // response can be reused for a later GET.
        guard request.method == "POST", response.status == 200,
            directives.maximumAge.value != nil || response.fields.has("expires"),
            let location = response.fields.onlyValue("content-location")
        else { return false }
        return (try? request.url.resolving(location)) == request.url
    }

    /// Whether something in a response allows it to be stored (section 3, the last condition).
    private func isCacheable(_ response: OriginResponse, _ directives: ResponseDirectives) -> Bool {
        // a public response directive;
        directives.isPublic
            // a private response directive, if the cache is not shared;
            || directives.isPrivate
            // an Expires header field;
            || response.fields.has("expires")
            // a max-age response directive;
            || directives.maximumAge != .absent
            // or a status code that is defined as heuristically cacheable.
            || Self.heuristicStatuses.contains(response.status)
    }

    /// The status codes that RFC 9110, section 15.1, defines as heuristically cacheable.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The status codes whose caching-related behaviour is implemented: all final ones of RFC 9110 but 304, which is never
    /// stored by itself.
    static let understoodStatuses: Set<Int> = [
        200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407,
        408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]

    /// The fields of a response that are stored (section 3.1).
    private func storedFields(of response: OriginResponse) -> MessageFields {
        // Caches MUST include all received response header fields — including unrecognized ones — when storing a
        // response. However, the following exceptions are made:
        var fields = response.fields
        fields.removeUnstored()
        if response.status == 206 {
            // Section 3.3: A 206 response MAY be stored as if it were an incomplete 200 response.
            fields.remove("content-range")
            fields.remove("content-length")
        }
        // RFC 9110, section 6.6.1: A recipient with a clock that receives a response without a Date header field MUST
        // record the time it was received and append a corresponding Date field if the response is cached. It MAY
        // replace an invalid one.
        if HTTPDate.parse(fields, "date", receivedAt: response.responseTime) == nil {
            fields.set("date", as: "Date", Octets(response.responseTime.httpDate))
        }
        return fields
    }
}

extension ResponseDirectives {
    /// Whether no-store keeps a response of a status from being stored (section 5.2.2.5).
    func forbidsStoring(_ status: Int) -> Bool {
        // Section 5.2.2.3: A cache SHOULD ignore the no-store directive of a response with must-understand if it
        // understands and implements the status code's caching requirements.
        hasNoStore && !(needsUnderstanding && CachingPolicy.understoodStatuses.contains(status))
    }
}
