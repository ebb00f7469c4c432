import OAuth2
import SessionStore

/// A variable of the environment with a secret for crumb alone.
///
/// The first look takes it out of the environment, so that no child inherits it, and overwrites it where it lies, where
/// others of the same user could read it for as long as crumb runs.
enum SecretVariable: String, CaseIterable {
    /// A client's secret at an authorization server.
    case clientSecret = "CRUMB_CLIENT_SECRET"
    /// What a browser encrypts its cookies under.
    case browserPassword = "CRUMB_BROWSER_PASSWORD"
    /// The value of a header field that is kept with a jar.
    case fieldValue = "CRUMB_FIELD_VALUE"

    private static let secrets: [SecretVariable: Secret] = allCases.reduce(into: [:]) {
        $0[$1] = Secret(takingEnvironment: $1.rawValue)
    }

    /// Its value; `nil` where it is not set, or empty.
    var secret: Secret? { SecretVariable.secrets[self] }

    /// Takes all of them out of the environment, and the database's key: no other program has use for them.
    static func clearEnvironment() {
        _ = secrets
        KeyLocation.clearEnvironment()
    }
}
