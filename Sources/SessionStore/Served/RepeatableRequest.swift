internal import CookieModel
package import WebPrimitives

/// One program's attempt at a write that its client may send again, to any program that uses the same server.
///
/// Each transaction of the attempt records that it was committed, so that this is known even after a lost connection.
/// If another attempt takes over, this one can no longer commit.
package struct RepeatableRequest: Sendable {
    /// The attempts for which this thread writes.
    @TaskLocal package static var current: [RepeatableRequest] = []

    /// How long an attempt that does not end blocks others, in seconds.
    fileprivate static let hold: Int64 = 30

    /// A digest of the caller and the key that it sent.
    let key: [UInt8]
    /// A digest of the request.
    let request: [UInt8]
    /// A unique name of the attempt.
    let attempt: [UInt8]

    /// Creates an attempt.
    ///
    /// - Parameters:
    ///   - key: a digest of the caller and the key that it sent.
    ///   - request: a digest of the request.
    package init(key: [UInt8], request: [UInt8]) {
        self.key = key
        self.request = request
        var generator = SystemRandomNumberGenerator()
        attempt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// The state of a request when an attempt begins.
    package enum State: Sendable, Equatable {
        /// The request is new, and belongs to this attempt now.
        case new
        /// The key belongs to another request.
        case different
        /// Another attempt is running.
        case running
        /// The request was answered.
        case answered(Octets)
        /// At least a part of it was committed, and its answer was lost.
        case committed
    }

    /// The context that the answer is sealed to.
    fileprivate var place: [UInt8] {
        var place = SealedPlace("repeatable request")
        place.append(key)
        place.append(request)
        return place.bytes
    }
}

/// Requests are recorded only on a server: a file is used by one service.
extension SessionDatabase {
    /// Begins an attempt of a request.
    ///
    /// - Parameter expiry: when the record of the request expires.
    package func begin(
        _ request: RepeatableRequest, until expiry: Timestamp, now: Timestamp
    ) throws(SessionStoreError) -> RepeatableRequest.State {
        try write(.changedRows) { connection in
            let rows = RepeatableRequestRows(database: connection)
            // Each request adds one row, so removing two is enough.
            try connection.removeExpired(from: "repeatable_request", key: "key", before: now, limit: 2)
            let hold = now.advanced(bySeconds: RepeatableRequest.hold)
            return try rows.take(request, until: hold, expiry: expiry, now: now)
                ? .new : try rows.state(of: request, now: now, sealer)
        }
    }

    /// Ends an attempt.
    ///
    /// - Parameter answer: the answer for repetitions of the request; `nil` if there is none.
    package func end(_ request: RepeatableRequest, answer: [UInt8]?) throws(SessionStoreError) {
        try write(.changedRows) { connection in
            let sealed = try answer.map { try sealer.seal($0, at: request.place) }
            try RepeatableRequestRows(database: connection).end(request, answer: sealed)
        }
    }

    /// Ends an attempt that has changed nothing. The next one starts from the beginning.
    package func forget(_ request: RepeatableRequest) throws(SessionStoreError) {
        try write(.changedRows) { try RepeatableRequestRows(database: $0).remove(request) }
    }
}

extension Connection {
    /// Removes expired rows of a table on a server, the oldest first. Rows that other transactions have locked stay.
    ///
    /// - Parameter limit: the maximum number of rows to remove.
    func removeExpired(
        from table: StaticString, key: StaticString, before now: Timestamp, limit: Int64
    ) throws {
        try statement(
            """
            DELETE FROM \(table) WHERE \(key) IN (
                SELECT \(key) FROM \(table) WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2
                FOR UPDATE SKIP LOCKED)
            """
        ).run(now, limit)
    }
}

/// The `repeatable_request` table.
struct RepeatableRequestRows {
    let database: Connection

    /// Takes a request that no other attempt holds, unless it was answered or committed. Waits for a transaction of
    /// another attempt that is ending it.
    func take(_ request: RepeatableRequest, until hold: Timestamp, expiry: Timestamp, now: Timestamp) throws -> Bool {
        let isTaken = try database.statement(
            """
            INSERT INTO repeatable_request AS known (key, request, attempt, held_until, expires_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (key) DO UPDATE SET request = excluded.request, attempt = excluded.attempt,
                held_until = excluded.held_until, expires_at = excluded.expires_at, is_committed = 0, answer = NULL
            WHERE known.expires_at < ?6 OR (known.held_until < ?6 AND known.is_committed = 0
                AND known.answer IS NULL AND known.request = excluded.request)
            RETURNING 1
            """
        ).first(request.key, request.request, request.attempt, hold, expiry, now) { _ in true }
        return isTaken == true
    }

    /// The state of a request that cannot be taken.
    func state(of request: RepeatableRequest, now: Timestamp, _ sealer: Sealer) throws -> RepeatableRequest.State {
        let state: RepeatableRequest.State? = try database.statement(
            "SELECT request, held_until, is_committed, answer FROM repeatable_request WHERE key = ?"
        ).first(request.key) { row in
            guard row.bytes(0) == request.request else { return .different }
            if !row.isNull(3) {
                // An answer that was sealed under a key that is gone is lost.
                return sealer.open(Octets(row.bytes(3)), at: request.place).map { .answered($0) } ?? .committed
            }
            return row.timestamp(1) >= now || row.int64(2) == 0 ? .running : .committed
        }
        // One that was removed just now is tried again.
        return state ?? .running
    }

    /// Records that the transaction belongs to each of these attempts. It fails if another attempt has taken one over.
    func noteCommit(of requests: [RepeatableRequest]) throws {
        for request in requests {
            let statement = try database.statement(
                "UPDATE repeatable_request SET is_committed = 1 WHERE key = ? AND attempt = ?")
            statement.bindAll(request.key, request.attempt)
            try statement.runChangingOneRow()
        }
    }

    func end(_ request: RepeatableRequest, answer: [UInt8]?) throws {
        try database.statement(
            "UPDATE repeatable_request SET answer = ?3, held_until = 0 WHERE key = ?1 AND attempt = ?2"
        ).run(request.key, request.attempt, answer)
    }

    func remove(_ request: RepeatableRequest) throws {
        try database.statement("DELETE FROM repeatable_request WHERE key = ? AND attempt = ?").run(
            request.key, request.attempt)
    }
}
