import SessionOperations

extension JarSettingsReport {
    /// The settings for a person.
    var text: String {
        let rows = JarLimit.allCases.map { limit in
            [limit.rawValue, (limits[limit.rawValue] ?? nil).map { "\($0)" } ?? "none"]
        }
        return Console.table([["jar", shown(name)], ["profile", profile]] + rows)
    }
}
