import CookieModel
package import SessionStore

/// What is known about a jar, in JSON.
package struct JarReport: Codable {
    package let name: String
    package let cookies: Int
    package let sessionCookies: Int
    package let savedSessions: Int
    package let profile: String
    package let limits: [String: Int?]
    package let nextExpiry: String?
    package let created: String

    package init(_ summary: SessionDatabase.JarSummary) {
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
