import CookieModel
package import SessionStore

/// The settings of a jar in JSON: a number for each limit, `null` for none.
package struct JarSettingsReport: Codable {
    package let name: String
    package let profile: String
    package let limits: [String: Int?]

    /// Settings that were told.
    package init(name: String, profile: String, limits: [String: Int?]) {
        self.name = name
        self.profile = profile
        self.limits = limits
    }

    package init(name: String, _ settings: JarSettings) {
        self.name = name
        profile = settings.profile.name ?? "\(settings.profile.rawValue)"
        limits = Dictionary(
            JarLimit.allCases.map { ($0.rawValue, settings.limits[keyPath: $0.keyPath]) },
            uniquingKeysWith: { first, _ in first })
    }
}
