package import CookieModel
import HTTPMessages

/// A capture's evidence for the ``CapturedContext`` of a request.
///
/// Readers record evidence without judging it. ``PageTrail`` adds the evidence of other entries of the capture.
package struct RequestEvidence: Sendable, Hashable {
    /// The relation between initiator and URL, from `Sec-Fetch-Site`.
    package enum FetchSite: Sendable, Hashable {
        /// A person: an address typed, a bookmark.
        case user
        case sameOrigin, sameSite, crossSite
    }

    /// The place that the response is loaded into.
    package enum Destination: Sendable, Hashable {
        /// The page in the address bar: a top-level navigation.
        case page
        /// A document within a page.
        case frame
        /// Anything else: an image, a script, a `fetch`.
        case subresource
    }

    /// The kind of content that the request's `Accept` field asks for.
    package enum Accepts: Sendable, Hashable {
        case document, other
    }

    /// `Sec-Fetch-Site`.
    package var fetchSite: FetchSite?
    /// `Sec-Fetch-Dest`, `Sec-Fetch-Mode`, or the recorder's own word for it (net-log's request type, DevTools' type).
    package var destination: Destination?
    /// Whether `Sec-Fetch-Storage-Access` was sent, which browsers add to third-party requests only.
    package var hasStorageAccessField = false
    /// `Origin`, unless it is `null`.
    package var origin: String?
    /// `Referer`.
    package var referrer: String?
    /// `Accept`.
    package var accepts: Accepts?
    /// Whether `User-Agent` is a browser's.
    package var isFromBrowser = false
    /// Whether the recorder calls the response a document, in the address bar or within a page.
    package var isDocument = false
    /// The URL that the recorder names as the request's initiator: a document or a style sheet.
    package var initiator: String?
    /// The partition that the recorder names for the request's cookies.
    package var partitionKey: PartitionKey?
    /// The recorder's name for the page: a HAR's `pageref`, a DevTools frame.
    package var pageID: String?
    /// The frame within the page, if the recorder names it.
    package var frameID: String?
    /// The page in the address bar.
    package var page: String?
    /// Whether ``page`` comes only from the `Referer` or the initiator.
    package var isPageInferred = false
    /// The URLs that redirected here, first one first.
    package var redirects: [String] = []
    /// The response's `Location`.
    package var location: Octets?

    /// No evidence.
    package init() {}

    /// Notes one field of the request's header, if it tells anything.
    mutating func take(_ field: RequestField, _ value: Span<UInt8>) {
        let value = value.extracting(value.trimmingBlanks(0..<value.count))
        switch field {
        case .fetchSite: fetchSite = RequestEvidence.fetchSite(value)
        case .fetchMode where destination == nil && !value.isEmpty && !value.equalsIgnoringCase("navigate"):
            destination = .subresource
        case .fetchDestination: destination = RequestEvidence.destination(value) ?? destination
        case .storageAccess: hasStorageAccessField = true
        case .origin: origin = value.equals("null") ? nil : String(repairing: value)
        case .referrer: referrer = String(repairing: value)
        case .accept: accepts = value.hasPrefix("text/html") ? .document : .other
        case .userAgent: isFromBrowser = value.hasPrefix("Mozilla/")
        case .fetchMode, .cookie: break
        }
    }

    private static func fetchSite(_ value: Span<UInt8>) -> FetchSite? {
        if value.equalsIgnoringCase("none") { return .user }
        if value.equalsIgnoringCase("same-origin") { return .sameOrigin }
        if value.equalsIgnoringCase("same-site") { return .sameSite }
        return value.equalsIgnoringCase("cross-site") ? .crossSite : nil
    }

    private static func destination(_ value: Span<UInt8>) -> Destination? {
        if value.isEmpty { return nil }
        if value.equalsIgnoringCase("document") { return .page }
        let frames: [StaticString] = ["iframe", "frame", "fencedframe", "embed", "object"]
        return frames.contains { value.equalsIgnoringCase($0) } ? .frame : .subresource
    }
}

/// The request header fields that tell how a request came about, and `Cookie`.
enum RequestField: Sendable {
    case fetchSite, fetchMode, fetchDestination, storageAccess, origin, referrer, accept, userAgent, cookie

    /// The field of that name; `nil` for any other field.
    init?(_ name: Span<UInt8>) {
        switch name.count {
        case 6 where name.equalsIgnoringCase("cookie"): self = .cookie
        case 6 where name.equalsIgnoringCase("origin"): self = .origin
        case 6 where name.equalsIgnoringCase("accept"): self = .accept
        case 7 where name.equalsIgnoringCase("referer"): self = .referrer
        case 10 where name.equalsIgnoringCase("user-agent"): self = .userAgent
        case 14 where name.equalsIgnoringCase("sec-fetch-site"): self = .fetchSite
        case 14 where name.equalsIgnoringCase("sec-fetch-mode"): self = .fetchMode
        case 14 where name.equalsIgnoringCase("sec-fetch-dest"): self = .fetchDestination
        case 24 where name.equalsIgnoringCase("sec-fetch-storage-access"): self = .storageAccess
        default: return nil
        }
    }
}

/// The header fields of one request, as far as they matter: its evidence and its `Cookie` fields.
struct RequestHead: Sendable {
    var evidence = RequestEvidence()
    /// The values of its `Cookie` fields, within ``CaptureLimits/responseByteCount``.
    private(set) var cookies = SetCookieLines()

    var bufferedByteCount: Int { cookies.bufferedByteCount }

    /// Takes one field.
    mutating func take(_ field: RequestField, _ value: Span<UInt8>) {
        if case .cookie = field { cookies.append(value) } else { evidence.take(field, value) }
    }

    /// Takes one field line, `name: value`.
    mutating func take(line: Span<UInt8>) {
        // The pseudo-fields of HTTP/2 begin with a colon, so that they have no name here.
        guard let parts = line.fieldParts, let field = RequestField(line.extracting(parts.name)) else { return }
        take(field, line.extracting(parts.value))
    }

    /// Takes the fields of a JSON object.
    mutating func take(_ headers: JSONObject?) {
        for (name, value) in zip(headers?.names ?? [], headers?.values ?? []) {
            guard let value = value.octets, let field = name.withSpan({ RequestField($0) }) else { continue }
            value.withSpan { take(field, $0) }
        }
    }
}
