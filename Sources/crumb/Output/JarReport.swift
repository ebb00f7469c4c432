import CookieModel
import SessionStore

/// The settings of a jar in JSON: a number for each limit, `null` for none.
struct JarSettingsReport: Encodable {
    let name: String
    let profile: String
    let limits: [String: Int?]

    init(name: String, _ settings: JarSettings) {
        self.name = name
        profile = settings.profile.name ?? "\(settings.profile.rawValue)"
        limits = Dictionary(
            JarLimit.allCases.map { ($0.rawValue, settings.limits[keyPath: $0.keyPath]) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The settings for a person.
    var text: String {
        let rows = JarLimit.allCases.map { limit in
            [limit.rawValue, (limits[limit.rawValue] ?? nil).map { "\($0)" } ?? "none"]
        }
        return Console.table([["jar", shown(name)], ["profile", profile]] + rows)
    }
}

/// What is known about a jar, in JSON.
struct JarReport: Encodable {
    let name: String
    let cookies: Int
    let sessionCookies: Int
    let savedSessions: Int
    let profile: String
    let limits: [String: Int?]
    let nextExpiry: String?
    let created: String

    init(_ summary: SessionDatabase.JarSummary) {
        let settings = JarSettingsReport(name: summary.name, summary.settings)
        name = summary.name
        cookies = summary.cookieCount
        sessionCookies = summary.sessionCookieCount
        savedSessions = summary.savedSessionCount
        profile = settings.profile
        limits = settings.limits
        nextExpiry = summary.nextExpiry?.rfc3339
        created = summary.creation.rfc3339
    }
}
