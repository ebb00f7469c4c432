import ArgumentParser
import CookieModel
import SessionOperations

/// The settings of a jar, as far as they are given.
struct JarSettingsOptions: ParsableArguments {
    @Option(help: "The cookie rules: 'rfc6265bis' follows the draft to the letter, 'browser' does what browsers do.")
    var profile: String?

    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp(
            "A limit of the jar: 'domain-cookies=50', 'domain-cookies=none', or 'none' to remove all limits.",
            discussion: """
                Repeatable; applied in order. Limits: \
                \(JarLimit.allCases.map(\.rawValue).joined(separator: ", ")).
                """,
            valueName: "name=number"))
    var limits: [String] = []

    var isEmpty: Bool { profile == nil && limits.isEmpty }

    func validate() throws {
        if let profile, CookieProfile(name: profile) == nil {
            throw ValidationError("unknown profile '\(profile)': use 'rfc6265bis' or 'browser'")
        }
        for text in limits { _ = try JarSettingsOptions.limit(text) }
    }

    /// The document of the settings that are given. The others keep their values, including the limits if the profile
    /// changes; in a new jar, the profile brings them.
    ///
    /// - Parameter name: the name of a new jar.
    func document(name: String? = nil) throws -> JarSettingsDocument {
        JarSettingsDocument(name: name, profile: profile, limits: try changedLimits())
    }

    /// The limits that are given, by name; `nil` for none.
    private func changedLimits() throws -> [String: Int?] {
        var changed: [String: Int?] = [:]
        for limit in try limits.map(JarSettingsOptions.limit) {
            if let (limit, number) = limit {
                changed.updateValue(number, forKey: limit.rawValue)
            } else {
                for limit in JarLimit.allCases { changed.updateValue(nil, forKey: limit.rawValue) }
            }
        }
        return changed
    }

    /// Reads `name=number` or `name=none`; `nil` for `none` alone.
    private static func limit(_ text: String) throws -> (limit: JarLimit, number: Int?)? {
        guard text != "none" else { return nil }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let limit = JarLimit(rawValue: parts[0]) else {
            let names = JarLimit.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError(
                "'\(text)' is not a limit: write NAME=NUMBER, NAME=none or none; the names are \(names)")
        }
        guard parts[1] != "none" else { return (limit, nil) }
        guard let number = Int(parts[1]), number >= 0 else {
            throw ValidationError("'\(text)': use 0 or more, or 'none', for a limit")
        }
        return (limit, number)
    }
}

extension JarSettingsReport {
    /// The settings for a person.
    var text: String {
        let rows = JarLimit.allCases.map { limit in
            [limit.rawValue, (limits[limit.rawValue] ?? nil).map { "\($0)" } ?? "none"]
        }
        return Console.table([["jar", shown(name)], ["profile", profile]] + rows)
    }
}
