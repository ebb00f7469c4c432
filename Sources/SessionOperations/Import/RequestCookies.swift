package import Captures
package import CookieModel

/// Collects the cookies that the requests of a capture sent, until its responses have been received.
///
/// A `Cookie` field tells names and values only, so each cookie is taken on the strict side: for its host alone, path `/`,
/// until the session ends, HttpOnly, and Secure if the request was encrypted. It never replaces a cookie that was set: of
/// a name that any cookie for that host has, nothing is taken; and what a response set or deleted after the request is
/// not brought back.
package struct RequestCookies {
    /// How many bytes of names, values and hosts are kept.
    private static let byteLimit = 1 << 24

    /// A cookie that a request sent.
    package struct Sent {
        package let record: CookieRecord
        package let url: RequestURL
        package let place: CapturePlace
    }

    fileprivate struct Key: Hashable {
        let name: Octets
        let host: Octets

        /// The keys of the name for the host and for each domain above it.
        var domains: [Key] {
            var keys = [self]
            for (index, byte) in host.enumerated() where byte == UInt8(ascii: ".") {
                keys.append(Key(name: name, host: Octets(Array(host.dropFirst(index + 1)))))
            }
            return keys
        }
    }

    /// A cookie that a request sent; where the recorder names its attributes, with its path and partition.
    private struct Identity: Hashable {
        let key: Key
        var path: Octets?
        var partition: PartitionKey?
    }

    private struct Candidate {
        let record: CookieRecord
        let url: RequestURL
        let place: CapturePlace
        let order: Int
        /// The place among the cookies of the request, which is their order in its field.
        let position: Int
    }

    private var candidates: [Identity: Candidate] = [:]
    /// The names among the candidates: only these are worth remembering when they are set.
    private var names: Set<Octets> = []
    /// When a cookie of that name was last set or deleted for exactly that host, and for it and all hosts below.
    private var setForHost: [Key: Int] = [:]
    private var setForDomain: [Key: Int] = [:]
    private var order = 0
    private var notedCount = 0
    private var byteCount = 0
    private var thirdPartyCount = 0
    private var overfullPlace: CapturePlace?

    package init() {}

    /// Whether no request sent a cookie.
    package var isEmpty: Bool { candidates.isEmpty && thirdPartyCount == 0 }

    /// Notes the cookies of a request.
    package mutating func note(_ response: CapturedResponse, in context: CapturedContext) {
        order += 1
        let url = context.request.url
        guard response.requestRecords.isEmpty else {
            for record in response.requestRecords {
                let host = WebHost(record.domain)?.octets ?? Octets(record.domain)
                note(
                    record,
                    Identity(
                        key: Key(name: record.name, host: host), path: record.path, partition: record.partitionKey),
                    url, response.place)
            }
            return
        }
        var seen: Set<Octets> = []
        for (name, value) in response.requestCookies.flatMap(RequestCookies.pairs) {
            // Of several of one name, the first has the longest path.
            guard seen.insert(name).inserted else { continue }
            guard response.isCopiedRequest || !context.isThirdParty else {
                thirdPartyCount += 1
                continue
            }
            let record = CookieRecord(
                name: name, value: value, domain: url.host.description, isHostOnly: true,
                isSecure: url.scheme.isCryptographic, isHTTPOnly: true)
            note(record, Identity(key: Key(name: name, host: url.host.octets)), url, response.place)
        }
    }

    private mutating func note(_ record: CookieRecord, _ identity: Identity, _ url: RequestURL, _ place: CapturePlace) {
        let known = candidates[identity].map { $0.record.value.count }
        let size = record.value.count - (known ?? -(record.name.count + identity.key.host.count + 256))
        guard byteCount + size <= RequestCookies.byteLimit else {
            overfullPlace = overfullPlace ?? place
            return
        }
        byteCount += size
        notedCount += 1
        candidates[identity] = Candidate(
            record: record, url: url, place: place, order: order, position: notedCount)
        names.insert(record.name)
    }

    /// Notes what a response set.
    package mutating func note(_ decisions: [StorageDecision]) {
        guard !names.isEmpty else { return }
        order += 1
        for decision in decisions {
            guard let id = decision.cookie?.id, id.partitionKey == nil, names.contains(id.name) else { continue }
            let key = Key(name: id.name, host: id.domain.octets)
            if id.isHostOnly { setForHost[key] = order } else { setForDomain[key] = order }
        }
    }

    /// Gives out the cookies, by registrable domain, and forgets them.
    package mutating func finish(policy: CookiePolicy, _ report: inout ImportReport) -> [(Octets, [Sent])] {
        defer { self = RequestCookies() }
        var counts = ImportReport.RequestCookieCounts()
        counts.thirdParty = thirdPartyCount
        if let overfullPlace {
            report.append(
                ImportReport.Failure(
                    code: "response-too-large",
                    message: "\(overfullPlace): the requests have more than 16 MiB of cookies; the rest was left out",
                    source: report.source))
        }
        var sites: [Octets: [Sent]] = [:]
        let ordered = candidates.sorted { first, second in
            (first.value.order, first.value.position) < (second.value.order, second.value.position)
        }
        for (identity, candidate) in ordered {
            guard identity.partition != nil || !wasSet(identity.key, after: candidate.order) else {
                counts.alreadySet += 1
                continue
            }
            sites[candidate.url.host.registrableDomain(policy.publicSuffixes), default: []].append(
                Sent(record: candidate.record, url: candidate.url, place: candidate.place))
        }
        report.requestCookies = counts
        return sites.sorted { $0.key < $1.key }
    }

    private func wasSet(_ key: Key, after order: Int) -> Bool {
        if let time = setForHost[key], time > order { return true }
        guard !setForDomain.isEmpty else { return false }
        return key.domains.contains { setForDomain[$0].map { $0 > order } ?? false }
    }

    /// The names and values of a `Cookie` field.
    private static func pairs(_ field: Octets) -> [(name: Octets, value: Octets)] {
        field.split(separator: UInt8(ascii: ";")).compactMap { part in
            var pair = part
            while pair.first == 0x20 || pair.first == 0x09 { pair = pair.dropFirst() }
            while pair.last == 0x20 || pair.last == 0x09 { pair = pair.dropLast() }
            guard !pair.isEmpty else { return nil }
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return (Octets([]), Octets(Array(pair))) }
            return (Octets(Array(pair[..<equals])), Octets(Array(pair[(equals + 1)...])))
        }
    }

    /// Cookies that were there before.
    package struct Present {
        private var forHost: Set<Key> = []
        private var forDomain: Set<Key> = []
        private var partitioned: Set<Cookie.ID> = []

        package init(_ cookies: some Sequence<Cookie.ID>) {
            for id in cookies {
                guard id.partitionKey == nil else {
                    partitioned.insert(id)
                    continue
                }
                let key = Key(name: id.name, host: id.domain.octets)
                if id.isHostOnly { forHost.insert(key) } else { forDomain.insert(key) }
            }
        }

        /// Whether a cookie of that name would go to the same host, so that the request's is left out.
        package func hides(_ cookie: Sent, _ report: inout ImportReport) -> Bool {
            let record = cookie.record
            let key = Key(name: record.name, host: cookie.url.host.octets)
            var isThere = forHost.contains(key) || key.domains.contains { forDomain.contains($0) }
            if let partition = record.partitionKey, let domain = WebHost(record.domain) {
                isThere = partitioned.contains(
                    Cookie.ID(
                        name: record.name, domain: domain, isHostOnly: record.isHostOnly, path: record.path,
                        partitionKey: partition))
            }
            if isThere { report.requestCookies?.alreadySet += 1 }
            return isThere
        }
    }
}
