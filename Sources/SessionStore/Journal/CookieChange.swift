public import CookieModel

/// One entry of a jar's journal: which cookie changed, when and why. Never its value.
public struct CookieChange: Sendable, Hashable {
    /// Why a cookie changed.
    public enum Cause: Int64, Sendable, CaseIterable {
        /// A new cookie was stored.
        case stored = 1
        /// A cookie replaced one with the same ID.
        case replaced = 2
        /// A response or a script ended its lifetime.
        case deleted = 3
        /// Its lifetime ended.
        case expired = 4
        /// It was evicted to make room for others.
        case evicted = 5
        /// A user removed it: by name, with the session, or with the jar's content.
        case removed = 6

        /// The cause as it appears in reports.
        package var identifier: String {
            switch self {
            case .stored: "stored"
            case .replaced: "replaced"
            case .deleted: "deleted"
            case .expired: "expired"
            case .evicted: "evicted"
            case .removed: "removed"
            }
        }
    }

    /// Its position in the journal, larger than that of every earlier change.
    public let position: Int64
    /// The reason for the change.
    public let cause: Cause
    /// The time of the change.
    public let time: Timestamp
    /// The identity of the cookie.
    public let cookie: Cookie.ID
    /// The capture with the response that deleted or evicted the cookie; `nil` for a live response and for other
    /// causes.
    package let capture: String?
    /// The URL of that response, without its query; `nil` for other causes, for a change from before this was recorded,
    /// and if a capture's response deleted a cookie that the jar never had.
    package let url: String?

    /// Whether a response deleted a cookie that the jar, as far as is known, never had.
    package var isOfUnseenCookie: Bool { cause == .deleted && url == nil && capture == nil }
}

extension CookieJar {
    /// The changes of this jar after a position of its journal, by any process.
    ///
    /// A reader begins with 0, keeps ``ChangePage/position``, and continues from it. The journal keeps at least the
    /// last 10,000 changes of a jar. The page reports whether a reader has missed changes, also if it followed another
    /// jar of the same name, which was removed or renamed.
    ///
    /// - Parameter count: the maximum number of changes.
    /// - Throws: `SessionStoreError.Code.jarNotFound` if the jar was removed.
    public func changes(after position: Int64, count: Int = 1000) throws(SessionStoreError) -> ChangePage {
        let page = try database.read { connection in
            try ChangeRows(database: connection, jarID: id).page(after: position, count: count)
        }
        guard let page else { throw SessionStoreError(noJarNamed: name) }
        return page
    }

    /// The newest change of each cookie that belonged to a registrable domain, the latest first, as far as the journal
    /// reaches.
    ///
    /// Reads the jar's whole journal: at most 11,000 entries.
    package func latestChanges(site: Octets) throws(SessionStoreError) -> [CookieChange] {
        try database.read { try ChangeRows(database: $0, jarID: id).latest(site: site) }
    }

    /// The position of the newest change of this jar, or of earlier jars with its name; 0 if there was no change.
    ///
    /// - Throws: `SessionStoreError.Code.jarNotFound` if the jar was removed.
    public func latestChange() throws(SessionStoreError) -> Int64 {
        guard let bounds = try database.read({ try ChangeRows(database: $0, jarID: id).bounds() }) else {
            throw SessionStoreError(noJarNamed: name)
        }
        return bounds.next - 1
    }

    /// Returns the changes of this jar after a position of its journal, and future ones.
    ///
    /// - Parameters:
    ///   - position: the position at which the last reader ended: ``ChangePage/position``.
    ///   - interval: how long to wait before reading again if there was no change.
    ///   - clock: the clock that measures the interval.
    public func changeSequence(
        after position: Int64, every interval: Duration = .milliseconds(250),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ChangeSequence {
        ChangeSequence(jar: self, position: position, interval: interval, clock: clock)
    }
}

/// A page of changes for a reader of the journal.
public struct ChangePage: Sendable, Hashable {
    /// The changes after the requested position, in order.
    public let changes: [CookieChange]
    /// The position of the last change: request the next page after it.
    public let position: Int64
    /// Whether entries after the requested position were removed, because the journal has a limit. The reader then has
    /// to read the whole jar once.
    public let hasGap: Bool
    /// Whether more changes can be read now.
    public let hasMore: Bool
}

/// The end of a jar's journal.
struct JournalEnd {
    /// The position of the journal's next entry.
    var nextPosition: Int64
    /// The next sequence number in the order of creation.
    var nextSequence: Int64
}
