package import CookieModel
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

/// Jars, in JSON.
package struct JarList: Codable {
    package let jars: [JarReport]
    /// Where the next page begins; `nil` at the end.
    package let next: String?

    package init(jars: [JarReport], next: String? = nil) {
        self.jars = jars
        self.next = next
    }
}

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

/// What clearing a jar removed, in JSON.
package struct JarClearReport: Codable {
    package let jar: String
    /// How many cookies.
    package let removed: Int
    /// How many items of `localStorage`.
    package let storageItems: Int

    package init(jar: String, removed: (cookies: Int, storageItems: Int)) {
        self.jar = jar
        (self.removed, storageItems) = removed
    }
}

/// What copying a jar came to, in JSON.
package struct JarCopyReport: Codable {
    package let from: String
    package let to: String
    package let copied: Int
    package let expired: Int
    package let unreadable: [CookieIdentityReport]

    package init(from: String, to: String, _ copy: JarCopy) {
        self.from = from
        self.to = to
        copied = copy.copied
        expired = copy.expired
        unreadable = copy.unreadable.map { CookieIdentityReport($0) }
    }
}

/// What merging two jars came to, in JSON.
package struct JarMergeReport: Codable {
    package let from: String
    package let into: String
    package let added: Int
    package let replaced: Int
    package let kept: Int
    package let expired: Int
    package let unreadable: [CookieIdentityReport]
    package let evicted: [CookieIdentityReport]

    package init(from: String, into: String, _ merge: JarMerge) {
        self.from = from
        self.into = into
        added = merge.added
        replaced = merge.replaced
        kept = merge.kept
        expired = merge.expired
        unreadable = merge.unreadable.map { CookieIdentityReport($0) }
        evicted = merge.evicted.map { CookieIdentityReport($0) }
    }
}

/// What went with a jar, in JSON.
package struct JarRemovalReport: Codable {
    package let jar: String
    package let cookies: Int
    package let savedSessions: Int

    package init(jar: String, _ removal: JarRemoval) {
        self.jar = jar
        cookies = removal.cookies
        savedSessions = removal.savedSessions
    }
}

/// What pruning removed, in JSON.
package struct PruneReport: Codable {
    package let expiredCookies: [String: Int]
    package let waitingCookies: [String: Int]
    package let journalEntries: Int
    package let vacuumed: Bool
    package let freedBytes: Int64

    package init(_ pruning: Pruning) {
        expiredCookies = pruning.expiredCookies
        waitingCookies = pruning.waitingCookies
        journalEntries = pruning.journalEntries
        vacuumed = pruning.wasVacuumed
        freedBytes = pruning.freedBytes
    }

    /// The report for a person.
    package var text: String {
        var lines = expiredCookies.sorted { $0.key < $1.key }.map { jar, count in
            "jar '\(jar)': \(count) expired \(count == 1 ? "cookie" : "cookies") removed"
        }
        lines += waitingCookies.sorted { $0.key < $1.key }.map { jar, count in
            "jar '\(jar)': \(count) expired \(count == 1 ? "cookie stays" : "cookies stay") until the clock has gone on "
                + "for a day"
        }
        if journalEntries > 0 {
            lines.append("journal: \(journalEntries) old \(journalEntries == 1 ? "entry" : "entries") removed")
        }
        if lines.isEmpty { lines.append("nothing to remove") }
        if vacuumed || freedBytes > 0 {
            lines.append("\(freedBytes) bytes given back\(vacuumed ? ", the file written anew" : "")")
        }
        return lines.joined(separator: "\n")
    }
}

/// A limit of a jar, by the name that people write.
package enum JarLimit: String, CaseIterable {
    case domainCookies = "domain-cookies"
    case totalCookies = "total-cookies"
    case partitionCookies = "partition-cookies"
    case partitionOctets = "partition-octets"
    case requestCookies = "request-cookies"
    case requestOctets = "request-octets"

    /// Where the limit is within a jar's limits.
    package var keyPath: WritableKeyPath<CookieLimits, Int?> {
        switch self {
        case .domainCookies: \.domainCookies
        case .totalCookies: \.totalCookies
        case .partitionCookies: \.partitionCookies
        case .partitionOctets: \.partitionOctets
        case .requestCookies: \.requestCookies
        case .requestOctets: \.requestOctets
        }
    }
}
