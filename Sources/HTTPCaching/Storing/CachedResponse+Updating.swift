import WebPrimitives

extension CachedResponse {
    /// The response with its fields updated from a newer response (section 3.2).
    ///
    /// - Parameter request: The request that the newer response answered; `nil` if ``nominated`` has its values.
    func updated(
        with newer: MessageFields, _ requestTime: Timestamp, _ responseTime: Timestamp, for request: CacheRequest?
    ) -> CachedResponse {
        // When doing so, the cache MUST add each header field in the provided response to the stored response, replacing
        // field values that are already present, with the following exceptions:
        var provided = newer
        // Header fields excepted from storage in section 3.1,
        provided.removeUnstored()
        // Header fields that the cache's stored response depends upon: the stored octets are those of this coding.
        provided.remove("content-encoding")
        // Header fields that are automatically processed and removed by the recipient,
        provided.remove("content-range")
        // and the Content-Length header field.
        provided.remove("content-length")
        let names = Set(provided.lines.map(\.name.lowercased))
        var response = self
        // The age is that of the newer response, also if it has no Age field.
        response.fields.remove { names.contains($0.name.lowercased) || $0.isNamed("age") || $0.isNamed("date") }
        response.fields = MessageFields(response.fields.lines + provided.lines)
        if HTTPDate.parse(response.fields, "date", receivedAt: responseTime) == nil {
            response.fields.set("date", as: "Date", Octets(responseTime.httpDate))
        }
        response.requestTime = requestTime
        response.responseTime = responseTime
        // What was requested before an invalidation does not undo it.
        response.isInvalid = response.isRequestedBeforeInvalidation
        // Vary may name other fields now.
        if let request {
            if let nominated = NominatedFields(request, for: response.fields) {
                response.nominated = nominated
            } else {
                response.isInvalid = true
            }
        }
        return response
    }

    /// The response as a HEAD response updates or invalidates it (section 4.3.5).
    ///
    /// - Parameters:
    ///   - head: A 200 (OK) response to a HEAD request.
    ///   - request: The request, for which this response could have been chosen.
    func freshened(byHead head: OriginResponse, to request: CacheRequest) -> CachedResponse {
        // If the stored response and HEAD response have matching values for any received validator fields (ETag and
        // Last-Modified)
        let validatorsMatch =
            (!head.fields.has("etag") || head.fields.values("etag") == fields.values("etag"))
            && (!head.fields.has("last-modified")
                || head.fields.values("last-modified") == fields.values("last-modified"))
        // and, if the HEAD response has a Content-Length header field, the value of Content-Length matches that of the
        // stored response,
        let length = head.fields.onlyValue("content-length").flatMap { DecimalNumber.parse($0, limit: ByteRange.limit) }
        let lengthMatches = !head.fields.has("content-length") || length != nil && length == extent.total
        // the cache SHOULD update the stored response; otherwise, the cache SHOULD consider it to be stale.
        guard validatorsMatch, lengthMatches else { return invalidated }
        var response = updated(with: head.fields, head.requestTime, head.responseTime, for: request)
        // Sections 5.2.1.5 and 5.2.2.5: Nothing of a response with no-store is stored.
        guard response.mayBeStored, !request.directives.forbidsStoring else { return invalidated }
        // Section 4.4: An invalid response needs a mandatory validation. Without a strong validator, this is none.
        if isInvalid, !sharesStrongValidator(with: head.fields, receivedAt: head.responseTime) {
            response.isInvalid = true
        }
        return response
    }
}
