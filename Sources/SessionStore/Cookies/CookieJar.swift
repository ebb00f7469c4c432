public import CookieModel
internal import GRDB

/// A named, isolated set of cookies in a ``SessionDatabase``.
///
/// Reads see every write that was acknowledged before, also by another process. Writes are one transaction each, and
/// decide on what they read within it, so that no update is lost.
public final class CookieJar: Sendable {
    /// The jar's name.
    public let name: String
    /// The rules that apply.
    public let policy: CookiePolicy
    let database: SessionDatabase
    /// The jar's own number, whatever it is called; never used again.
    package let id: Int64
    /// Whether it had header fields when it was opened.
    let hasHeaderFields: Bool

    init(database: SessionDatabase, id: Int64, name: String, policy: CookiePolicy, hasHeaderFields: Bool) {
        self.database = database
        self.id = id
        self.name = name
        self.policy = policy
        self.hasHeaderFields = hasHeaderFields
    }

    /// Receives every Set-Cookie line of one response, in one transaction.
    @discardableResult
    public func receive(_ response: ReceivedResponse, now: Timestamp) throws(SessionStoreError) -> [StorageDecision] {
        var (decisions, evicted) = try withBatch(now: now) { batch throws(SessionStoreError) in
            try batch.receive(response, at: now)
        }
        if !evicted.isEmpty, !decisions.isEmpty { decisions[decisions.count - 1].evicted += evicted }
        return decisions
    }

    /// Receives many responses and records in one transaction: all of it is stored, or nothing.
    ///
    /// `body` must not use the database in another way than through the batch.
    ///
    /// - Parameters:
    ///   - capture: the capture that all of it comes from, from ``beginCapture(named:now:)``.
    ///   - now: the time at which expired cookies are left out, whatever time a capture is from.
    /// - Returns: what `body` returned, and the cookies that went out at the end of the transaction because the jar had
    ///   more than ``CookieLimits/totalCookies``; those that went out over the other limits are in the decisions.
    @discardableResult
    public func withBatch<Result>(
        from capture: CaptureID? = nil, now: Timestamp, _ body: (inout CookieBatch) throws(SessionStoreError) -> Result
    ) throws(SessionStoreError) -> (result: Result, evicted: [Eviction]) {
        try database.write { connection in
            let memory = database.commits.memory
            var batch = CookieBatch(
                rows: CookieRows(database: connection, jarID: id, prepared: memory.statements), policy: policy,
                remembered: memory.take(id, connection), memory: memory, sealer: database.sealer,
                path: database.path, capture: capture, now: now)
            defer { batch.endWriting() }
            let result = try body(&batch)
            let evicted = try batch.finish()
            memory.keep(batch.remembered, ofJar: id, connection)
            return (result, evicted)
        }
    }

    /// All cookies, values opened; those whose value was tampered with come second, without it.
    public func cookies() throws(SessionStoreError) -> (readable: [Cookie], unreadable: [Cookie]) {
        let sealed = try database.read { connection in
            try CookieRows(database: connection, jarID: id).allCookies()
        }
        return opened(sealed)
    }

    /// Cookies out of rows with their values opened; those whose value cannot be read back come second, without it.
    func opened(_ sealed: [Cookie]) -> (readable: [Cookie], unreadable: [Cookie]) {
        var readable: [Cookie] = []
        var unreadable: [Cookie] = []
        let open = opener()
        for cookie in sealed {
            if let value = open(cookie) {
                readable.append(cookie.with(value: value))
            } else {
                unreadable.append(cookie.with(value: []))
            }
        }
        return (readable, unreadable)
    }

    /// Gives the values of cookies out of rows, with the keys of this moment; `nil` where one cannot be read back.
    func opener() -> (Cookie) -> Octets? {
        let sealer = database.sealer
        return { [id] cookie in sealer.open(cookie.value, at: cookie.sealedPlace(jarID: id)) }
    }
}

extension Cookie {
    func with(value: Octets) -> Cookie {
        var copy = self
        copy.value = value
        return copy
    }

    /// What the value is sealed to.
    func sealedPlace(jarID: Int64) -> [UInt8] {
        var partition = id.partitionKey?.serialized ?? ""
        return domain.octets.withRawBytes { domain in
            path.withRawBytes { path in
                name.withRawBytes { name in
                    partition.withUTF8 { partition in
                        SealedPlace.cookie(
                            jarID: jarID, domain: domain, path: path, name: name,
                            partition: UnsafeRawBufferPointer(partition), isHostOnly: isHostOnly, isSecure: isSecure,
                            isHTTPOnly: isHTTPOnly, sameSite: sameSite.rawValue, expiry: expiry?.microseconds,
                            creation: creation.microseconds)
                    }
                }
            }
        }
    }
}

extension CookieInPlace {
    /// What the value is sealed to.
    func sealedPlace(jarID: Int64) -> [UInt8] {
        SealedPlace.cookie(
            jarID: jarID, domain: domainOctets, path: pathOctets, name: name, partition: partitionKey,
            isHostOnly: isHostOnly, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite.rawValue,
            expiry: expiry?.microseconds, creation: creation.microseconds)
    }
}

extension Octets {
    fileprivate func withRawBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withSpan { span in span.withUnsafeBytes(body) }
    }
}
