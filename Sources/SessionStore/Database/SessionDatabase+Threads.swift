public import CookieModel
public import OAuth2
import Platform
import SQLiteEngine

/// Calls that wait on the store's threads. Each caller continues where it was, and no thread of its own is blocked.
extension SessionDatabase {
    /// Opens a database on one of the store's threads, creating it if necessary.
    ///
    /// The parameters are those of ``init(path:keys:durability:busyTimeout:lastAccessGranularity:journalLimit:clock:now:)``.
    public static func open(
        path: String, keys: KeySource, durability: Durability = .normal, busyTimeout: Double = 10,
        clock: StoreClock = .system
    ) async throws -> SessionDatabase {
        try await WorkerThreads.patient.runUnlessCancelled {
            try SessionDatabase(
                path: path, keys: keys, durability: durability, busyTimeout: busyTimeout, clock: clock)
        }
    }

    /// Runs calls that only read, on a thread of the store. They do not wait for other processes that write. While a
    /// transaction of this process runs, they wait for its end.
    ///
    /// ```swift
    /// let cookies = try await database.reading { try jar.cookies().readable }
    /// ```
    ///
    /// - Throws: the error of `calls`, or `CancellationError` as soon as the task is cancelled.
    public func reading<Result: Sendable>(
        _ calls: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await readers.runUnlessCancelled(calls)
    }

    /// Runs calls that write, on a thread of the store, after all that were passed before.
    ///
    /// ```swift
    /// let end = try await database.writing { try jar.endSession() }
    /// ```
    ///
    /// The time in the queue counts as waiting: while another process keeps the file locked, all calls fail when their
    /// `busyTimeout` has passed.
    ///
    /// - Throws: the error of `calls`, or `CancellationError` as soon as the task is cancelled. Calls that have not begun
    ///   by then are not made; what has begun goes on, and may be stored.
    public func writing<Result: Sendable>(
        _ calls: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await nextWriter.runUnlessCancelled(SessionDatabase.countingWait(calls))
    }

    /// Runs calls as ``reading(_:)`` does, even if the task is cancelled.
    package func readingToEnd<Result: Sendable, Failure: Error>(
        _ calls: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await readers.run(calls)
    }

    /// Runs calls as ``writing(_:)`` does, even if the task is cancelled.
    package func writingToEnd<Result: Sendable, Failure: Error>(
        _ calls: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        try await nextWriter.run(SessionDatabase.countingWait(calls))
    }

    /// The threads for calls that write, for a call after all that were passed before.
    private var nextWriter: any BlockingExecutor {
        sharedWrites?.endTurn()
        return writers
    }

    /// Counts the time from now on as waiting for the lock.
    private static func countingWait<Result: Sendable, Failure: Error>(
        _ calls: @escaping @Sendable () throws(Failure) -> Result
    ) -> @Sendable () throws(Failure) -> Result {
        let start = ContinuousClock.now
        return { () throws(Failure) in
            let result = WriteLockWait.$start.withValue(start) {
                Swift.Result { () throws(Failure) in try calls() }
            }
            return try result.get()
        }
    }

    /// The jar of that name, as ``jar(named:policy:now:)`` returns it. Creates it if it is missing.
    ///
    /// - Parameter time: the time of its creation; `nil` for that of the ``clock``.
    public func jar(
        named name: String = "default", policy: CookiePolicy = CookiePolicy(), at time: Timestamp? = nil
    ) async throws -> CookieJar {
        let known = try SessionStoreError.catching(path) { try jarCache.jarInMemory(named: name, in: self) }
        if let known { return CookieJar(known, named: name, in: self, policy: policy) }
        if let jar = try await reading({ try self.existingJar(named: name, policy: policy) }) { return jar }
        let time = time ?? clock.now
        return try await writing { try self.jar(named: name, policy: policy, now: time) }
    }

    /// Deletes a jar with everything in it, without blocking the caller's thread. It cannot be restored.
    ///
    /// - Throws: `SessionStoreError.Code.jarNotFound`.
    @discardableResult
    public func removeJar(named name: String) async throws -> JarRemoval {
        try await writing { try self.removeJar(named: name) }
    }
}

extension CookieJar {
    /// Receives every Set-Cookie line of one response, as ``receive(_:now:)`` does. Responses of one caller are received
    /// in order.
    ///
    /// - Parameter time: when the response came; `nil` for the time of the database's clock.
    /// - Throws: `SessionStoreError`, or `CancellationError` as soon as the task is cancelled. A response whose turn has
    ///   not come by then is not received.
    @discardableResult
    public func receive(
        _ response: ReceivedResponse, at time: Timestamp? = nil
    ) async throws -> [StorageDecision] {
        let time = time ?? database.clock.now
        guard let shared = database.sharedWrites else {
            return try await database.writing { try self.receive(response, now: time) }
        }
        return try await shared.runUnlessCancelled {
            try self.receive(response, now: time, on: $0)
        } then: {
            self.decisions(of: $0)
        }
    }

    /// Receives a response as ``receive(_:at:)`` does, even if the task is cancelled: the server does not set its cookies
    /// again.
    @discardableResult
    package func receiveToEnd(
        _ response: ReceivedResponse, at time: Timestamp? = nil
    ) async throws(SessionStoreError) -> [StorageDecision] {
        let time = time ?? database.clock.now
        guard let shared = database.sharedWrites else {
            return try await database.writingToEnd { () throws(SessionStoreError) in
                try self.receive(response, now: time)
            }
        }
        return try await shared.run {
            try self.receive(response, now: time, on: $0)
        } then: {
            self.decisions(of: $0)
        }
    }

    /// Removes the cookies that a filter selects, as ``removeCookies(_:now:)`` does.
    ///
    /// - Parameter time: the time that decides which cookies have expired; `nil` for that of the database's clock.
    @discardableResult
    public func removeCookies(_ filter: CookieFilter, at time: Timestamp? = nil) async throws -> [Cookie] {
        let time = time ?? database.clock.now
        return try await database.writing { try self.removeCookies(filter, now: time) }
    }

    /// Retrieves the cookies for a request, as ``retrieve(for:now:)`` does.
    ///
    /// A site that is in memory is answered at once, on the caller's own thread. Otherwise a thread of the store reads it,
    /// without waiting for writers. The access is recorded later.
    ///
    /// - Parameter time: the current time; `nil` for that of the database's clock.
    public func retrieve(for context: RequestContext, at time: Timestamp? = nil) async throws -> Retrieval {
        let time = time ?? database.clock.now
        if let known = answerAtOnce(context, at: time, { $0.retrieve(&$1) }) { return known }
        return try await database.siteReaders.runUnlessCancelled {
            try self.answerByReading(context, at: time) { $0.retrieve(&$1) }
        }
    }

    /// Retrieves the cookies as ``retrieve(for:at:)`` does, even if the task is cancelled.
    package func retrieveToEnd(
        for context: RequestContext, at time: Timestamp
    ) async throws(SessionStoreError) -> Retrieval {
        if let known = answerAtOnce(context, at: time, { $0.retrieve(&$1) }) { return known }
        return try await database.siteReaders.run { () throws(SessionStoreError) in
            try self.answerByReading(context, at: time) { $0.retrieve(&$1) }
        }
    }

    /// Retrieves the cookie-string for a request, as ``cookieString(for:now:)`` does, in the way of
    /// ``retrieve(for:at:)``.
    public func cookieString(for context: RequestContext, at time: Timestamp? = nil) async throws -> Octets {
        let time = time ?? database.clock.now
        if let known = answerAtOnce(context, at: time, { $0.cookieString(&$1) }) { return known }
        return try await database.siteReaders.runUnlessCancelled {
            try self.answerByReading(context, at: time) { $0.cookieString(&$1) }
        }
    }

    private func answerAtOnce<Answer: Sendable>(
        _ context: RequestContext, at time: Timestamp, _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) -> Answer? {
        var question = SiteQuestion(context, to: self, now: time)
        // If the file is gone, the thread that reads it finds out.
        guard let answer = try? database.cache.answerFromMemory(&question, body) else { return nil }
        noteLater(SiteAccess(question))
        return answer
    }

    private func answerByReading<Answer: Sendable>(
        _ context: RequestContext, at time: Timestamp, _ body: (inout SiteCookies, inout SiteQuestion) -> Answer
    ) throws(SessionStoreError) -> Answer {
        var question = SiteQuestion(context, to: self, now: time)
        let answer = try readAnswer(&question, mayOpen: true, body)
        noteLater(SiteAccess(question))
        return answer
    }

    private func noteLater(_ access: SiteAccess) {
        guard !access.cookies.isEmpty else { return }
        // The answer is correct without it.
        database.writers.add { try? self.note(access) }
    }
}

extension TokenStore {
    /// The clock of calls without a time.
    package var clock: StoreClock { database.clock }

    /// Runs calls that only read, on a thread of the store, even if the task is cancelled.
    package func reading<Result: Sendable>(
        _ calls: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await database.readingToEnd { [self] in try calls(self) }
    }

    /// Runs calls that write, on a thread of the store, even if the task is cancelled.
    package func writing<Result: Sendable>(
        _ calls: @escaping @Sendable (TokenStore) throws -> Result
    ) async throws -> Result {
        try await database.writingToEnd { [self] in try calls(self) }
    }

    /// Stores a token set under a profile's name, as ``put(_:for:credentials:expectedGeneration:now:)`` does.
    ///
    /// - Parameter time: the time of creation of a new profile; `nil` for that of the database's clock.
    @discardableResult
    public func put(
        _ tokens: TokenSet, for profile: Profile, credentials: ProfileCredentials? = nil,
        expectedGeneration: Int64? = nil, at time: Timestamp? = nil
    ) async throws -> Bool {
        let time = time ?? database.clock.now
        return try await database.writing {
            try self.put(
                tokens, for: profile, credentials: credentials, expectedGeneration: expectedGeneration, now: time)
        }
    }

    /// Removes the token set of that name, as ``remove(_:now:)`` does.
    ///
    /// - Parameter time: the time for the journal; `nil` for that of the database's clock.
    public func remove(_ name: String, at time: Timestamp? = nil) async throws -> Bool {
        let time = time ?? database.clock.now
        return try await database.writing { try self.remove(name, now: time) }
    }
}
