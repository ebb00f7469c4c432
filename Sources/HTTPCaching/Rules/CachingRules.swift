import WebPrimitives

/// The rules that come before the protocol, by priority:
///
/// | priority | applies to | treatment |
/// | --- | --- | --- |
/// | 1 | every request without a network | stored only |
/// | 2 | requests whose client has a policy of its own, then the user's rules in order | by the policy or rule |
/// | 3 | HTML documents | validated |
/// | 4 | responses with a hash in the file name | kept |
/// | 5 | responses with `immutable`, and other static resources | stale, then validated |
/// | 6 | everything else | by the protocol |
///
/// Priorities 3 to 5 are for responses with status 200. They respect `no-cache` and `must-revalidate` of a response, and
/// `no-cache` of a request. A file name with a hash does not count if the server gives a lifetime of less than an hour:
/// then it does not regard the file as one that never changes. A lifetime of 0 leaves a response to the protocol. A stale
/// response answers for ``CachingPolicy/staleLimit`` at most.
///
/// Priorities 1 and 2 are the user's own decision and come before the server's. Without a network, a response answers even
/// if it was invalidated, or has `no-cache`: the user sees what there was. One with `no-store` is never stored.
public struct CachingRules: Sendable, Hashable {
    /// A rule of the user.
    package struct Rule: Sendable, Hashable {
        /// The line of the table.
        package let line: Int
        /// The URLs that it is for.
        package let pattern: URLPattern
        /// How they are treated.
        package let treatment: CachingTreatment
    }

    /// The user's rules. The first one that matches decides.
    package let userRules: [Rule]
    /// Whether the rules with priorities 3 to 5 apply.
    package let appliesBuiltInRules: Bool

    /// Rules in order.
    init(userRules: [Rule] = [], appliesBuiltInRules: Bool) {
        self.userRules = userRules
        self.appliesBuiltInRules = appliesBuiltInRules
    }

    /// Only the rule for a missing network. The protocol decides about everything else.
    public static let protocolOnly = CachingRules(appliesBuiltInRules: false)
    /// The built-in rules, and none of a user.
    public static let standard = CachingRules(appliesBuiltInRules: true)
}

extension CachingRules {
    /// Whether no response to a request is stored.
    func forbidsStoring(_ request: CacheRequest) -> Bool { userRule(for: request)?.treatment == .neverStore }

    private func userRule(for request: CacheRequest) -> Rule? {
        guard !userRules.isEmpty else { return nil }
        let target = URLPattern.Target(request.url)
        return userRules.first { $0.pattern.matches(target) }
    }

    /// The rule that decides about a request.
    ///
    /// - Parameter response: The stored response that was chosen, if one was.
    func rule(
        for request: CacheRequest, stored response: CachedResponse?, isOffline: Bool, requestPolicy: RequestCachePolicy
    ) -> AppliedRule {
        // Priority 1. Departure: sections 4.4, 5.2.2.2 and 5.2.2.4 demand an error instead of a response that was
        // invalidated, is stale and has must-revalidate, or has no-cache. The user has chosen to work without a network.
        if isOffline { return AppliedRule(origin: .offline, treatment: .storedOnly) }
        // Priority 2.
        if let treatment = requestPolicy.treatment {
            return AppliedRule(origin: .request(requestPolicy), treatment: treatment)
        }
        if let rule = userRule(for: request) {
            return AppliedRule(origin: .user(line: rule.line), treatment: rule.treatment)
        }
        let byProtocol = AppliedRule(origin: .protocol, treatment: .protocol)
        guard appliesBuiltInRules, let response, response.status == 200 else { return byProtocol }
        let directives = response.directives
        guard !directives.needsValidation, !directives.forbidsStale else { return byProtocol }
        // The script of a service worker decides about all others. Browsers ask for a new one past their own cache.
        if request.isForServiceWorker { return AppliedRule(origin: .serviceWorker, treatment: .validate) }
        // Priority 3. A server may answer with an error page or a single-page app under any name.
        // NB: One with immutable does not change while it is fresh, which is what the protocol says.
        if response.fields.isHTML {
            return directives.isImmutable ? byProtocol : AppliedRule(origin: .document, treatment: .validate)
        }
        // Priority 4. Departure: the response is used after its lifetime.
        let lifetime = response.explicitLifetime?.seconds
        if lifetime ?? .max >= Self.leastLifetime, HashedFileName.isHashed(request.url.path) {
            return AppliedRule(origin: .hashedName, treatment: .keep)
        }
        // Priority 5. Departure: the response is used after its lifetime, once more. RFC 8246, section 2, wants one with
        // immutable to be revalidated as it normally would be, too.
        guard lifetime != 0 else { return byProtocol }
        if directives.isImmutable { return AppliedRule(origin: .immutable, treatment: .staleThenValidate) }
        if request.isForStaticResource || StaticResource.hasExtension(request.url.path) {
            return AppliedRule(origin: .staticResource, treatment: .staleThenValidate)
        }
        return byProtocol
    }

    /// The shortest lifetime, in seconds, by which a server may mean that a file never changes.
    private static let leastLifetime: Int64 = 3600
}

extension MessageFields {
    /// Whether the content is an HTML document. An old one may refer to resources that are gone.
    package var isHTML: Bool {
        guard let type = onlyValue("content-type") else { return false }
        let essence = type.prefix { $0 != ASCII.semicolon && !ASCII.isBlank($0) }
        return essence.withSpan {
            $0.equalsIgnoringCase("text/html") || $0.equalsIgnoringCase("application/xhtml+xml")
        }
    }
}

extension CachingRules {
    /// Whether a response is a page in place of a script, an image or another static resource: servers answer so for files
    /// that are gone, and some for all paths.
    func isPageInPlace(_ response: OriginResponse, of request: CacheRequest) -> Bool {
        appliesBuiltInRules && response.status == 200 && response.fields.isHTML && request.expectsStaticResource
    }
}

extension CacheRequest {
    /// Whether a browser says that the response is for an element that shows a static resource (Fetch Metadata).
    fileprivate var isForStaticResource: Bool {
        fields.onlyValue("sec-fetch-dest").map { Self.staticDestinations.contains($0) } ?? false
    }

    /// Whether a static resource is asked for, and no page: by Fetch Metadata, or else by the extension and Accept.
    fileprivate var expectsStaticResource: Bool {
        if fields.has("sec-fetch-dest") { return isForStaticResource || isForServiceWorker }
        return StaticResource.hasExtension(url.path) && !asksForHTML
    }

    /// Whether the response is for a service worker (Service Workers, section 4.4; Fetch Metadata).
    fileprivate var isForServiceWorker: Bool {
        fields.onlyValue("service-worker") == "script" || fields.onlyValue("sec-fetch-dest") == "serviceworker"
    }

    /// The types that the client names in Accept, in lower case.
    private var acceptedTypes: [Octets] {
        FieldList.members(fields.values("accept")).map { item in
            Octets(item.prefix { $0 != ASCII.semicolon && !ASCII.isBlank($0) }).lowercased
        }
    }

    /// Whether the client wants HTML: it opens a page.
    package var asksForHTML: Bool {
        acceptedTypes.contains { $0 == "text/html" || $0 == "application/xhtml+xml" }
    }

    /// Whether the client takes HTML, too.
    package var acceptsHTML: Bool {
        let types = acceptedTypes
        return types.isEmpty || asksForHTML || types.contains { $0 == "*/*" || $0 == "text/*" }
    }

    private static let staticDestinations: Set<Octets> = [
        "audio", "font", "image", "manifest", "script", "style", "track", "video",
    ]
}

/// Resources that a server reads from files.
enum StaticResource {
    /// The extensions of files that browsers load as parts of a page, without those of documents and of data such as JSON.
    private static let extensions: Set<Octets> = [
        "avif", "bmp", "css", "cur", "eot", "gif", "ico", "jpeg", "jpg", "js", "jxl", "m4a", "m4v", "map", "mjs", "mp3",
        "mp4", "ogg", "ogv", "opus", "otf", "png", "svg", "ttf", "wasm", "wav", "webm", "webmanifest", "webp", "woff",
        "woff2",
    ]

    /// The last segment of a path.
    static func fileName(_ path: Octets) -> Octets {
        path[((path.lastIndex(of: ASCII.slash) ?? -1) + 1)..<path.count]
    }

    /// Whether the last segment has such an extension.
    static func hasExtension(_ path: Octets) -> Bool { withoutExtension(fileName(path)) != nil }

    /// A file name without its extensions, such as `app` for `app.js.map`; `nil` if it has no such extension.
    static func stem(_ name: Octets) -> Octets? {
        var stem = withoutExtension(name)
        while let shorter = stem.flatMap(withoutExtension) { stem = shorter }
        return stem
    }

    private static func withoutExtension(_ name: Octets) -> Octets? {
        guard let dot = name.lastIndex(of: ASCII.dot), dot > 0,
            extensions.contains(name[(dot + 1)..<name.count].lowercased)
        else { return nil }
        return name[0..<dot]
    }
}
