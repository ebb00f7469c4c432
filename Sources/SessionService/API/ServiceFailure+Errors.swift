import Captures
import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import OAuth2
import OAuth2Login
import RequestDecoration
import SessionOperations
import SessionStore

extension ServiceFailure {
    /// The problem for an error. The details of an unexpected error stay in the log.
    init(_ error: any Error) {
        switch error {
        case let problem as ServiceFailure: self = problem
        case let error as SessionStoreError: self.init(error)
        case let error as LoginError: self.init(FailureKind(error), error.commandDescription)
        case let error as OAuth2Error: self.init(FailureKind(error), error.commandDescription)
        case let error as TokenRefreshError:
            self.init(FailureKind(error), error.commandDescription)
            // The stored settings are insufficient, whatever the request contains.
            if error.code == .settingsMissing { status = .conflict }
            if status == .serviceUnavailable { fields[.retryAfter] = "1" }
        case let error as LoginFallbackError: self.init(error)
        case let error as FieldRuleError: self.init(.fieldInvalid, error.description)
        case let error as OperationError: self.init(error.failure, error.description)
        case let error as DecodingError: self.init(error)
        case let fault as RequestFault: self = .bodyInvalid(fault.detail)
        case let fault as StrictJSON.Fault: self = .bodyInvalid(fault.description)
        case is NIOTooManyBytesError: self = .bodyTooLarge
        case is NIOThreadPoolError.ThreadPoolInactive, is CancellationError:
            self.init(.shuttingDown, "the service is shutting down")
        case let error as any HTTPResponseError: self.init(error.status)
        default: self = .internalError
        }
    }

    static let internalError = ServiceFailure(
        .internalError, "the service failed; see its log")

    /// A problem that has nothing to say but its status.
    private init(_ status: HTTPResponse.Status) {
        switch status {
        case .notFound: self.init(.notFound, "no resource has this path")
        case .contentTooLarge: self = .bodyTooLarge
        case .serviceUnavailable: self.init(.unavailable, "the service is temporarily unavailable; try again")
        case _ where status.code >= 500: self = .internalError
        default:
            self.init(.requestInvalid, "this request cannot be answered")
            self.status = status
        }
    }

    /// A problem of the store.
    init(_ error: SessionStoreError) {
        let failure = FailureKind(error)
        // The description of a database's failure names its file, which callers must not learn.
        let detail =
            switch error.code {
            case .databaseBusy: "another process is using the database; try again"
            case .databaseUnreachable: "the database server cannot be used; try again"
            case .databaseFenced: error.detail.text
            case .commitUnknown:
                "the connection to the database was lost during the commit; read back whether it is stored"
            case .diskFull: "the disk is full; nothing was changed"
            case .valueDamaged: "a stored value is damaged; 'crumb check' lists it"
            case .jarNotFound: ServiceFailure.jarNotFound(error.subject).detail
            case .tokenNotFound: ServiceFailure.tokenNotFound(error.subject).detail
            case .keyLocked: "The key is locked; restart with CRUMB_PASSPHRASE_FILE."
            case .keyChanged: "The key was rotated; put the new key into the service's key file, or restart with it."
            case .keyMissing: "The key file is missing; put it back."
            case .keyWrong: "The key does not open the database; put the right one back."
            case .keyUnavailable: "The key file cannot be read; see the service's log."
            case .keyExposed: "Other users can read the key file; give it the mode 0600."
            case _ where failure.httpStatus >= 500: "the database cannot be used; see the service's log"
            default: error.commandDescription
            }
        self.init(failure, detail)
        if [.databaseBusy, .databaseUnreachable, .databaseFenced].contains(error.code) { fields[.retryAfter] = "1" }
    }

    /// Why a request is not signed in again, or a rule for that cannot be kept.
    private init(_ error: LoginFallbackError) {
        self.init(FailureKind(error), error.commandDescription)
        loginURL = error.loginURL
    }

    /// Creates the problem of an invalid body. It names the member, and contains nothing of its value.
    private init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self = .bodyInvalid("\(RequestFault.place(context.codingPath + [key])): this member is missing")
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            self = .bodyInvalid("\(RequestFault.place(context.codingPath)): \(ServiceFailure.hint(for: type))")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            self = .bodyInvalid("\(RequestFault.place(context.codingPath)): this member cannot be used")
        default: self = .bodyInvalid("the body is not JSON")
        }
    }

    /// A hint that names the kind of value to write.
    private static func hint(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "use text"
        case is Bool.Type: "use true or false"
        case is [Any].Type: "use a list"
        case is [String: Any].Type: "use an object"
        default: "this member has the wrong type"
        }
    }
}
