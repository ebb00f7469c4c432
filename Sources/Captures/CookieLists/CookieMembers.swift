import CookieModel

/// Makes a cookie from its members in a list.
///
/// - A domain with a leading dot is a domain cookie's, any other a host-only one's, unless the dialect has a member for
///   it. A cookie without a domain belongs to the host of the URL that the caller gives.
/// - `SameSite=None` without `Secure` is how several browsers report a missing attribute (no browser would have kept
///   such a cookie): it is read as "not known".
struct CookieMembers {
    enum Result {
        case cookie(CookieRecord)
        /// The defect, in a sentence that begins with "It".
        case malformed(String)
        /// It has no name or no value, and nothing that every cookie has.
        case notCookie(String)
        /// There is no domain, and the caller named no URL.
        case domainMissing
    }

    private struct Problem: Error {
        let finding: String
        /// Whether this means that there is no cookie at all.
        var isFundamental = false

        static func wrongType(_ name: StaticString, _ type: String) -> Problem {
            Problem(finding: "It has a \(name) that is not \(type).")
        }

        static func missing(_ name: StaticString) -> Problem {
            Problem(finding: "It has no \(name).", isFundamental: true)
        }
    }

    let dialect: CookieDialect
    /// The host of cookies without a domain.
    let host: String?

    /// Makes a cookie of `value`. `name` is the cookie's name if the value itself does not contain it.
    func cookie(_ value: JSONValue, named name: Octets? = nil) -> Result {
        guard let object = value.object else { return .notCookie("It is not an object.") }
        do throws(Problem) {
            guard var record = try record(object, named: name) else { return .domainMissing }
            record.sameSite = try sameSite(object, isSecure: record.isSecure)
            record.unstated = unstated(in: object)
            record.expiry = try expiry(object)
            record.partitionKey = try partitionKey(object)
            return .cookie(record)
        } catch {
            return error.isFundamental ? .notCookie(error.finding) : .malformed(error.finding)
        }
    }

    private func record(_ object: JSONObject, named name: Octets?) throws(Problem) -> CookieRecord? {
        var ownName = name
        if ownName == nil { ownName = try string(dialect.name, in: object) }
        guard let name = ownName else { throw .missing(dialect.name) }
        guard let value = try value(object) else { throw .missing("value") }
        let written = try string("domain", in: object).map { $0.withSpan { String(repairing: $0) } } ?? ""
        let hasDot = written.hasPrefix(".")
        guard let domain = written.isEmpty ? host : unextended(String(hasDot ? written.dropFirst() : written[...]))
        else { return nil }
        let hostOnly = dialect.hasHostOnly ? try flag("hostOnly", in: object) : nil
        let path = try string("path", in: object) ?? "/"
        return CookieRecord(
            name: name, value: value, domain: domain,
            isHostOnly: WebHost(domain)?.isIPAddress == true || hostOnly ?? !hasDot, path: path.isEmpty ? "/" : path,
            isSecure: try flag("secure", in: object) ?? false,
            isHTTPOnly: try flag("httpOnly", in: object) ?? false)
    }

    /// The properties that the members leave open: scripts that write lists by hand omit members that they do not need.
    private func unstated(in object: JSONObject) -> CookieProperties {
        if dialect.leavesDefaultsOut { return [] }
        var unstated: CookieProperties = []
        if object["secure"] == nil { unstated.insert(.secure) }
        if object["httpOnly"] == nil { unstated.insert(.httpOnly) }
        if object["sameSite"] == nil, !dialect.leavesNoSameSiteOut { unstated.insert(.sameSite) }
        return unstated
    }

    /// Removes a `.local` that the host does not have. A real name may end in it, too, so it is only removed from
    /// `localhost`'s name and from that of the host that the caller names.
    private func unextended(_ domain: String) -> String {
        guard dialect.extendsLocalHosts, domain.hasSuffix(".local") else { return domain }
        let name = String(domain.dropLast(6))
        return name == "localhost" || name == host ? name : domain
    }

    /// A string; BiDi writes octets that are not UTF-8 as Base64.
    private func value(_ object: JSONObject) throws(Problem) -> Octets? {
        guard let typed = object["value"]?.object else { return try string("value", in: object) }
        guard let value = typed["value"]?.octets else { return nil }
        if typed["type"]?.octets == "string" { return value }
        guard typed["type"]?.octets == "base64", let decoded = Base64.decode(value) else {
            throw .wrongType("value", "text or Base64")
        }
        return Octets(decoded)
    }

    private func expiry(_ object: JSONObject) throws(Problem) -> Timestamp? {
        if try flag("session", in: object) == true { return nil }
        if dialect.hasMaxAge, case .number(let age)? = object["maxAge"] { return try end(of: age.millionths, object) }
        switch object[dialect.expiry] {
        case nil: return nil
        case .number(let number):
            let microseconds = number.millionths
            return dialect.endsWithSessionAtMinusOne && microseconds == -1_000_000
                ? nil : Timestamp(microseconds: microseconds)
        case .string(let text) where text == "Infinity": return nil
        case .string(let text):
            guard let moment = Timestamp(rfc3339: text) ?? text.withSpan({ CookieDate.parse($0) }) else {
                throw .wrongType(dialect.expiry, "a date and time")
            }
            return moment
        default: throw .wrongType(dialect.expiry, "a number")
        }
    }

    /// The end of a lifetime that began with the cookie. Where the beginning is missing, the cookie ends with the session.
    private func end(of microseconds: Int64, _ object: JSONObject) throws(Problem) -> Timestamp? {
        guard microseconds > 0 else { return .distantPast }
        guard let start = try string("creation", in: object).flatMap({ Timestamp(rfc3339: $0) }) else { return nil }
        let (sum, overflow) = start.microseconds.addingReportingOverflow(microseconds)
        return overflow ? .distantFuture : Timestamp(microseconds: sum)
    }

    private func sameSite(_ object: JSONObject, isSecure: Bool) throws(Problem) -> SameSite {
        guard let text = try string("sameSite", in: object) else { return .default }
        return text.withSpan { text in
            if text.equalsIgnoringCase("strict") { return .strict }
            if text.equalsIgnoringCase("lax") { return .lax }
            let isNone = text.equalsIgnoringCase("none") || text.equalsIgnoringCase("no_restriction")
            return isNone && isSecure ? .none : .default
        }
    }

    /// A site as a string (Playwright, older DevTools), or an object with it (DevTools, extensions).
    private func partitionKey(_ object: JSONObject) throws(Problem) -> PartitionKey? {
        if try flag("partitionKeyOpaque", in: object) == true {
            throw Problem(finding: "It has an opaque partition, which only its own page can use.")
        }
        switch object["partitionKey"] {
        case nil: return nil
        case .string(let site) where site.isEmpty: return nil
        case .string(let site):
            // A key without this member is from before the member existed, when every key meant `true`.
            let hasAncestor = try flag("_crHasCrossSiteAncestor", in: object) ?? true
            return try partitionKey(site, hasAncestor)
        case .object(let key):
            let name: StaticString = key["topLevelSite"] == nil ? "sourceOrigin" : "topLevelSite"
            guard let site = try string(name, in: key), !site.isEmpty else { return nil }
            return try partitionKey(site, try flag("hasCrossSiteAncestor", in: key) ?? true)
        default: throw .wrongType("partitionKey", "a site")
        }
    }

    private func partitionKey(_ site: Octets, _ hasCrossSiteAncestor: Bool) throws(Problem) -> PartitionKey {
        guard let url = try? RequestURL(site) else { throw .wrongType("partitionKey", "a site") }
        return PartitionKey(
            topLevelSite: "\(url.scheme.name)://\(url.host)", hasCrossSiteAncestor: hasCrossSiteAncestor)
    }

    // MARK: Members

    private func string(_ name: StaticString, in object: JSONObject) throws(Problem) -> Octets? {
        switch object[name] {
        case nil: return nil
        case .string(let octets): return dialect.isLatin1 ? octets.fromLatin1 : octets
        case .tooLong: throw Problem(finding: "It has a \(name) longer than 1 MiB.")
        default: throw .wrongType(name, "a string")
        }
    }

    private func flag(_ name: StaticString, in object: JSONObject) throws(Problem) -> Bool? {
        switch object[name] {
        case nil: return nil
        case .boolean(let flag): return flag
        case .number(let number) where number.integer == 0 || number.integer == 1: return number.integer == 1
        default: throw .wrongType(name, "true or false")
        }
    }
}

extension Octets {
    /// The octets of this text if each of its characters is an octet in Latin-1; otherwise the text unchanged.
    fileprivate var fromLatin1: Octets {
        guard let text = utf8String else { return self }
        let octets = text.unicodeScalars.map { UInt8(exactly: $0.value) }
        return octets.contains(nil) ? self : Octets(octets.compactMap(\.self))
    }
}

/// The names and conventions of one format's cookie list. ``CookieMembers`` knows those that all formats share.
struct CookieDialect: Sendable {
    /// The name of the list in messages.
    let title: String
    /// The member with the cookie's name.
    var name: StaticString = "name"
    /// The member with the moment that the cookie ends at, in seconds since 1970.
    var expiry: StaticString = "expires"
    /// Whether `-1` as that moment means "with the session"; elsewhere it is a moment like any other.
    var endsWithSessionAtMinusOne = false
    /// Whether a member `hostOnly` decides between host-only cookie and domain cookie, rather than the domain's dot.
    var hasHostOnly = false
    /// Whether a cookie without the member `sameSite` has no SameSite attribute, rather than one that is not told.
    var leavesNoSameSiteOut = false
    /// Whether members that are missing have their defaults: not secure, open to scripts, without SameSite.
    var leavesDefaultsOut = false
    /// Whether a member `maxAge` counts before the moment, in seconds since `creation`.
    var hasMaxAge = false
    /// Whether a host without a dot may be followed by `.local`, as Python's cookie jars write it.
    var extendsLocalHosts = false
    /// Whether each character represents an octet, as Python's HTTP clients read responses.
    var isLatin1 = false

    /// Playwright's and Puppeteer's `storageState`, and Playwright's `context.cookies()`.
    static let storageState = CookieDialect(title: "storage state", endsWithSessionAtMinusOne: true)
    /// `Network.getCookies`, `Storage.getCookies` of the Chrome DevTools Protocol, and Puppeteer's `page.cookies()`.
    static let devTools = CookieDialect(
        title: "DevTools cookie list", endsWithSessionAtMinusOne: true, leavesNoSameSiteOut: true)
    /// WebDriver's "Get All Cookies" and WebDriver BiDi's `storage.getCookies`.
    static let webDriver = CookieDialect(title: "WebDriver cookie list", expiry: "expiry")
    /// The lists that extensions make from `chrome.cookies`: Cookie-Editor, EditThisCookie and similar ones.
    static let cookieEditor = CookieDialect(title: "Cookie-Editor export", expiry: "expirationDate", hasHostOnly: true)
    /// The jars of Node's tough-cookie.
    static let toughCookie = CookieDialect(
        title: "jar of tough-cookie", name: "key", hasHostOnly: true, leavesDefaultsOut: true, hasMaxAge: true)
    /// HTTPie's session files.
    static let httpieSession = CookieDialect(title: "HTTPie session", extendsLocalHosts: true, isLatin1: true)
}
