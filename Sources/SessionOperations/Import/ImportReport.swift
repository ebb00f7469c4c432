package import Captures
package import CookieModel
import RequestDecoration
package import SessionStore

extension ImportReport.Failure {
    package init(_ error: CaptureError) {
        self.init(code: error.code.description, message: error.description, source: error.place.source)
    }
}

extension ImportReport {
    /// How many entries a list holds.
    package static let listLimit = 10

    /// The report on a capture that was imported before: nothing was changed.
    package init(source: String, importedBefore record: CaptureRecord) {
        self.init(source: source)
        alreadyImported = EarlierImport(source: record.name, at: record.imported.rfc3339)
    }

    /// Accounts for an item that was read, before any decision on it.
    package mutating func count(_ item: CaptureItem) {
        switch item {
        case .failure(let error) where error.severity == .notice: append(Failure(error), to: \.notes, \.notes)
        case .failure(let error):
            unreadable += error.count
            storageItemsLeftOut += error.storageItemCount
            append(Failure(error))
        case .response(let response):
            responses += 1
            noteJoinedLines(of: response)
            guard response.setCookie.isEmpty else { return }
            for field in response.requestCookies {
                carriedCookies += RequestCookies.pairs(field).count { !WitnessName.matches($0.name) }
            }
        case .cookie, .storage: break
        }
    }

    private mutating func noteJoinedLines(of response: CapturedResponse) {
        for (index, line) in response.setCookie.enumerated() {
            guard let text = JoinedSetCookie.note(on: line) else { continue }
            let note = Failure(
                code: "set-cookie-folded", message: "\(response.place), Set-Cookie \(index + 1): \(text)",
                source: source)
            append(note, to: \.notes, \.notes)
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
        counts.refused += decisions.count { $0.outcome == .rejected && !$0.reasons.contains(.gatewayWitness) }
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
        guard !decision.reasons.contains(.gatewayWitness) else { return witnesses += 1 }
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

    /// Accounts for the properties that a cookie took over from the jar's cookie or from its twins.
    package mutating func count(kept properties: CookieProperties) {
        for feature in CookieFeature.kept(properties) { kept[feature.rawValue, default: 0] += 1 }
    }

    /// Accounts for a witness of a gateway that no cookie rule has seen.
    package mutating func countWitness() {
        lines += 1
        witnesses += 1
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

    /// Accounts for evicted cookies.
    package mutating func count(_ evictions: [Eviction]) {
        for eviction in evictions {
            append(
                Evicted(
                    name: eviction.cookie.name.description, domain: eviction.cookie.domain.description,
                    path: eviction.cookie.path.description, reason: ReasonReport(eviction.reason)),
                to: \.evicted, \.evicted)
        }
    }

    /// Ends the account, with the reason if nothing was imported.
    package mutating func conclude() {
        if witnesses > 0, alreadyImported == nil {
            let note = Failure(
                code: "gateway-witness",
                message:
                    "\(source): \(counted(witnesses, "witness cookie")) of a Crumb gateway left out. The session's "
                    + "HttpOnly cookies are in the gateway's jar: use 'crumb header --jar JAR'.", source: source)
            append(note, to: \.notes, \.notes)
        }
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
        if witnesses > 0, witnesses >= lines, (requestCookies?.total ?? 0) == 0 {
            return ("only-witnesses", "Nothing was imported: it has only witness cookies of a Crumb gateway.")
        }
        if lines > 0, refused.isEmpty {
            return (
                "no-effect",
                "Nothing was imported: its cookies are deleted or had expired, and the jar has none of them."
            )
        }
        if lines > 0 { return ("all-refused", "Nothing was imported: no cookie could be stored.") }
        guard responses > 0 else { return ("no-cookies", "It contains no cookie.") }
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
            return ("already-set", "No response sets a cookie, and the requests carry no new cookie.")
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
