/// A jar.
public struct JarReport: Codable, Sendable {
    /// The name.
    public let name: String
    /// How many cookies the jar has.
    public let cookies: Int
    /// How many of the cookies end with the session.
    package let sessionCookies: Int
    /// How many saved sessions the jar has.
    package let savedSessions: Int
    /// The cookie rules: the draft to the letter (`rfc6265bis`) or the behavior of browsers (`browser`).
    public let profile: String
    /// A number for each limit, `null` for none.
    package let limits: [String: Int?]
    /// When the next cookie expires (RFC 3339).
    package let nextExpiry: String?
    /// When it was created (RFC 3339).
    public let created: String

    package init(
        name: String, cookies: Int, sessionCookies: Int, savedSessions: Int, profile: String, limits: [String: Int?],
        nextExpiry: String? = nil, created: String
    ) {
        self.name = name
        self.cookies = cookies
        self.sessionCookies = sessionCookies
        self.savedSessions = savedSessions
        self.profile = profile
        self.limits = limits
        self.nextExpiry = nextExpiry
        self.created = created
    }
}

/// A page of jars.
public struct JarList: Codable, Sendable {
    /// The jars.
    public let jars: [JarReport]
    /// The cursor of the next page; `nil` on the last page.
    public let next: String?

    package init(jars: [JarReport], next: String? = nil) {
        self.jars = jars
        self.next = next
    }
}

/// The cookies of one site in one jar.
package struct SiteReport: Codable, Sendable {
    /// The registrable domain.
    package let site: String
    /// The name of the jar.
    package let jar: String
    /// How many cookies the jar has of the site.
    package let cookies: Int
    /// When the next cookie expires (RFC 3339).
    package let nextExpiry: String?
    /// When a cookie was last used, to about an hour (RFC 3339).
    package let lastUse: String

    package init(site: String, jar: String, cookies: Int, nextExpiry: String? = nil, lastUse: String) {
        self.site = site
        self.jar = jar
        self.cookies = cookies
        self.nextExpiry = nextExpiry
        self.lastUse = lastUse
    }
}

/// A page of the sites of jars.
package struct SiteList: Codable, Sendable {
    /// The sites, each once for each of its jars.
    package let sites: [SiteReport]
    /// The cursor of the next page; `nil` on the last page.
    package let next: String?

    package init(sites: [SiteReport], next: String? = nil) {
        self.sites = sites
        self.next = next
    }
}

/// The settings of a jar.
public struct JarSettingsReport: Codable, Sendable {
    /// The name.
    public let name: String
    /// The cookie rules: the draft to the letter (`rfc6265bis`) or the behavior of browsers (`browser`).
    public let profile: String
    /// A number for each limit, `null` for none.
    package let limits: [String: Int?]

    package init(name: String, profile: String, limits: [String: Int?]) {
        self.name = name
        self.profile = profile
        self.limits = limits
    }
}

/// The result of clearing a jar.
public struct JarClearReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// How many cookies.
    public let removed: Int
    /// How many items of `localStorage`.
    package let storageItems: Int

    package init(jar: String, removed: Int, storageItems: Int) {
        self.jar = jar
        self.removed = removed
        self.storageItems = storageItems
    }
}

/// The old and the new name of a jar that was renamed.
package struct JarRenameReport: Codable, Sendable {
    /// The name of the source jar.
    package let from: String
    /// The name of the other jar.
    package let to: String

    package init(from: String, to: String) {
        self.from = from
        self.to = to
    }
}

/// The result of copying one jar to another.
package struct JarCopyReport: Codable, Sendable {
    /// The name of the source jar.
    package let from: String
    /// The name of the other jar.
    package let to: String
    /// How many cookies were copied.
    package let copied: Int
    /// How many cookies had expired.
    package let expired: Int
    /// Cookies whose stored value cannot be read.
    package let unreadable: [CookieIdentityReport]

    package init(from: String, to: String, copied: Int, expired: Int, unreadable: [CookieIdentityReport]) {
        self.from = from
        self.to = to
        self.copied = copied
        self.expired = expired
        self.unreadable = unreadable
    }
}

/// The result of merging one jar into another.
package struct JarMergeReport: Codable, Sendable {
    /// The name of the source jar.
    package let from: String
    /// The name of the target jar.
    package let into: String
    /// How many cookies were added.
    package let added: Int
    /// How many cookies were replaced.
    package let replaced: Int
    /// How many cookies stay.
    package let kept: Int
    /// How many cookies had expired.
    package let expired: Int
    /// Cookies whose stored value cannot be read.
    package let unreadable: [CookieIdentityReport]
    /// The cookies that were evicted.
    package let evicted: [CookieIdentityReport]

    package init(
        from: String, into: String, added: Int, replaced: Int, kept: Int, expired: Int,
        unreadable: [CookieIdentityReport], evicted: [CookieIdentityReport]
    ) {
        self.from = from
        self.into = into
        self.added = added
        self.replaced = replaced
        self.kept = kept
        self.expired = expired
        self.unreadable = unreadable
        self.evicted = evicted
    }
}

/// The result of removing a jar.
public struct JarRemovalReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// How many cookies were removed.
    public let cookies: Int
    /// How many saved sessions were removed.
    package let savedSessions: Int
    /// Why stored responses of the jar could not be removed; `nil` if they were.
    public let warning: String?

    package init(jar: String, cookies: Int, savedSessions: Int, warning: String?) {
        self.jar = jar
        self.cookies = cookies
        self.savedSessions = savedSessions
        self.warning = warning
    }
}

/// Something that restoring a jar brings back: a removed jar, or the state of a jar before a change.
package struct RemovedJarReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// What was done: `removed`, `cleared`, `merged` or `restored`.
    package let cause: String
    /// When that was (RFC 3339).
    package let time: String
    /// How many cookies are restored.
    package let cookies: Int
    /// How many saved sessions are restored.
    package let savedSessions: Int

    package init(jar: String, cause: String, time: String, cookies: Int, savedSessions: Int) {
        self.jar = jar
        self.cause = cause
        self.time = time
        self.cookies = cookies
        self.savedSessions = savedSessions
    }
}

/// What can be restored of jars.
package struct RemovedJarList: Codable, Sendable {
    /// By name, and for each name the newest first.
    package let removed: [RemovedJarReport]

    package init(removed: [RemovedJarReport]) {
        self.removed = removed
    }
}

/// The result of pruning.
package struct PruneReport: Codable, Sendable {
    /// How many expired cookies were removed, by jar.
    package let expiredCookies: [String: Int]
    /// How many expired cookies stay until the clock has advanced by a day, by jar.
    package let waitingCookies: [String: Int]
    /// How many entries of the journal were removed.
    package let journalEntries: Int
    /// How many removed jars, and states of jars, can no longer be restored.
    package let removedJars: Int
    /// Whether the database file was rewritten.
    package let vacuumed: Bool
    /// How many bytes were returned to the file system.
    package let freedBytes: Int64

    package init(
        expiredCookies: [String: Int], waitingCookies: [String: Int], journalEntries: Int, removedJars: Int,
        vacuumed: Bool, freedBytes: Int64
    ) {
        self.expiredCookies = expiredCookies
        self.waitingCookies = waitingCookies
        self.journalEntries = journalEntries
        self.removedJars = removedJars
        self.vacuumed = vacuumed
        self.freedBytes = freedBytes
    }
}

/// A saved session.
package struct SavedSessionReport: Codable, Sendable {
    /// The name.
    package let name: String
    /// When the session was saved (RFC 3339).
    package let saved: String
    /// How many cookies the saved session has.
    package let cookies: Int

    package init(name: String, saved: String, cookies: Int) {
        self.name = name
        self.saved = saved
        self.cookies = cookies
    }
}

/// The saved sessions of a jar.
package struct SavedSessionList: Codable, Sendable {
    /// The saved sessions.
    package let snapshots: [SavedSessionReport]

    package init(snapshots: [SavedSessionReport]) {
        self.snapshots = snapshots
    }
}

/// A session that was saved, and the one that it replaced.
package struct SessionSaveReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// The saved session.
    package let session: SavedSessionReport
    /// The session that had the name before; `nil` if none had.
    package let replaced: SavedSessionReport?

    package init(jar: String, session: SavedSessionReport, replaced: SavedSessionReport? = nil) {
        self.jar = jar
        self.session = session
        self.replaced = replaced
    }
}

/// How many cookies ending a session removed.
package struct SessionEndReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// How many cookies were removed.
    package let removed: Int
    /// How many cookies stay.
    package let kept: Int

    package init(jar: String, removed: Int, kept: Int) {
        self.jar = jar
        self.removed = removed
        self.kept = kept
    }
}

/// The result of restoring a saved session.
package struct SessionRestorationReport: Codable, Sendable {
    /// The name of the jar.
    package let jar: String
    /// The saved session.
    package let session: SavedSessionReport
    /// How many cookies the jar has now.
    package let cookies: Int
    /// How many cookies were added.
    package let added: Int
    /// How many cookies were changed.
    package let changed: Int
    /// How many cookies were removed.
    package let removed: Int
    /// The cookies that have expired.
    package let expired: [CookieIdentityReport]

    package init(
        jar: String, session: SavedSessionReport, cookies: Int, added: Int, changed: Int, removed: Int,
        expired: [CookieIdentityReport]
    ) {
        self.jar = jar
        self.session = session
        self.cookies = cookies
        self.added = added
        self.changed = changed
        self.removed = removed
        self.expired = expired
    }
}
