import CookieModel
import RequestDecoration
import SessionStore

/// A jar and a native store, to be brought together off the main actor.
struct StoreComparison: Sendable {
    let jar: CookieJar
    /// The native store's cookies.
    let native: [NativeCookie]
    /// Both stores as they were when they were last brought together.
    let base: StoreDiff.Base?
    /// When pages wrote cookies.
    let nativeWrites: [NativeCookie.ID: Timestamp]
    /// The position in the jar's journal of ``base``.
    let journalPosition: Int64
    let now: Timestamp

    /// Applies the native store's changes to the jar. Waits for its lock only if there are any.
    ///
    /// - Returns: the changes of both, the jar's cookies as a native store holds them, and the position in the journal.
    func apply() async throws(SessionStoreError) -> (diff: StoreDiff, held: [NativeCookie], position: Int64) {
        let (diff, position) = try await jar.database.readingToEnd { () throws(SessionStoreError) in try compare() }
        guard diff.actions.contains(where: { $0.winner == .native }) else { return (diff, diff.jar, position) }
        return try await jar.database.writingToEnd { () throws(SessionStoreError) in
            // The journal records writes of other processes in the meantime after this position.
            let (diff, position) = try compare()
            try diff.apply(to: jar, now: now)
            let held = StoreDiff(base: nil, jar: try jar.cookies().readable, native: [], now: now).jar
            return (diff, held, position)
        }
    }

    /// Whether the native store lacks, or has an older one of, a cookie that the jar would send with a navigation.
    func lacksCookies(for navigation: RequestContext) async throws(SessionStoreError) -> Bool {
        try await jar.database.readingToEnd { () throws(SessionStoreError) in
            let puts = Set(
                try compare().diff.actions.compactMap { action -> NativeCookie.ID? in
                    if case .putIntoNative(let cookie) = action.change { cookie.id } else { nil }
                })
            guard !puts.isEmpty else { return false }
            return try jar.retrieve(for: navigation, now: now).included.contains { cookie in
                NativeCookie.ID(cookie.id).map(puts.contains) ?? false
            }
        }
    }

    /// The changes that the jar and the native store have each made, and how far the jar's go.
    private func compare() throws(SessionStoreError) -> (diff: StoreDiff, position: Int64) {
        var page = try jar.changes(after: journalPosition)
        var changes = page.changes
        while page.hasMore {
            page = try jar.changes(after: page.position)
            changes += page.changes
        }
        var knowledge = StoreDiff.Knowledge()
        knowledge.nativeWrites = nativeWrites
        knowledge.jarWrites = StoreDiff.writes(of: changes)
        let diff = StoreDiff(
            base: base, jar: try jar.cookies().readable, native: native, knowledge: knowledge, now: now)
        return (diff, page.position)
    }
}
