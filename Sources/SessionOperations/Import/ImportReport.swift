package import Captures
package import CookieModel
package import SessionStore

/// What became of every Set-Cookie line and cookie of one capture.
package struct ImportReport: Codable {
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
    /// How many had run out since they were received, so that they were not kept.
    package var expired = 0
    /// How many cookies and lines could not be read, as far as that can be told.
    package var unreadable = 0
    package var refused: [Refusal] = []
    /// What became of cookies that third parties set; `nil` if none did.
    package var thirdParties: ThirdParties?
    /// What became of the cookies that requests sent; `nil` if none were asked for or found.
    package var requestCookies: RequestCookieCounts?
    package var evicted: [Evicted] = []
    package var failures: [Failure] = []
    /// What the capture holds besides cookies, and what was left out because it was not asked for.
    package var notes: [Failure] = []

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
        case .failure(let error) where error.severity == .notice: notes.append(Failure(error))
        case .failure(let error):
            unreadable += error.count
            failures.append(Failure(error))
        case .response: responses += 1
        case .cookie: break
        }
    }

    /// Accounts for the lines of a response.
    package mutating func count(_ decisions: [StorageDecision], on received: ReceivedCapture, at place: CapturePlace) {
        for (index, decision) in decisions.enumerated() {
            count(decision, at: place, line: index + 1, received: received.time)
        }
        guard received.context.isThirdParty else { return }
        var counts = thirdParties ?? ThirdParties()
        counts.responses += 1
        let context = ThirdParty(
            topLevel: received.context.request.topLevel?.origin, source: received.context.source.rawValue)
        let rejected = decisions.count { $0.outcome == .rejected }
        counts.refused += rejected
        for index in refused.indices.suffix(rejected) { refused[index].thirdParty = context }
        for decision in decisions where decision.outcome == .stored || decision.outcome == .replaced {
            counts.stored += 1
            if decision.cookie?.id.partitionKey != nil { counts.partitioned += 1 }
        }
        thirdParties = counts
    }

    /// Accounts for a cookie that a request sent.
    mutating func count(requestCookie decision: StorageDecision, at place: CapturePlace) {
        count(decision.evicted)
        if decision.outcome != .rejected {
            requestCookies?.taken += 1
        } else {
            refuse(decision, at: place, line: nil)
        }
    }

    private mutating func refuse(_ decision: StorageDecision, at place: CapturePlace, line: Int?) {
        refused.append(
            Refusal(
                place: place.description, line: line, name: decision.name?.description,
                reasons: decision.reasons.reasons.map { ReasonReport($0) }))
    }

    /// Accounts for one line.
    ///
    /// - Parameter time: when it was received: one whose lifetime ended later has run out, one whose lifetime ended then
    ///   was sent to delete a cookie.
    package mutating func count(
        _ decision: StorageDecision, at place: CapturePlace, line: Int?, received time: Timestamp
    ) {
        lines += 1
        count(decision.evicted)
        switch decision.outcome {
        case .stored: taken += 1
        case .replaced: replaced += 1
        case .deleted:
            if let expiry = decision.cookie?.expiry, expiry > time { expired += 1 } else { deleted += 1 }
        case .rejected: refuse(decision, at: place, line: line)
        }
    }

    /// Accounts for cookies that had to go.
    package mutating func count(_ evictions: [Eviction]) {
        evicted += evictions.map { eviction in
            Evicted(
                name: eviction.cookie.name.description, domain: eviction.cookie.domain.description,
                path: eviction.cookie.path.description, reason: ReasonReport(eviction.reason))
        }
    }
}
