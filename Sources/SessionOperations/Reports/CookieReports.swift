package import CookieModel
package import SessionStore
@_exported public import SessionWire

extension CookieReport {
    package init(_ cookie: Cookie, showingValue: Bool, origin: CookieOrigin? = nil) {
        self.init(
            cookie, showingValue: showingValue, size: cookie.name.count + cookie.value.count, at: nil, origin: origin)
    }

    /// A cookie whose value is not read, so without its size, with the time it has left at `now`.
    ///
    /// - Parameter now: `nil` to leave the time out.
    package init(_ cookie: Cookie, at now: Timestamp?, origin: CookieOrigin? = nil) {
        self.init(cookie, showingValue: false, size: nil, at: now, origin: origin)
    }

    private init(_ cookie: Cookie, showingValue: Bool, size: Int?, at now: Timestamp?, origin: CookieOrigin?) {
        let name = OctetsReport(cookie.name)
        let value = showingValue ? OctetsReport(cookie.value) : nil
        self.init(
            name: name.text, nameBase64: name.base64, value: value?.text, valueBase64: value?.base64,
            domain: cookie.domain.description, path: cookie.path.description, hostOnly: cookie.isHostOnly,
            secure: cookie.isSecure, httpOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite.attributeValue,
            partitionKey: cookie.id.partitionKey?.serialized, expires: cookie.expiry?.rfc3339,
            created: cookie.creation.rfc3339, size: size,
            expiresIn: now.flatMap { now in cookie.expiry.map { $0.seconds - now.seconds } },
            origin: origin.map(OriginReport.init))
    }

    /// Whether a request reported it and no response set it, so that all but name and value was assumed.
    package var isAssumed: Bool {
        origin?.kind == OriginReport.requestKind && hostOnly && httpOnly && path == "/" && expires == nil
            && sameSite == nil && partitionKey == nil
    }
}

extension CookieIdentityReport {
    package init(_ cookie: Cookie, reason: ReasonReport? = nil) {
        self.init(CookieRecord(cookie), reason: reason)
    }

    package init(_ record: CookieRecord, reason: ReasonReport? = nil) {
        let name = OctetsReport(record.name)
        self.init(
            name: name.text, nameBase64: name.base64, domain: record.domain, path: record.path.description,
            hostOnly: record.isHostOnly, partitionKey: record.partitionKey?.serialized, reason: reason)
    }

    package init(_ eviction: Eviction) {
        self.init(eviction.cookie, reason: ReasonReport(eviction.reason))
    }
}

extension OriginReport {
    package init(_ origin: CookieOrigin) {
        self.init(
            capture: origin.capture, url: origin.url, received: origin.received?.rfc3339,
            kind: origin.isRequest ? OriginReport.requestKind : nil)
    }
}

extension ReasonReport {
    package init(_ reason: some DecisionReason) {
        self.init(id: reason.identifier, explanation: reason.explanation, remedy: reason.commandRemedy)
    }

    /// The reason in words for one cookie.
    package init(_ reason: ExclusionReason, of cookie: Cookie) {
        self.init(id: reason.identifier, explanation: reason.explanation(for: cookie), remedy: reason.commandRemedy)
    }
}

extension StorageDecisionReport {
    /// Whether the line was rejected.
    package var isRejected: Bool { outcome == StorageDecision.Outcome.rejected.rawValue }

    package init(_ decision: StorageDecision) {
        self.init(
            outcome: decision.outcome.rawValue, cookie: decision.cookie.map { CookieIdentityReport($0) },
            reasons: decision.reasons.reasons.map { ReasonReport($0) },
            evicted: decision.evicted.map(CookieIdentityReport.init))
    }
}

extension ChangeReport {
    /// - Parameter origin: where the cookie's present value came from, for a change that left the cookie in the jar.
    package init(_ change: CookieChange, origin: CookieOrigin? = nil) {
        let name = OctetsReport(change.cookie.name)
        self.init(
            position: change.position, time: change.time.rfc3339, cause: change.cause.identifier, name: name.text,
            nameBase64: name.base64, domain: change.cookie.domain.description, path: change.cookie.path.description,
            hostOnly: change.cookie.isHostOnly, partitionKey: change.cookie.partitionKey?.serialized,
            url: change.url ?? origin?.url, capture: change.capture ?? origin?.capture)
    }
}

extension ChangeList {
    package init(_ page: ChangePage) {
        self.init(
            changes: page.changes.map { ChangeReport($0) }, position: page.position, hasGap: page.hasGap,
            hasMore: page.hasMore)
    }
}
