internal import CookieModel

/// Writes the changes of one transaction, at its end.
struct ChangeWriter {
    private struct Entry {
        let cause: CookieChange.Cause
        let id: Cookie.ID
        let site: Octets
        let source: StoredCookie.Source?
        let ended: Timestamp?
    }

    private let rows: ChangeRows
    private let now: Timestamp
    /// The newest entries.
    private var entries: [Entry] = []
    /// How many entries were added.
    private var count: Int64 = 0

    init(_ rows: ChangeRows, now: Timestamp) {
        self.rows = rows
        self.now = now
    }

    /// Adds one entry.
    ///
    /// - Parameters:
    ///   - source: the response that deleted or evicted the cookie. Also `nil` for a deletion of a cookie that the jar
    ///     never had.
    ///   - ended: when a cookie expired. A deleted one ended when its response came.
    mutating func append(
        _ cause: CookieChange.Cause, _ id: Cookie.ID, site: Octets, source: StoredCookie.Source? = nil,
        ended: Timestamp? = nil
    ) {
        // Entries that the limit would remove at once are dropped.
        if entries.count >= 2 * Int(rows.limit) { entries.removeFirst(Int(rows.limit)) }
        let ended = ended ?? (cause == .deleted ? source?.answered ?? source?.received : nil)
        entries.append(Entry(cause: cause, id: id, site: site, source: source, ended: ended))
        count += 1
    }

    /// Writes the transaction's part of the journal.
    ///
    /// - Parameter end: the end of the journal before the transaction, but with the sequence number after it.
    mutating func finish(_ end: inout JournalEnd) throws {
        let first = end.nextPosition
        end.nextPosition += count
        let newest = entries.suffix(Int(rows.limit))
        var position = end.nextPosition - Int64(newest.count)
        for entry in newest {
            try rows.insert(
                entry.cause, entry.id, site: entry.site, source: entry.source, ended: entry.ended, at: position,
                now: now, nextSequence: end.nextSequence)
            position += 1
        }
        (entries, count) = ([], 0)
        try rows.removeOldestNowAndThen(from: first, to: end.nextPosition)
    }
}

/// The changes of a jar as they are made by any process: pages of the journal, none of them empty.
///
/// The sequence ends when its task is cancelled. It reads the journal again after each interval without a change.
public struct ChangeSequence: AsyncSequence, Sendable {
    private let jar: CookieJar
    private let position: Int64
    private let interval: Duration
    private let clock: any Clock<Duration>

    init(jar: CookieJar, position: Int64, interval: Duration, clock: any Clock<Duration>) {
        self.jar = jar
        self.position = position
        self.interval = interval
        self.clock = clock
    }

    /// A reader that begins at the sequence's position.
    public func makeAsyncIterator() -> Iterator {
        Iterator(sequence: self, position: position)
    }

    /// Reads one page after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: ChangeSequence
        private var position: Int64

        init(sequence: ChangeSequence, position: Int64) {
            self.sequence = sequence
            self.position = position
        }

        /// The next page; `nil` if the task was cancelled.
        public mutating func next() async throws -> ChangePage? {
            while !Task.isCancelled {
                let page = try await sequence.jar.database.readingToEnd { [jar = sequence.jar, position] in
                    try jar.changes(after: position)
                }
                if !page.changes.isEmpty || page.hasGap {
                    position = page.position
                    return page
                }
                do {
                    try await sequence.clock.sleep(for: sequence.interval)
                } catch is CancellationError {
                    return nil
                }
            }
            return nil
        }
    }
}
