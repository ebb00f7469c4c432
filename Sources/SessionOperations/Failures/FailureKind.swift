/// The kinds of failure that the command and the service report.
///
/// The raw value is the stable code. ``row`` is the one place that defines its exit status, its HTTP status and its
/// meaning. docs/exit-statuses.md and docs/service.md are tested against it.
package enum FailureKind: String, CaseIterable, Sendable {
    case success
    case scenarioInvalid = "scenario-invalid"
    case nothingToSend = "nothing-to-send"
    case cookieNotFound = "cookie-not-found"
    case cookieRefused = "cookie-refused"
    case cookieNotHeld = "cookie-not-held"
    case fieldNotFound = "field-not-found"
    case fieldInvalid = "field-invalid"
    case nothingImported = "nothing-imported"
    case inputEmpty = "input-empty"
    case inputUnrecognized = "input-unrecognized"
    case inputTruncated = "input-truncated"
    case entryMalformed = "entry-malformed"
    case lineTooLong = "line-too-long"
    case inputIsFolder = "input-is-folder"
    case inputUnreadable = "input-unreadable"
    case inputNotFound = "input-not-found"
    case urlMissing = "url-missing"
    case urlInvalid = "url-invalid"
    case databaseForeign = "database-foreign"
    case databaseNewer = "database-newer"
    case databasePrerelease = "database-prerelease"
    case diskFull = "disk-full"
    case databaseUnavailable = "database-unavailable"
    case databaseReadOnly = "database-read-only"
    case databaseBusy = "database-busy"
    /// Of a database on a server.
    case databaseUnreachable = "database-unreachable"
    case databaseFenced = "database-fenced"
    case commitUnknown = "commit-unknown"
    case databaseDamaged = "database-damaged"
    case databaseFailed = "database-failed"
    case fileExists = "file-exists"
    case checkFailed = "check-failed"
    case keyMissing = "key-missing"
    case keyWrong = "key-wrong"
    case keyUnavailable = "key-unavailable"
    case keyExposed = "key-exposed"
    case jarNotFound = "jar-not-found"
    case valueDamaged = "value-damaged"
    case nameInvalid = "name-invalid"
    case jarExists = "jar-exists"
    case sessionNotFound = "session-not-found"
    case storageLeftOut = "storage-left-out"
    case tokenNotFound = "token-not-found"
    case tokenExpired = "token-expired"
    case tokenInputInvalid = "token-input-invalid"
    case loginRequired = "login-required"
    case serverRefused = "server-refused"
    case serverUnavailable = "server-unavailable"
    case replyUnusable = "reply-unusable"
    case tokenSettingsInvalid = "token-settings-missing"
    case loginFailed = "login-failed"
    case tokenRefreshBusy = "token-refresh-busy"
    case curlNotFound = "curl-not-found"
    case curlArgumentsUnsupported = "curl-arguments-unsupported"
    case redirectInvalid = "redirect-invalid"
    case networkProgramNotFound = "network-program-not-found"
    /// Of `crumb serve`.
    case serviceNotStarted = "service-not-started"
    /// Of `crumb gateway`.
    case gatewayNotStarted = "gateway-not-started"
    /// Of `crumb browse`.
    case browserNotStarted = "browser-not-started"
    /// Of `crumb gateway ca`.
    case authorityExists = "authority-exists"
    case authorityNotFound = "authority-not-found"
    /// Of `crumb cache`.
    case responseNotStored = "response-not-stored"
    /// Of `crumb gateway package`.
    case packageInvalid = "package-invalid"
    case packageRefused = "package-refused"
    case packageNotFound = "package-not-found"
    case packageNotFetched = "package-not-fetched"
    case pageNotLoaded = "page-not-loaded"
    case serviceUnavailable = "service-unavailable"
    case serviceRefused = "service-refused"
    case serviceIncompatible = "service-incompatible"
    case tsharkNotFound = "tshark-not-found"
    case internalError = "internal-error"
    case publicSuffixListInvalid = "public-suffix-list-invalid"
    /// Of a running service that `crumb token agent lock` has locked.
    case agentLocked = "agent-locked"
    case keyLocked = "key-locked"
    case keyChanged = "key-changed"
    case keyRotationRefused = "key-rotation-refused"
    case fileNotWritten = "file-not-written"
    case outputFailed = "output-failed"
    case browserUnreadable = "browser-database-unreadable"
    case outputIsTerminal = "output-is-terminal"
    case interrupted

    // More precise codes of failures that share an exit status with one above.
    case jsonMalformed = "json-malformed"
    case lineMalformed = "line-malformed"
    case nestingTooDeep = "nesting-too-deep"
    case setCookieJoined = "set-cookie-joined"
    case responseSkipped = "response-skipped"
    case valuesStripped = "values-stripped"
    case valueEncrypted = "value-encrypted"
    case responseTooLarge = "response-too-large"
    case textInvalid = "text-invalid"
    case stepUpRequired = "step-up-required"
    case loginRuleInvalid = "login-rule-invalid"
    case tokenNotPresentable = "token-not-presentable"
    case loginCookieRefused = "login-cookie-refused"
    case loginExchangeFailed = "login-exchange-failed"
    case packageOutdated = "package-outdated"

    // Codes of the service alone, with their exit status with `--service`.
    case unauthenticated
    case forbidden
    case tokenMissing = "token-missing"
    case tokenRefused = "token-refused"
    case hostRefused = "host-refused"
    case originRefused = "origin-refused"
    case agentPassphraseWrong = "agent-passphrase-wrong"
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case methodUnknown = "method-unknown"
    case transferCodingUnknown = "transfer-coding-unknown"
    case parameterInvalid = "parameter-invalid"
    case parameterMissing = "parameter-missing"
    case pathInvalid = "path-invalid"
    case bodyInvalid = "body-invalid"
    case mediaTypeUnsupported = "media-type-unsupported"
    case contentTypeRefused = "content-type-refused"
    case contentEncodingRefused = "content-encoding-refused"
    case requestMalformed = "request-malformed"
    case requestInvalid = "request-invalid"
    case requestLate = "request-late"
    case bodyTooLarge = "body-too-large"
    case headerTooLarge = "header-too-large"
    case rateLimited = "rate-limited"
    case connectionsExhausted = "connections-exhausted"
    case loginsExhausted = "logins-exhausted"
    case shuttingDown = "shutting-down"
    case serviceStarting = "service-starting"
    case serviceStopping = "service-stopping"
    case unavailable
    case idempotencyKeyReused = "idempotency-key-reused"
    case idempotencyKeyRunning = "idempotency-key-running"
    case idempotencyAnswerLost = "idempotency-answer-lost"
    case loginNotFound = "login-not-found"
    case loginRuleNotFound = "login-rule-not-found"
    case loginNotNeeded = "login-not-needed"
    case cookieAmbiguous = "cookie-ambiguous"
    case gatewayNotFound = "gateway-not-found"
    case gatewayExists = "gateway-exists"
    case gatewaysExhausted = "gateways-exhausted"
}

extension FailureKind {
    /// The stable code.
    package var code: String { rawValue }

    /// The exit status of the command.
    package var exitStatus: Int32 { row.exitStatus }

    /// The status of the service's answer; 500 for a failure that only the command is meant to have.
    package var httpStatus: Int { row.httpStatus ?? 500 }

    /// The kind of failure that a stable code names; an unknown code is an internal error.
    package init(code: String) {
        self = FailureKind(rawValue: code) ?? .internalError
    }

    /// The exit statuses of the command in order, each by the failure that it is named after.
    package static let exitStatuses: [FailureKind] = {
        var seen: Set<Int32> = []
        return allCases.filter { !$0.row.meaning.isEmpty && seen.insert($0.exitStatus).inserted }
            .sorted { $0.exitStatus < $1.exitStatus }
    }()
}
