package import CookieModel
package import SessionStore

extension JarReport {
    package init(_ summary: SessionDatabase.JarSummary) {
        let settings = JarSettingsReport(name: summary.name, summary.settings)
        self.init(
            name: summary.name, cookies: summary.cookieCount, sessionCookies: summary.sessionCookieCount,
            savedSessions: summary.savedSessionCount, profile: settings.profile, limits: settings.limits,
            nextExpiry: summary.nextExpiry?.rfc3339, created: summary.creation.rfc3339)
    }
}

extension SiteReport {
    package init(_ summary: SessionDatabase.SiteSummary) {
        self.init(
            site: String(decoding: summary.site, as: UTF8.self), jar: summary.jar, cookies: summary.cookieCount,
            nextExpiry: summary.nextExpiry?.rfc3339, lastUse: summary.lastUse.rfc3339)
    }
}

extension JarSettingsReport {
    package init(name: String, _ settings: JarSettings) {
        self.init(
            name: name, profile: settings.profile.name ?? "\(settings.profile.rawValue)",
            limits: Dictionary(
                JarLimit.allCases.map { ($0.rawValue, settings.limits[keyPath: $0.keyPath]) },
                uniquingKeysWith: { first, _ in first }))
    }
}

extension JarClearReport {
    package init(jar: String, removed: (cookies: Int, storageItems: Int)) {
        self.init(jar: jar, removed: removed.cookies, storageItems: removed.storageItems)
    }
}

extension JarCopyReport {
    package init(from: String, to: String, _ copy: JarCopy) {
        self.init(
            from: from, to: to, copied: copy.copied, expired: copy.expired,
            unreadable: copy.unreadable.map { CookieIdentityReport($0) })
    }
}

extension JarMergeReport {
    package init(from: String, into: String, _ merge: JarMerge) {
        self.init(
            from: from, into: into, added: merge.added, replaced: merge.replaced, kept: merge.kept,
            expired: merge.expired, unreadable: merge.unreadable.map { CookieIdentityReport($0) },
            evicted: merge.evicted.map { CookieIdentityReport($0) })
    }
}

extension JarRemovalReport {
    package init(jar: String, _ removal: JarRemoval, warning: String?) {
        self.init(jar: jar, cookies: removal.cookies, savedSessions: removal.savedSessions, warning: warning)
    }
}

extension RemovedJarReport {
    package init(_ jar: SessionDatabase.RemovedJar) {
        self.init(
            jar: jar.name, cause: jar.cause.rawValue, time: jar.time.rfc3339, cookies: jar.cookieCount,
            savedSessions: jar.savedSessionCount)
    }
}

extension PruneReport {
    package init(_ pruning: Pruning) {
        self.init(
            expiredCookies: pruning.expiredCookies, waitingCookies: pruning.waitingCookies,
            journalEntries: pruning.journalEntries, removedJars: pruning.removedJars, vacuumed: pruning.wasVacuumed,
            freedBytes: pruning.freedBytes)
    }

    /// The report for a person.
    package var text: String {
        var lines = expiredCookies.sorted { $0.key < $1.key }.map { jar, count in
            "jar '\(jar)': \(count) expired \(count == 1 ? "cookie" : "cookies") removed"
        }
        lines += waitingCookies.sorted { $0.key < $1.key }.map { jar, count in
            "jar '\(jar)': \(count) expired \(count == 1 ? "cookie stays" : "cookies stay") until the clock "
                + "has advanced by a day"
        }
        if journalEntries > 0 {
            lines.append("journal: \(journalEntries) old \(journalEntries == 1 ? "entry" : "entries") removed")
        }
        if removedJars > 0 {
            lines.append(
                "removed jars: \(removedJars) removed for good; 'crumb jars restore' can no longer restore "
                    + (removedJars == 1 ? "it" : "them"))
        }
        if lines.isEmpty { lines.append("nothing to remove") }
        if vacuumed || freedBytes > 0 {
            lines.append("\(freedBytes) bytes freed\(vacuumed ? ", file rewritten" : "")")
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

extension SavedSessionReport {
    package init(_ session: SavedSession) {
        self.init(name: session.name, saved: session.creation.rfc3339, cookies: session.cookieCount)
    }
}

extension SessionSaveReport {
    package init(jar: String, _ save: SessionSave) {
        self.init(
            jar: jar, session: SavedSessionReport(save.session), replaced: save.previous.map(SavedSessionReport.init))
    }
}

extension SessionRestorationReport {
    package init(jar: String, _ restoration: SessionRestoration) {
        self.init(
            jar: jar, session: SavedSessionReport(restoration.session), cookies: restoration.cookieCount,
            added: restoration.added, changed: restoration.changed, removed: restoration.removed,
            expired: restoration.expired.map { CookieIdentityReport($0) })
    }
}
