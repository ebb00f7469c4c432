import CookieModel
import PublicSuffix
import WebPrimitives

/// Set-Cookie lines that delete cookies in the client.
enum CookieDeletion {
    /// How many lines a response gets at most.
    static let limit = 64
    /// How many paths and domains are tried for a cookie if only its name is known.
    private static let pathLimit = 16
    private static let domainLimit = 3

    /// The line that the client gets instead of a withheld one. It deletes the cookie that the withheld line would have
    /// replaced.
    ///
    /// The client accepts it if it would have accepted the withheld one, because the attributes that decide on this are
    /// the same.
    ///
    /// - Returns: `nil` if a client ignores the withheld line, or if the new line would not be text.
    static func line(inPlaceOf line: Octets, profile: CookieProfile) -> Octets? {
        guard case .cookie(let cookie) = SetCookie.parse(line, profile: profile) else { return nil }
        var deletion = pair(cookie.name)
        for attribute in line.split(separator: ASCII.semicolon, omittingEmptySubsequences: false).dropFirst() {
            let parts = attribute.split(separator: ASCII.equals, maxSplits: 1, omittingEmptySubsequences: false)
            let name = Octets(Array(parts[0])).trimmingBlanks.lowercased
            // Other attributes may contain anything, and change at most the lifetime.
            guard ["path", "domain", "secure", "httponly", "samesite", "partitioned"].contains(name) else { continue }
            deletion += [ASCII.semicolon] + Array(attribute)
        }
        deletion += "; Max-Age=0".utf8
        let octets = Octets(deletion)
        return octets.isUTF8 ? octets : nil
    }

    /// The lines that delete all cookies with a name that a request for the URL would carry. A request does not contain
    /// their domains and paths.
    ///
    /// - Parameters:
    ///   - first: The cookies of this name that the client is known to have.
    ///   - kept: The cookies that it keeps.
    ///   - partition: The partition of the request, if it has one.
    static func lines(
        for name: Octets, at url: RequestURL, _ first: [Cookie.ID], keeping kept: Set<Cookie.ID>,
        partition: PartitionKey?, _ suffixes: PublicSuffixList
    ) -> [Octets] {
        var ids = first
        let partitions = url.scheme.isCryptographic && partition != nil ? [nil, partition] : [nil]
        for partition in partitions {
            for path in paths(of: url) {
                for domain in domains(of: url.host, suffixes) {
                    ids.append(
                        Cookie.ID(
                            name: name, domain: domain ?? url.host, isHostOnly: domain == nil, path: path,
                            partitionKey: partition))
                }
            }
        }
        var seen = kept
        return ids.compactMap { id in seen.insert(id).inserted ? line(for: id, at: url) : nil }
    }

    /// The line that deletes a cookie; `nil` if none can.
    private static func line(for id: Cookie.ID, at url: RequestURL) -> Octets? {
        guard !id.path.contains(ASCII.semicolon) else { return nil }
        var line = pair(id.name)
        if !id.isHostOnly { line += Array("; Domain=".utf8) + id.domain.octets }
        line += Array("; Path=".utf8) + id.path
        // Without these attributes, a response to another site's page deletes nothing.
        if url.scheme.isCryptographic { line += "; Secure; SameSite=None".utf8 }
        if id.partitionKey != nil { line += "; Partitioned".utf8 }
        line += "; Max-Age=0".utf8
        let octets = Octets(line)
        return octets.isUTF8 ? octets : nil
    }

    /// The pair of a deleting line. Without a name, it needs a value, because clients ignore an empty pair.
    private static func pair(_ name: Octets) -> [UInt8] {
        name.bytes + [ASCII.equals] + (name.isEmpty ? [UInt8(ascii: "-")] : [])
    }

    private static func paths(of url: RequestURL) -> [Octets] {
        Array(Set(CookiePolicy.cookiePaths(for: url.path)).sorted { $0.count < $1.count }.prefix(pathLimit))
    }

    /// The domains that a cookie of a host can have, from the registrable domain down; `nil` for a host-only cookie.
    private static func domains(of host: WebHost, _ suffixes: PublicSuffixList) -> [WebHost?] {
        guard host.kind == .domain, !host.isPublicSuffix(suffixes) else { return [nil] }
        let site = host.registrableDomain(suffixes)
        var domains = [host.octets]
        while let name = domains.last, name.count > site.count, let dot = name.firstIndex(of: ASCII.dot) {
            domains.append(Octets(Array(name[(dot + 1)...])))
        }
        return [nil] + domains.reversed().prefix(domainLimit).map { WebHost(String(decoding: $0, as: UTF8.self)) }
    }
}
