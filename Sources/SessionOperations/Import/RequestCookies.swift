package import Captures
package import CookieModel
package import SessionStore

/// Collects the cookies that the requests of a capture sent, until its responses have been received.
///
/// A `Cookie` field has only names and values, so each cookie gets strict attributes: host-only, path `/`, until the
/// session ends, HttpOnly, and Secure if the request was encrypted. If several requests sent a cookie, the latest
/// request counts. A cookie never replaces one that was set: it is left out if any cookie for that host has its name.
/// Nor does it restore a cookie that a response deleted after the request, or that has expired since, according to the
/// capture or to the jar's journal.
package struct RequestCookies {
    /// How many bytes of names, values and hosts are kept.
    private static let byteLimit = 1 << 24

    /// A cookie that a request sent.
    package struct Sent {
        package let record: CookieRecord
        package let url: RequestURL
        package let place: CapturePlace
        fileprivate let key: Key
        /// The cookie's path, if the recorder names it.
        fileprivate var path: Octets?

        /// The paths that the cookie can have.
        fileprivate var paths: [Octets] { path.map { [$0] } ?? CookiePolicy.cookiePaths(for: url.path) }
    }

    fileprivate struct Key: Hashable {
        let name: Octets
        let host: Octets

        /// The keys of the name for the host and for each domain above it.
        var domains: [Key] {
            var keys = [self]
            for (index, byte) in host.enumerated() where byte == UInt8(ascii: ".") {
                keys.append(Key(name: name, host: host[(index + 1)..<host.count]))
            }
            return keys
        }
    }

    /// A cookie that a request sent, with its path and partition if the recorder names them.
    private struct Identity: Hashable {
        let key: Key
        var path: Octets?
        var partition: PartitionKey?
    }

    /// A time, and for equal times the order in the capture.
    private struct Moment: Comparable {
        let time: Timestamp
        let order: Int

        static func < (left: Moment, right: Moment) -> Bool {
            (left.time, left.order) < (right.time, right.order)
        }
    }

    private struct Candidate {
        let sent: Sent
        let moment: Moment
    }

    /// The latest response that set or deleted a cookie, and its effect.
    private struct Setting {
        let moment: Moment
        /// When the cookie expired or expires; in the past of the response for a deletion.
        let end: Timestamp?
    }

    private let now: Timestamp
    private var candidates: [Identity: Candidate] = [:]
    /// The last change at any path, or the last deletion at one path: for exactly that host, and for that host and all
    /// hosts below.
    private var setForHost: [Identity: Setting] = [:]
    private var setForDomain: [Identity: Setting] = [:]
    private var deletedNames: Set<Octets> = []
    private var order = 0
    /// The time of the latest item that has one. Items without a time count as made then.
    private var lastTime: Timestamp?
    private var byteCount = 0
    private var counts = ImportReport.RequestCookieCounts()
    private var overfullPlace: CapturePlace?

    package init(now: Timestamp) {
        self.now = now
    }

    /// Whether no request sent a cookie.
    package var isEmpty: Bool { candidates.isEmpty && counts.thirdParty == 0 }

    /// Notes the cookies of a request.
    package mutating func note(_ response: CapturedResponse, in context: CapturedContext) {
        let url = context.request.url
        let trace = CookieRequest(time: time(response.time, of: response), path: url.path)
        guard response.requestRecords.isEmpty else {
            for var record in response.requestRecords {
                record.request = trace
                let host = WebHost(record.domain)?.octets ?? Octets(record.domain)
                let key = Key(name: record.name, host: host)
                note(
                    Sent(record: record, url: url, place: response.place, key: key, path: record.path),
                    Identity(key: key, path: record.path, partition: record.partitionKey))
            }
            return
        }
        let host = url.host.description
        var seen: Set<Octets> = []
        for (name, value) in response.requestCookies.flatMap(RequestCookies.pairs) {
            // Of several of one name, the first has the longest path.
            guard seen.insert(name).inserted else {
                counts.duplicates += 1
                continue
            }
            guard response.isCopiedRequest || !context.isThirdParty else {
                counts.thirdParty += 1
                continue
            }
            var record = CookieRecord(
                name: name, value: value, domain: host, isHostOnly: true, isSecure: url.scheme.isCryptographic,
                isHTTPOnly: true)
            record.request = trace
            let key = Key(name: name, host: url.host.octets)
            note(Sent(record: record, url: url, place: response.place, key: key), Identity(key: key))
        }
    }

    private mutating func note(_ sent: Sent, _ identity: Identity) {
        order += 1
        let moment = Moment(time: sent.record.request?.time ?? now, order: order)
        let known = candidates[identity]
        if let known, known.moment > moment { return }
        let value = sent.record.value.count
        let size = known.map { value - $0.sent.record.value.count } ?? value + RequestCookies.size(sent.key)
        guard byteCount + size <= RequestCookies.byteLimit else {
            overfullPlace = overfullPlace ?? sent.place
            return
        }
        byteCount += size
        candidates[identity] = Candidate(sent: sent, moment: moment)
    }

    /// Records the cookies that a response set.
    package mutating func note(_ decisions: [StorageDecision], of response: CapturedResponse) {
        order += 1
        let moment = Moment(time: time(response.answerTime ?? response.time, of: response), order: order)
        for decision in decisions {
            guard let cookie = decision.cookie, cookie.id.partitionKey == nil else { continue }
            let key = Key(name: cookie.name, host: cookie.domain.octets)
            let setting = Setting(moment: moment, end: cookie.expiry)
            let isDeletion = cookie.expiry.map { $0 <= moment.time } ?? false
            let identity = Identity(key: key, path: isDeletion ? cookie.path : nil)
            let list = cookie.isHostOnly ? \RequestCookies.setForHost : \RequestCookies.setForDomain
            if let known = self[keyPath: list][identity] {
                if known.moment > moment { continue }
            } else {
                guard byteCount + RequestCookies.size(key) <= RequestCookies.byteLimit else {
                    overfullPlace = overfullPlace ?? response.place
                    continue
                }
                byteCount += RequestCookies.size(key)
            }
            self[keyPath: list][identity] = setting
            if isDeletion { deletedNames.insert(key.name) }
        }
    }

    private mutating func time(_ recorded: Timestamp?, of response: CapturedResponse) -> Timestamp {
        // A time in the future says nothing.
        let recorded = recorded.flatMap { $0 > now ? nil : $0 }
        // A format with times has none here, so anything known may be newer.
        let time = recorded ?? lastTime ?? (response.lacksTime ? .distantPast : now)
        lastTime = max(lastTime ?? time, time)
        return time
    }

    private static func size(_ key: Key) -> Int { key.name.count + key.host.count + 256 }

    /// Gives out the cookies, by registrable domain, and forgets them.
    package mutating func finish(policy: CookiePolicy, _ report: inout ImportReport) -> [(Octets, [Sent])] {
        defer { self = RequestCookies(now: now) }
        if let overfullPlace {
            report.append(
                ImportReport.Failure(
                    code: "response-too-large",
                    message: "\(overfullPlace): the requests have more than 16 MiB of cookies; the rest was left out",
                    source: report.source))
        }
        var sites: [Octets: [Sent]] = [:]
        var siteOfHost: [WebHost: Octets] = [:]
        for (identity, candidate) in candidates.sorted(by: { $0.value.moment < $1.value.moment }) {
            if identity.partition == nil, let setting = setting(of: candidate.sent) {
                guard setting.moment <= candidate.moment else {
                    counts.alreadySet += 1
                    continue
                }
                // It is the cookie that was set: it has run out.
                if let end = setting.end, candidate.moment.time < end, end <= now {
                    counts.expired += 1
                    continue
                }
            }
            let host = candidate.sent.url.host
            let site = siteOfHost[host] ?? host.registrableDomain(policy.publicSuffixes)
            siteOfHost[host] = site
            sites[site, default: []].append(candidate.sent)
        }
        report.requestCookies = counts
        return sites.sorted { $0.key < $1.key }
    }

    /// The last change that a response made to a cookie which the request would carry.
    private func setting(of sent: Sent) -> Setting? {
        let paths = [nil] + (deletedNames.contains(sent.key.name) ? sent.paths : [])
        var settings = paths.compactMap { setForHost[Identity(key: sent.key, path: $0)] }
        if !setForDomain.isEmpty {
            settings += sent.key.domains.flatMap { key in
                paths.compactMap { setForDomain[Identity(key: key, path: $0)] }
            }
        }
        return settings.max { $0.moment < $1.moment }
    }

    /// The names and values of a `Cookie` field.
    package static func pairs(_ field: Octets) -> [(name: Octets, value: Octets)] {
        var pairs: [(name: Octets, value: Octets)] = []
        field.withSpan { bytes in
            var start = 0
            while start < bytes.count {
                var end = start
                var equals: Int?
                while end < bytes.count, bytes[end] != UInt8(ascii: ";") {
                    if equals == nil, bytes[end] == UInt8(ascii: "=") { equals = end }
                    end += 1
                }
                let next = end + 1
                while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
                while start < end, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
                if start < end {
                    // The parts share the field's memory.
                    pairs.append(
                        equals.map { (field[start..<$0], field[($0 + 1)..<max(end, $0 + 1)]) } ?? (
                            [], field[start..<end]
                        ))
                }
                start = next
            }
        }
        return pairs
    }

    /// Cookies that were there before, and those that are no longer.
    package struct Present {
        private var forHost: Set<Key> = []
        private var forDomain: Set<Key> = []
        private var partitioned: Set<Cookie.ID> = []
        /// Those that requests told, and when these were made.
        private var ofRequests: [Cookie.ID: Timestamp] = [:]
        /// The ends of cookies, by their names for the host, and for it and all hosts below; and by their paths.
        private var endedForHost: [Key: [Octets: CookieEnding]] = [:]
        private var endedForDomain: [Key: [Octets: CookieEnding]] = [:]
        private var endedPartitioned: [Cookie.ID: CookieEnding] = [:]

        /// - Parameter endings: those of cookies that ended. There are no more than the journal has entries, which is
        ///   bounded.
        package init(_ cookies: [Cookie], _ endings: [CookieEnding] = []) {
            for ending in endings { insert(ending) }
            for cookie in cookies {
                if let request = cookie.request {
                    ofRequests[cookie.id] = request.time
                } else {
                    insert(cookie.id)
                }
            }
        }

        /// Adds a cookie that was set or came out of a store.
        package mutating func insert(_ id: Cookie.ID) {
            guard id.partitionKey == nil else {
                partitioned.insert(id)
                return
            }
            let key = Key(name: id.name, host: id.domain.octets)
            if id.isHostOnly { forHost.insert(key) } else { forDomain.insert(key) }
        }

        private mutating func insert(_ ending: CookieEnding) {
            let id = ending.cookie
            guard id.partitionKey == nil else {
                if endedPartitioned[id].map({ $0.time < ending.time }) ?? true { endedPartitioned[id] = ending }
                return
            }
            let key = Key(name: id.name, host: id.domain.octets)
            let list = id.isHostOnly ? \Present.endedForHost : \Present.endedForDomain
            guard self[keyPath: list][key]?[id.path].map({ $0.time < ending.time }) ?? true else { return }
            self[keyPath: list][key, default: [:]][id.path] = ending
        }

        /// How the cookie ended after its request, which would have carried it.
        private func ending(of cookie: Sent, _ id: Cookie.ID?, after request: CookieRequest) -> CookieEnding? {
            guard cookie.record.partitionKey == nil else {
                return id.flatMap { endedPartitioned[$0] }.flatMap { $0.time >= request.time ? $0 : nil }
            }
            let key = Key(name: cookie.record.name, host: cookie.url.host.octets)
            let lists =
                [endedForHost[key]].compactMap(\.self)
                + (endedForDomain.isEmpty ? [] : key.domains.compactMap { endedForDomain[$0] })
            guard !lists.isEmpty else { return nil }
            let paths = cookie.paths
            return lists.lazy.flatMap { list in paths.lazy.compactMap { list[$0] } }.first { $0.time >= request.time }
        }

        /// Whether the request's cookie is left out: a cookie of that name that was set would go to the same host, it
        /// ended after the request, or a later request told it.
        package func hides(_ cookie: Sent, _ report: inout ImportReport) -> Bool {
            let record = cookie.record
            let id = WebHost(record.domain).map {
                Cookie.ID(
                    name: record.name, domain: $0, isHostOnly: record.isHostOnly, path: record.path,
                    partitionKey: record.partitionKey)
            }
            let key = Key(name: record.name, host: cookie.url.host.octets)
            let isSet =
                record.partitionKey == nil
                ? forHost.contains(key) || !forDomain.isEmpty && key.domains.contains { forDomain.contains($0) }
                : id.map { partitioned.contains($0) } ?? false
            guard !isSet else {
                report.requestCookies?.alreadySet += 1
                return true
            }
            if let request = record.request, let ending = ending(of: cookie, id, after: request) {
                if ending.isExpiry {
                    report.requestCookies?.expired += 1
                } else {
                    report.requestCookies?.deleted += 1
                }
                return true
            }
            guard let id, let known = ofRequests[id], let time = record.request?.time, known > time else {
                return false
            }
            report.requestCookies?.older += 1
            return true
        }
    }
}
