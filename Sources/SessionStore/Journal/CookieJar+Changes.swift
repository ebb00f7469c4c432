package import CookieModel

extension CookieJar {
    /// The changes of this jar after a position of its journal, by any process.
    ///
    /// A reader begins with 0, keeps ``ChangePage/position`` wherever it likes, and asks again with it. The journal
    /// keeps at least the last 10,000 changes of a jar; a reader that was away for longer is told so, and so is one that
    /// followed another jar of the same name, which was removed or renamed.
    ///
    /// - Parameter count: the most changes to give at once.
    /// - Throws: ``SessionStoreError/Code/jarNotFound`` where the jar was removed.
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

    /// The position of the newest change of this jar, or of those that had its name before; 0 where there was none.
    ///
    /// - Throws: ``SessionStoreError/Code/jarNotFound`` where the jar was removed.
    public func latestChange() throws(SessionStoreError) -> Int64 {
        guard let bounds = try database.read({ try ChangeRows(database: $0, jarID: id).bounds() }) else {
            throw SessionStoreError(noJarNamed: name)
        }
        return bounds.next - 1
    }

    /// The changes of this jar after a position of its journal, and those that come.
    ///
    /// - Parameters:
    ///   - position: where the last reader ended: ``ChangePage/position``.
    ///   - interval: how long to wait before asking again where nothing came.
    ///   - clock: what measures the interval.
    public func changeSequence(
        after position: Int64, every interval: Duration = .milliseconds(250),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ChangeSequence {
        ChangeSequence(jar: self, position: position, interval: interval, clock: clock)
    }
}
