import WebPrimitives

extension CachedResponse {
    /// Whether a server can be asked if the response is still valid.
    var hasValidator: Bool { extent.isWhole && (entityTag != nil || lastModified != nil) }

    /// The fields of a request that asks whether the response is still valid (section 4.3.1).
    ///
    /// - Parameter isForClient: Whether a client waits for the answer. Otherwise the whole representation is asked for.
    func validationFields(for request: CacheRequest, isForClient: Bool) -> MessageFields {
        // A cache starts with a request it is attempting to satisfy. It then updates that request with one or more
        // precondition header fields.
        // NB: The client's own conditions are evaluated when the answer is there. A cache MAY send a union of the lists in
        // If-None-Match (section 4.3.2). Then a 304 without an ETag would leave open which representation it means.
        var fields = request.fields
        fields.remove("if-none-match")
        fields.remove("if-modified-since")
        if !isForClient {
            fields.remove("range")
            fields.remove("if-range")
            // The client has its answer. Another cache on the way must not refuse to ask the server.
            fields.removeOnlyIfCached()
        }
        // A cache MUST send the relevant entity tags if the entity tags were provided in the stored response being validated.
        if entityTag != nil, let tag = self.fields.onlyValue("etag") {
            fields.append("If-None-Match", tag)
        }
        // It SHOULD send the Last-Modified value (using If-Modified-Since) if the request is not for a subrange, a single
        // stored response is being validated, and that response contains a Last-Modified value.
        if lastModified != nil, let date = self.fields.onlyValue("last-modified") {
            fields.append("If-Modified-Since", date)
        }
        return fields
    }
}

extension MessageFields {
    fileprivate mutating func removeOnlyIfCached() {
        self = MessageFields(
            lines.compactMap { field in
                guard field.isNamed("cache-control") else { return field }
                let members = FieldList.members([field.value])
                let others = members.filter { $0.prefix { $0 != ASCII.equals }.lowercased != "only-if-cached" }
                if others.count == members.count { return field }
                return others.isEmpty ? nil : Field(field.name, FieldList.joined(others))
            })
    }
}
