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
        guard database.isOnServer, policy.limits.totalCookies == nil else { return false }
        let site = response.context.url.host.registrableDomain(policy.publicSuffixes)
        return database.servedJars.knows(site, ofJar: id, notBefore: state?.jar?.nextChange)
    }
}

extension SessionDatabase {
    /// Stores the responses of several jars in one transaction and one round trip.
    ///
    /// A jar that another transaction writes to is not waited for: the others would wait as well.
    ///
    /// - Parameter parts: those of different jars, each of which can share what it receives.
    /// - Returns: whether all of it is there. Otherwise nothing is, and each part may be tried in a transaction of its own.
    package func receiveTogether(_ parts: [SharedBatch]) throws(SessionStoreError) -> Bool {
        var known: [(part: SharedBatch, jar: RememberedJar)] = []
        var ends: [(id: Int64, end: JournalEnd)] = []
        for part in parts {
            guard let jar = part.jar.rememberedOnServer(), let end = jar.end else { continue }
            known.append((part, jar))
            ends.append((part.jar.id, end))
        }
        var after: [RememberedJar?]?
        var rejections: [RejectionList] = []
        if known.count == parts.count {
            let assumptions = [sealer.assumption, ChangeRows.assumption(ends)]
            after = try writeAtOnce(.jars(ends.map(\.id)), isPatient: false, assuming: assumptions) { connection in
                rejections = []
                return try known.map { part, jar in
                    var batch = part.jar.batch(
                        on: connection, remembered: jar, isAssumed: true, memory.ofBatches(connection), now: part.now)
                    defer { batch.endWriting() }
                    try part.body(&batch)
                    _ = try batch.finish()
                    rejections.append(batch.rejections)
                    return batch.remembered
                }
            }
        }
        for (part, jar) in zip(known.map(\.part), after ?? known.map(\.jar)) {
            servedJars.keep(jar, ofJar: part.jar.id)
        }
        if after != nil {
            for (part, rejected) in zip(known.map(\.part), rejections) { part.jar.record(rejected) }
        }
        return after != nil
    }
}
