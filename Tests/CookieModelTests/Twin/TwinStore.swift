import CookieModel
import PublicSuffix

/// The storage model and the retrieval algorithm of the draft (sections 5.7 and 5.8), written down as they stand.
struct TwinStore {
    struct TwinCookie: Equatable {
        var name: [UInt8]
        var value: [UInt8]
        var expiry: Int?
        var domain: [UInt8] = []
        var domainIsIPAddress = false
        var path: [UInt8] = []
        var creation: Int
        var lastAccess: Int
        var isHostOnly = false
        var isSecure = false
        var isHTTPOnly = false
        var sameSite = SameSite.default
        var partitionKey: String?

        func isSame(as other: TwinCookie) -> Bool {
            name == other.name && domain == other.domain && isHostOnly == other.isHostOnly && path == other.path
                && partitionKey == other.partitionKey
        }
    }

    enum Outcome: Equatable {
        case stored, replaced, deleted
        /// The first step that aborts.
        case rejected(RejectionReason)
    }

    let profile: CookieProfile
    let limits: CookieLimits
    let laxAllowingUnsafeAge: Int
    /// In the order of creation.
    var cookies: [TwinCookie] = []

    init(profile: CookieProfile, limits: CookieLimits, laxAllowingUnsafeAge: Int) {
        self.profile = profile
        self.limits = limits
        self.laxAllowingUnsafeAge = laxAllowingUnsafeAge
    }

    mutating func evictExpired(now: Int) {
        cookies.removeAll { cookie in cookie.expiry.map { $0 < now } ?? false }
    }

    mutating func endSession() {
        cookies.removeAll { $0.expiry == nil }
    }

    mutating func receive(_ line: [UInt8], _ request: TwinRequest, now: Int) -> Outcome {
        evictExpired(now: now)
        switch TwinParser(profile: profile, now: now, requestPath: request.path).parse(line) {
        case .ignored(let reason):
            return .rejected(reason)
        case .received(let name, let value, let attributes):
            return store(name, value, attributes, request, now: now)
        }
    }

    /// Whether `domain` is a public suffix. So is what lies above the suffix of `host`, as `kawasaki.jp` does for
    /// `b.kawasaki.jp` by the rule `*.kawasaki.jp`: the draft does not think of that, and browsers do.
    static func isPublicSuffix(_ domain: [UInt8], for request: TwinRequest) -> Bool {
        let list = PublicSuffixList.bundled
        func dotless(_ bytes: [UInt8]) -> String {
            String(decoding: bytes.last == 0x2E ? bytes.dropLast() : bytes[...], as: UTF8.self)
        }
        if domain == [0x2E] { return false }
        if list.isPublicSuffix(dotless(domain)) { return true }
        guard !request.isIPAddress, (domain.last == 0x2E) == (request.host.last == 0x2E) else { return false }
        let suffix = list.publicSuffix(of: dotless(request.host))
        return suffix == dotless(domain) || suffix.hasSuffix("." + dotless(domain))
    }

    private mutating func store(
        _ name: [UInt8], _ value: [UInt8], _ attributes: [TwinParser.Attribute], _ request: TwinRequest, now: Int
    ) -> Outcome {
        // 2.
        if name.isEmpty, value.isEmpty { return .rejected(.emptyNameAndValue) }
        // 3.
        if TwinText.containsControl(name) || TwinText.containsControl(value) { return .rejected(.controlCharacter) }
        // 4.
        if name.count + value.count > 4096 { return .rejected(.nameAndValueTooLong) }
        // 5.
        var cookie = TwinCookie(name: name, value: value, creation: now, lastAccess: now)
        // 6, with the last attribute of each name.
        var (maxAge, expires): (Int?, Int?) = (nil, nil)
        var domain: [UInt8]?
        var path: (text: [UInt8], isDefault: Bool)?
        for attribute in attributes {
            switch attribute {
            case .maxAge(let time): maxAge = time
            case .expires(let time): expires = time
            case .domain(let text): domain = text
            case .path(let text, let isDefault): path = (text, isDefault)
            case .sameSite(let flag): cookie.sameSite = flag
            case .secure, .httpOnly, .partitioned: break
            }
        }
        cookie.expiry = maxAge ?? expires
        // 7.
        var domainAttribute = domain ?? []
        // 8.
        if domainAttribute.contains(where: { $0 == 0 || $0 > 0x7F }) { return .rejected(.domainNotASCII) }
        // 9.
        if !domainAttribute.isEmpty, !(request.isIPAddress && domainAttribute == request.host),
            TwinStore.isPublicSuffix(domainAttribute, for: request)
        {
            if domainAttribute == request.host {
                domainAttribute = []
            } else {
                return .rejected(.domainPublicSuffix)
            }
        }
        // 10.
        if !domainAttribute.isEmpty {
            guard TwinText.domainMatches(request.host, domainAttribute, isIPAddress: request.isIPAddress)
            else { return .rejected(.domainMismatch) }
            cookie.isHostOnly = false
            cookie.domain = domainAttribute
        } else {
            cookie.isHostOnly = true
            cookie.domain = request.host
        }
        cookie.domainIsIPAddress = request.isIPAddress && cookie.domain == request.host
        // 11.
        cookie.path = path?.text ?? TwinText.defaultPath(request.path)
        if profile.contains(.rejectsNonASCIIPath), let path, path.text.contains(where: { $0 > 0x7F }) {
            return .rejected(.pathNotASCII)
        }
        // 12.
        cookie.isSecure = attributes.contains(.secure)
        // 13.
        if !request.isSecure, cookie.isSecure { return .rejected(.secureFromInsecure) }
        // 14.
        cookie.isHTTPOnly = attributes.contains(.httpOnly)
        // 15.
        if request.isScript, cookie.isHTTPOnly { return .rejected(.httpOnlyFromScript) }
        // 16, within the partition (CHIPS).
        if !cookie.isSecure, !request.isSecure {
            let partition = attributes.contains(.partitioned) ? request.partitionKey : nil
            for existing in cookies where existing.partitionKey == partition {
                let matchesDomain =
                    TwinText.domainMatches(existing.domain, cookie.domain, isIPAddress: existing.domainIsIPAddress)
                    || TwinText.domainMatches(cookie.domain, existing.domain, isIPAddress: cookie.domainIsIPAddress)
                if existing.name == cookie.name, existing.isSecure, matchesDomain,
                    TwinText.pathMatches(cookie.path, existing.path)
                {
                    return .rejected(.overwriteSecure)
                }
            }
        }
        // 17 stands above. 18.
        if cookie.sameSite != SameSite.none, !request.isSameSite, request.isScript || !request.isTopLevelNavigation {
            return .rejected(.sameSiteCrossSite)
        }
        // 19.
        if cookie.sameSite == SameSite.none, !cookie.isSecure { return .rejected(.sameSiteNoneInsecure) }
        // 20 to 22.
        let mayBeDefault = !profile.contains(.hostPrefixNeedsExplicitPath)
        let hasRootPath = path.map { $0.text == [0x2F] && (mayBeDefault || !$0.isDefault) } ?? false
        if let reason = brokenPrefix(cookie, hasRootPath: hasRootPath) { return .rejected(reason) }
        // CHIPS.
        if attributes.contains(.partitioned) {
            if !cookie.isSecure { return .rejected(.partitionedInsecure) }
            cookie.partitionKey = request.partitionKey
        }
        return insert(cookie, request, now: now)
    }

    /// Steps 20 to 22, and what the profile adds to them.
    private func brokenPrefix(_ cookie: TwinCookie, hasRootPath: Bool) -> RejectionReason? {
        var prefixes = ["__Secure-", "__Host-"]
        if profile.contains(.honoursHTTPPrefixes) { prefixes += ["__Http-", "__Host-Http-"] }
        // 20.
        if TwinText.begins(cookie.name, with: "__Secure-"), !cookie.isSecure { return .prefixSecure }
        // 21.
        if TwinText.begins(cookie.name, with: "__Host-"), !(cookie.isSecure && cookie.isHostOnly && hasRootPath) {
            return .prefixHost
        }
        for prefix in prefixes.dropFirst(2) where TwinText.begins(cookie.name, with: prefix) {
            if !(cookie.isSecure && cookie.isHTTPOnly) { return .prefixHTTP }
        }
        // 22.
        if cookie.name.isEmpty, prefixes.contains(where: { TwinText.begins(cookie.value, with: $0) }) {
            return .prefixNameless
        }
        return nil
    }

    private mutating func insert(_ received: TwinCookie, _ request: TwinRequest, now: Int) -> Outcome {
        var cookie = received
        var outcome = Outcome.stored
        var position = cookies.count
        // 23.
        if let index = cookies.firstIndex(where: { $0.isSame(as: cookie) }) {
            // 23.2.
            if request.isScript, cookies[index].isHTTPOnly { return .rejected(.overwriteHTTPOnly) }
            // 23.3.
            cookie.creation = cookies[index].creation
            // 23.4.
            cookies.remove(at: index)
            position = index
            outcome = .replaced
        }
        // 24.
        cookies.insert(cookie, at: position)
        // Expired cookies are evicted at any time.
        if let expiry = cookie.expiry, expiry < now {
            evictExpired(now: now)
            outcome = .deleted
        } else {
            removeExcess(after: cookie)
        }
        return outcome
    }
}
