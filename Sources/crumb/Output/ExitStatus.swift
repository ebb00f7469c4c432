import ArgumentParser
import Captures
import CookieModel
import OAuth2
import SessionStore

/// The exit statuses of the command, one for each kind of failure. docs/exit-statuses.md lists them.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case scenarioInvalid = 1
    case nothingToSend = 3
    case cookieNotFound = 4
    case cookieRefused = 5
    case cookieNotHeld = 6
    case fieldNotFound = 7
    case fieldInvalid = 8
    case nothingImported = 9
    case inputEmpty = 10
    case inputUnrecognized = 11
    case inputTruncated = 12
    case entryMalformed = 13
    case lineTooLong = 14
    case inputIsFolder = 15
    case inputUnreadable = 16
    case inputNotFound = 17
    case urlMissing = 18
    case urlInvalid = 19
    case databaseForeign = 20
    case databaseNewer = 21
    case diskFull = 22
    case databaseUnavailable = 23
    case databaseReadOnly = 24
    case databaseBusy = 25
    case databaseDamaged = 26
    case databaseFailed = 27
    case fileExists = 28
    case checkFailed = 29
    case keyMissing = 30
    case keyWrong = 31
    case keyUnavailable = 32
    case keyExposed = 33
    case jarNotFound = 34
    case valueDamaged = 35
    case nameInvalid = 36
    case jarExists = 37
    case sessionNotFound = 38
    case storageLeftOut = 39
    case tokenNotFound = 40
    case tokenExpired = 41
    case tokenInputInvalid = 42
    case loginRequired = 43
    case serverRefused = 44
    case serverUnavailable = 45
    case replyUnusable = 46
    case tokenSettingsInvalid = 47
    case loginFailed = 48
    case tokenRefreshBusy = 49
    case curlNotFound = 50
    case curlArgumentsUnsupported = 51
    case redirectInvalid = 52
    case networkProgramNotFound = 53
    /// Of `crumb-network serve`, which `crumb serve` becomes.
    case serviceNotStarted = 54
    case serviceUnavailable = 55
    case serviceRefused = 56
    case serviceIncompatible = 57
    case tsharkNotFound = 58
    case publicSuffixListInvalid = 60
    /// Of a running service that `crumb token agent lock` has locked.
    case agentLocked = 63
    case keyLocked = 70
    case keyChanged = 71
    case keyRotationRefused = 72
    case fileNotWritten = 73
    case outputFailed = 74
    case browserUnreadable = 75
    case outputIsTerminal = 76
    case interrupted = 130

    /// The stable code that goes with the status, as `--json` prints it.
    var code: String {
        switch self {
        case .success: "success"
        case .scenarioInvalid: "scenario-invalid"
        case .nothingToSend: "nothing-to-send"
        case .cookieNotFound: "cookie-not-found"
        case .cookieRefused: "cookie-refused"
        case .cookieNotHeld: "cookie-not-held"
        case .fieldNotFound: "field-not-found"
        case .fieldInvalid: "field-invalid"
        case .nothingImported: "nothing-imported"
        case .inputEmpty: "input-empty"
        case .inputUnrecognized: "input-unrecognized"
        case .inputTruncated: "input-truncated"
        case .entryMalformed: "entry-malformed"
        case .lineTooLong: "line-too-long"
        case .inputIsFolder: "input-is-folder"
        case .inputUnreadable: "input-unreadable"
        case .inputNotFound: "input-not-found"
        case .urlMissing: "url-missing"
        case .urlInvalid: "url-invalid"
        case .databaseForeign: "database-foreign"
        case .databaseNewer: "database-newer"
        case .diskFull: "disk-full"
        case .databaseUnavailable: "database-unavailable"
        case .databaseReadOnly: "database-read-only"
        case .databaseBusy: "database-busy"
        case .databaseDamaged: "database-damaged"
        case .databaseFailed: "database-failed"
        case .fileExists: "file-exists"
        case .checkFailed: "check-failed"
        case .keyMissing: "key-missing"
        case .keyWrong: "key-wrong"
        case .keyUnavailable: "key-unavailable"
        case .keyExposed: "key-exposed"
        case .jarNotFound: "jar-not-found"
        case .valueDamaged: "value-damaged"
        case .nameInvalid: "name-invalid"
        case .jarExists: "jar-exists"
        case .sessionNotFound: "session-not-found"
        case .storageLeftOut: "storage-left-out"
        case .tokenNotFound: "token-not-found"
        case .tokenExpired: "token-expired"
        case .tokenInputInvalid: "token-input-invalid"
        case .loginRequired: "login-required"
        case .serverRefused: "server-refused"
        case .serverUnavailable: "server-unavailable"
        case .replyUnusable: "reply-unusable"
        case .tokenSettingsInvalid: "token-settings-missing"
        case .loginFailed: "login-failed"
        case .tokenRefreshBusy: "token-refresh-busy"
        case .curlNotFound: "curl-not-found"
        case .curlArgumentsUnsupported: "curl-arguments-unsupported"
        case .redirectInvalid: "redirect-invalid"
        case .networkProgramNotFound: "network-program-not-found"
        case .serviceNotStarted: "service-not-started"
        case .serviceUnavailable: "service-unavailable"
        case .serviceRefused: "service-refused"
        case .serviceIncompatible: "service-incompatible"
        case .tsharkNotFound: "tshark-not-found"
        case .publicSuffixListInvalid: "public-suffix-list-invalid"
        case .agentLocked: "agent-locked"
        case .keyLocked: "key-locked"
        case .keyChanged: "key-changed"
        case .keyRotationRefused: "key-rotation-refused"
        case .fileNotWritten: "file-not-written"
        case .outputFailed: "output-failed"
        case .outputIsTerminal: "output-is-terminal"
        case .browserUnreadable: "browser-database-unreadable"
        case .interrupted: "interrupted"
        }
    }

    /// The status for a stable code of a library.
    init(code: String) {
        switch code {
        case "json-malformed", "line-malformed", "nesting-too-deep", "set-cookie-joined", "response-skipped",
            "values-stripped", "value-encrypted":
            self = .entryMalformed
        case "response-too-large": self = .lineTooLong
        default: self = ExitStatus.allCases.first { $0.code == code } ?? .databaseFailed
        }
    }

    var exitCode: ExitCode { ExitCode(rawValue) }
}
