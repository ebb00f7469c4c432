package import CookieModel

/// What a jar on a server receives in a transaction that several jars share.
package struct SharedBatch {
    let jar: CookieJar
    let now: Timestamp
    let body: (inout CookieBatch) throws(SessionStoreError) -> Void

    /// A jar's part of a transaction.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - body: what the jar receives. It changes nothing but the batch, so that it can run again in a transaction of
    ///     the jar's own.
    package init(
        _ jar: CookieJar, now: Timestamp, _ body: @escaping (inout CookieBatch) throws(SessionStoreError) -> Void
    ) {
        self.jar = jar
        self.now = now
        self.body = body
    }
}

extension CookieJar {
    /// Whether enough is known of this jar, without asking the server, for a response to take part in a
    /// ``SharedBatch``.
    package func canShare(_ response: ReceivedResponse) -> Bool {
        database.writer.canShare(response, of: self)
    }
}

extension SessionDatabase {
    /// Stores the responses of several jars in one transaction and one round trip.
    ///
    /// It does not wait for a jar that another transaction writes to, since the other jars would wait, too.
    ///
    /// - Parameter parts: those of different jars, each of which can share what it receives.
    /// - Returns: whether all of it is there. Otherwise nothing is, and each part may be tried in a transaction of its own.
    package func receiveTogether(_ parts: [SharedBatch]) throws(SessionStoreError) -> Bool {
        try writer.writeTogether(parts, in: self)
    }
}
