package import Captures
package import CookieModel
package import SessionStore

/// What became of every Set-Cookie line and cookie of one capture.
///
/// Its lists hold the first ``listLimit`` entries; the others are counted, so that no capture makes a report too long.
package struct ImportReport: Codable {
    /// How many entries a list holds.
    package static let listLimit = 10

    /// How many entries each list would have had besides those in it.
    package struct Omitted: Codable {
        package fileprivate(set) var refused = 0
        package fileprivate(set) var evicted = 0
        package fileprivate(set) var failures = 0
        package fileprivate(set) var notes = 0
        package fileprivate(set) var expiredNames = 0
    }

    package struct Refusal: Codable {
        package let place: String
        /// Which Set-Cookie line of the response, from 1.
        package let line: Int?
        package let name: String?
        package let reasons: [ReasonReport]
        /// Where the request was made, if it was a third party's.
        package var thirdParty: ThirdParty?
    }

    /// The context of a third party's request.
    package struct ThirdParty: Codable {
        /// The origin of the page in the address bar, if it is known.
        package let topLevel: String?
        /// What told it; ``CapturedContext/Source``.
        package let source: String
    }

    /// What became of the cookies that requests sent.
    package struct RequestCookieCounts: Codable {
        package var taken = 0
        /// How many were left out because a cookie of that name was set for their host.
        package var alreadySet = 0
        /// How many were left out because a third party's request sent them: their partition is unknown.
        package var thirdParty = 0
        /// How many were left out because their request sent another of the same name first.
        package var duplicates = 0
        /// How many were left out because a response set them, before the request, with a lifetime that is over.
        package var expired = 0
        /// How many were left out because a response deleted them after the request: the jar's journal tells.
        package var deleted = 0
        /// How many were left out because the jar has them from a later request.
        package var older = 0

        /// How many became what the counts say, without those that were refused.
        package var total: Int { taken + alreadySet + thirdParty + duplicates + expired + deleted + older }
    }

    /// What became of the cookies that third parties set.
    package struct ThirdParties: Codable {
        /// How many responses of third parties set cookies.
        package var responses = 0
        /// How many of their cookies were taken or replaced one.
        package var stored = 0
        /// How many of those are in the partition of the page.
        package var partitioned = 0
        package var refused = 0
    }

    /// The same capture, imported before.
    package struct EarlierImport: Codable {
        package let source: String
        package let at: String

        package init(_ record: CaptureRecord) {
            source = record.name
            at = record.imported.rfc3339
        }
    }

    /// A cookie that made room for others, from this capture or stored before.
    package struct Evicted: Codable {
        package let name: String
        package let domain: String
        package let path: String
        package let reason: ReasonReport
    }

    package struct Failure: Codable {
        package let source: String
        package let code: String
        package let message: String

        package init(_ error: CaptureError) {
            source = error.place.source
            code = error.code.description
            message = error.description
        }

        /// A failure with its stable code, and one sentence about it.
        package init(code: String, message: String, source: String) {
            self.source = source
            self.code = code
            self.message = message
        }
    }

    package let source: String
    package var format: String?
    /// Where the jar has been given the same capture before: nothing was changed.
    package var alreadyImported: EarlierImport?
    package var responses = 0
    package var lines = 0
    package var taken = 0
    package var replaced = 0
    package var deleted = 0
    /// How many of the deletions found no cookie to delete.
    package private(set) var deletedNothing = 0
    /// How many had run out since they were received, so that they were not stored.
    package private(set) var expired = 0
    /// The names of these.
    package private(set) var expiredNames: [String] = []
    /// How many cookies and lines could not be read, as far as that can be told.
    package private(set) var unreadable = 0
    /// How many items of `localStorage` were taken.
    package private(set) var storageItems = 0
    /// How many had no room, or could not be read.
    package private(set) var storageItemsLeftOut = 0
    /// How many cookies the requests carried, in responses that set none.
    package private(set) var carriedCookies = 0
    /// For each property that the format does not state, how many cookies kept the one that the jar had.
    package private(set) var kept: [String: Int] = [:]
    /// How many cookies of a store lived for longer than the rules allow, so that their lifetimes were cut.
    package private(set) var lifetimesCut = 0
    package private(set) var refused: [Refusal] = []
    /// What became of cookies that third parties set; `nil` if none did.
    package private(set) var thirdParties: ThirdParties?
    /// What became of the cookies that requests sent; `nil` if none were asked for or found.
    package var requestCookies: RequestCookieCounts?
    package private(set) var evicted: [Evicted] = []
    package private(set) var failures: [Failure] = []
    /// What the capture holds besides cookies, and what was left out because it was not asked for.
    package private(set) var notes: [Failure] = []
    /// What the lists would hold besides.
    package private(set) var omitted = Omitted()
    /// Why nothing was stored, replaced or deleted, where nothing was and no failure is the reason.
    package private(set) var nothingImported: Failure?

    package init(source: String) {
        self.source = source
    }

    /// The report on a capture that was imported before: nothing was changed.
    package init(source: String, importedBefore record: CaptureRecord) {
        self.source = source
        alreadyImported = EarlierImport(record)
    }

    /// Accounts for what was read, before anything is decided on it.
    package mutating func count(_ item: CaptureItem) {
        switch item {
        case .failure(let error) where error.severity == .notice: append(Failure(error), to: \.notes, \.notes)
        case .failure(let error):
            unreadable += error.count
            storageItemsLeftOut += error.storageItemCount
            append(Failure(error))
        case .response(let response):
            responses += 1
            guard response.setCookie.isEmpty else { return }
            // Cookies of a Cookie field are separated by semicolons.
            for field in response.requestCookies { carriedCookies += field.count { $0 == 0x3B } + 1 }
        case .cookie, .storage: break
        }
    }

    /// Accounts for an item of `localStorage`.
    package mutating func count(_ item: WebStorageItem, hasRoom: Bool) {
        guard !hasRoom else { return storageItems += 1 }
        storageItemsLeftOut += 1
        let beginning = "\(source): The localStorage of "
        guard !failures.contains(where: { $0.message.hasPrefix(beginning) }) else { return }
        append(
            Failure(
                code: CaptureError.Code.storageLeftOut.description,
                message:
                    "\(beginning)\(item.origin) does not fit: a jar holds 5 MiB and 10,000 items "
                    + "of an origin, and 50 MiB and 100,000 items in all.", source: source))
    }

    /// Notes that an entry does not tell when its response came.
    package mutating func noteUnknownTime(at place: CapturePlace) {
        let note = Failure(
            code: "time-unknown",
            message:
                "\(place): its startedDateTime cannot be read. It counts as received with the entry before it, "
                + "and changes no cookie that is known to be newer.", source: source)
        append(note, to: \.notes, \.notes)
    }

    /// Adds a failure.
    package mutating func append(_ failure: Failure) {
        append(failure, to: \.failures, \.failures)
    }

    private mutating func append<Entry>(
        _ entry: @autoclosure () -> Entry, to list: WritableKeyPath<ImportReport, [Entry]>,
        _ rest: WritableKeyPath<Omitted, Int>
    ) {
        if self[keyPath: list].count < ImportReport.listLimit {
            self[keyPath: list].append(entry())
        } else {
            omitted[keyPath: rest] += 1
        }
    }

    /// Accounts for the lines of a response.
    package mutating func count(_ decisions: [StorageDecision], on received: ReceivedCapture, at place: CapturePlace) {
        var context: ThirdParty?
        if received.context.isThirdParty {
            context = ThirdParty(
                topLevel: received.context.request.topLevel?.origin, source: received.context.source.rawValue)
        }
        for (index, decision) in decisions.enumerated() {
            count(decision, at: place, line: index + 1, received: received.time, thirdParty: context)
        }
        guard context != nil else { return }
        var counts = thirdParties ?? ThirdParties()
        counts.responses += 1
        counts.refused += decisions.count { $0.outcome == .rejected }
        for decision in decisions where decision.outcome == .stored || decision.outcome == .replaced {
            counts.stored += 1
            if decision.cookie?.id.partitionKey != nil { counts.partitioned += 1 }
        }
        thirdParties = counts
    }

    /// Accounts for a cookie that a request sent.
    package mutating func count(requestCookie decision: StorageDecision, at place: CapturePlace) {
        count(decision.evicted)
        if decision.outcome != .rejected {
            requestCookies?.taken += 1
        } else {
            refuse(decision, at: place, line: nil)
        }
    }

    private mutating func refuse(
        _ decision: StorageDecision, at place: CapturePlace, line: Int?, thirdParty: ThirdParty? = nil
    ) {
        append(
            Refusal(
                place: place.description, line: line, name: decision.name?.description,
                reasons: decision.reasons.reasons.map { ReasonReport($0) }, thirdParty: thirdParty),
            to: \.refused, \.refused)
    }

    /// Accounts for one line.
    ///
    /// - Parameter time: when it was received: one whose lifetime ended later has run out, one whose lifetime ended then
    ///   was sent to delete a cookie.
    package mutating func count(
        _ decision: StorageDecision, at place: CapturePlace, line: Int?, received time: Timestamp,
        thirdParty: ThirdParty? = nil
    ) {
        lines += 1
        count(decision.evicted)
        count(kept: decision.kept)
        switch decision.outcome {
        case .stored: taken += 1
        case .replaced: replaced += 1
        case .deleted:
            guard let cookie = decision.cookie, let expiry = cookie.expiry, expiry > time else {
                deleted += 1
                if decision.previous == nil, decision.superseded.isEmpty { deletedNothing += 1 }
                return
            }
            countExpired(named: cookie.name)
        case .rejected: refuse(decision, at: place, line: line, thirdParty: thirdParty)
        }
    }

    /// Accounts for what a cookie took over from the jar's or from its twins.
    package mutating func count(kept properties: CookieProperties) {
        for feature in CookieFeature.kept(properties) { kept[feature.rawValue, default: 0] += 1 }
    }

    /// Accounts for a cookie whose lifetime was cut.
    package mutating func countLifetimeCut() {
        lifetimesCut += 1
    }

    /// Accounts for a file's cookie that had expired, and so changes nothing.
    package mutating func countExpired(_ record: CookieRecord) {
        lines += 1
        countExpired(named: record.name)
    }

    private mutating func countExpired(named name: Octets) {
        expired += 1
        append(name.description, to: \.expiredNames, \.expiredNames)
    }

    /// Accounts for cookies that had to go.
    package mutating func count(_ evictions: [Eviction]) {
        for eviction in evictions {
            append(
                Evicted(
                    name: eviction.cookie.name.description, domain: eviction.cookie.domain.description,
                    path: eviction.cookie.path.description, reason: ReasonReport(eviction.reason)),
                to: \.evicted, \.evicted)
        }
    }

    /// Accounts for the end: says why nothing was imported, where nothing was.
    package mutating func conclude() {
        guard alreadyImported == nil, failures.isEmpty, !hasChanges else { return }
        if let index = notes.firstIndex(where: { $0.code == CaptureError.Code.cookiesSanitized.description }) {
            nothingImported = notes.remove(at: index)
            return
        }
        let (code, message) = reasonForNothing
        nothingImported = Failure(code: code, message: "\(source): \(message)", source: source)
    }

    /// Whether a cookie was stored or replaced, one of the jar deleted, or an item of `localStorage` stored.
    package var hasChanges: Bool {
        taken + replaced + deleted - deletedNothing + storageItems + (requestCookies?.taken ?? 0) > 0
    }

    private var reasonForNothing: (code: String, message: String) {
        if lines > 0, expired == lines {
            let remedy = responses > 0 ? " `--received-now` counts lifetimes from now." : ""
            return ("all-expired", "Nothing was imported: every cookie had expired.\(remedy)")
        }
        if lines > 0, deleted == lines {
            return ("only-deletions", "Nothing was imported: it only deletes cookies, and the jar has none of them.")
        }
        if lines > 0, refused.isEmpty {
            return (
                "no-effect",
                "Nothing was imported: its cookies are deleted or had expired, and the jar has none of them."
            )
        }
        if lines > 0 { return ("all-refused", "Nothing was imported: no cookie could be stored.") }
        guard responses > 0 else { return ("no-cookies", "There is no cookie in it.") }
        if let format = format.flatMap({ CaptureFormat(rawValue: $0) }), format.isCopiedRequest,
            requestCookies?.total ?? 0 == 0
        {
            return (
                "no-request-cookies",
                "The \(format == .curlCommand ? "command" : "request") carries no cookies. Copy a request that the browser "
                    + "sends to the site after the login."
            )
        }
        if requestCookies != nil {
            return ("already-set", "No response sets a cookie, and nothing of what the requests carry is new.")
        }
        guard carriedCookies == 0 else {
            return (
                "recorded-after-login",
                "No response sets a cookie. The requests carry \(carriedCookies): use `--request-cookies`, or record the "
                    + "login too."
            )
        }
        return ("no-set-cookie", "No response sets a cookie.")
    }
}
