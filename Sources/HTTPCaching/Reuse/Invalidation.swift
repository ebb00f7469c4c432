package import WebPrimitives

/// The stored responses that a response invalidates (section 4.4; RFC 9875; Clear Site Data).
///
/// Apply it before the response itself is stored. A response that was requested before the time of the invalidation and is stored later is affected, too, but for the one that invalidates.
public struct Invalidation: Sendable, Hashable {
    /// When the response was received.
    package let time: Timestamp
    /// The URIs whose responses need a validation, and those of equivalent ones by No-Vary-Search.
    package let urls: [RequestURL]
    /// The groups whose responses need a validation, within the origin of the request.
    package let groups: [Octets]
    /// Whether all responses of the origin are removed.
    package let clearsOrigin: Bool
    /// A URL of the origin.
    private let target: RequestURL

    /// Finds out what the response to a request invalidates.
    public init(by response: OriginResponse, to request: CacheRequest) {
        target = request.url
        time = response.responseTime
        // A "non-error response" is one with a 2xx (Successful) or 3xx (Redirection) status code.
        let isUnsafe = !request.isSafe && (200...399).contains(response.status)
        // A cache MUST invalidate the target URI when it receives a non-error status code in response to an unsafe request
        // method (including methods whose safety is unknown).
        // The URIs in the Location and Content-Location response header fields (if present) are candidates for
        // invalidation. However, a cache MUST NOT trigger an invalidation if the origin of the URI to be invalidated
        // differs from that of the target URI.
        urls = isUnsafe ? [request.url] + Self.located(by: response, request.url) : []
        // RFC 9875, section 3: The Cache-Group-Invalidation header field MUST be ignored on responses to requests that have
        // a safe method.
        groups =
            request.isSafe ? [] : StructuredField.strings(response.fields.values("cache-group-invalidation"))
        // Clear Site Data: only over a secure connection. Its values are quoted strings.
        clearsOrigin =
            request.url.scheme.isCryptographic
            && FieldList.members(response.fields.values("clear-site-data"))
                .contains { $0 == "\"cache\"" || $0 == "\"*\"" }
    }

    /// The other URIs of the same origin that a response names.
    private static func located(by response: OriginResponse, _ url: RequestURL) -> [RequestURL] {
        [response.fields.onlyValue("location"), response.fields.onlyValue("content-location")]
            .compactMap { $0.flatMap { try? url.resolving($0) } }
            .filter { $0.isSameOrigin(as: url) && $0 != url }
    }

    /// Whether nothing is invalidated.
    package var isEmpty: Bool { urls.isEmpty && groups.isEmpty && !clearsOrigin }

    /// The indices of the stored responses that are invalidated, in order.
    ///
    /// - Parameter stored: Responses of any origin.
    public func affected(among stored: [CachedResponse]) -> [Int] {
        guard !isEmpty else { return [] }
        let ofOrigin = stored.indices.filter { stored[$0].url.isSameOrigin(as: target) }
        if clearsOrigin { return ofOrigin }
        // A response answers for the URLs that are equivalent by No-Vary-Search, so their change is its own.
        var targets = urls.map(URLVariation.Target.init)
        let targeted = Set(
            ofOrigin.filter { index in targets.indices.contains { stored[index].answers(&targets[$0]) } })
        // RFC 9875, section 2.2.1: A cache that invalidates a stored response MAY invalidate any stored responses that
        // share groups with that response. Further grouped invalidations are not triggered by a grouped invalidation.
        var groups = Set(self.groups)
        for index in targeted { groups.formUnion(stored[index].groups) }
        return ofOrigin.filter { index in
            targeted.contains(index) || !groups.isDisjoint(with: stored[index].groups)
        }
    }
}

extension CachedResponse {
    /// The groups that the response belongs to (RFC 9875, section 2).
    package var groups: [Octets] { StructuredField.strings(fields.values("cache-groups")) }
}
