internal import CookieModel
internal import StoreEngine

/// Writes to the jars on a server: in one round trip, if a jar is known and has come no further than that.
struct ServedWriter: JarWriter {
    private let memory = ServedJarMemory()

    func write(
        _ order: BatchOrder, _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws(SessionStoreError) -> FinishedBatch {
        let finished =
            if let assumed = try writeAssuming(order, body) { assumed } else { try writeReading(order, body) }
        memory.keep(finished.remembered, ofJar: order.jar.id)
        return finished
    }

    /// Assumes that the jar is as it is remembered.
    ///
    /// - Returns: `nil` if nothing is remembered, or if that may be wrong: then nothing is stored.
    private func writeAssuming(
        _ order: BatchOrder, _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws(SessionStoreError) -> FinishedBatch? {
        let jar = order.jar
        guard order.isRepeatable, let known = takeKnown(jar), let end = known.end else { return nil }
        let assumptions = [jar.database.sealer.assumption, ChangeRows.assumption([(jar.id, end)])]
        return try jar.database.writeOptimistically(.jar(jar.id), isPatient: true, assuming: assumptions) {
            try run(order, on: $0, assuming: known, body)
        }
    }

    /// Reads of the jar what the batch needs.
    private func writeReading(
        _ order: BatchOrder, _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws(SessionStoreError) -> FinishedBatch {
        let (jar, database) = (order.jar, order.jar.database)
        return try database.write(
            .jar(jar.id), isRepeatable: order.isRepeatable, prefetching: foreseenQueries(order)
        ) { connection in
            var batch = CookieBatch(
                order, on: connection, beginningWith: RememberedJar(), WriterMemory(database.keyRing))
            try body(&batch)
            return try batch.finish()
        }
    }

    /// Fails if the batch needs more than the assumption.
    private func run(
        _ order: BatchOrder, on connection: Connection, assuming known: RememberedJar,
        _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws -> FinishedBatch {
        var batch = CookieBatch(order, on: connection, beginningWith: known, WriterMemory(order.jar.database.keyRing))
        try body(&batch)
        // Which cookie has to go depends on when each was last accessed, of which the assumption says nothing.
        guard !batch.hasEvicted else { throw StoreFailure.unexpectedResult }
        return try batch.finish()
    }

    /// The queries of a batch before it writes, in this order.
    private func foreseenQueries(_ order: BatchOrder) -> [ForeseenQuery] {
        let jar = order.jar
        let end = ForeseenQuery(ChangeRows.endQuery) { [id = jar.id] in $0.bind(1, id) }
        guard let site = order.expected?.context.url.host.registrableDomain(jar.policy.publicSuffixes) else {
            return [end]
        }
        let outlines = ForeseenQuery(CookieRows.outlineQuery) { [id = jar.id] in
            $0.bind(1, id)
            $0.bind(2, site)
        }
        return [end, outlines]
    }

    /// Takes what is known of a jar, so that a batch may assume it; `nil` for nothing.
    private func takeKnown(_ jar: CookieJar) -> RememberedJar? {
        memory.take(jar.id, notBefore: jar.state?.jar?.nextChange)
    }
}

// MARK: - Several jars

extension ServedWriter {
    func canShare(_ response: ReceivedResponse, of jar: CookieJar) -> Bool {
        guard jar.policy.limits.totalCookies == nil else { return false }
        let site = response.context.url.host.registrableDomain(jar.policy.publicSuffixes)
        return memory.knows(site, ofJar: jar.id, notBefore: jar.state?.jar?.nextChange)
    }

    /// Takes one round trip. A jar that another transaction writes to is not waited for: the others would wait as well.
    func writeTogether(_ parts: [SharedBatch], in database: SessionDatabase) throws(SessionStoreError) -> Bool {
        var known: [(part: SharedBatch, jar: RememberedJar)] = []
        var ends: [(id: Int64, end: JournalEnd)] = []
        for part in parts {
            guard let jar = takeKnown(part.jar), let end = jar.end else { continue }
            known.append((part, jar))
            ends.append((part.jar.id, end))
        }
        var finished: [FinishedBatch]?
        if known.count == parts.count {
            let assumptions = [database.sealer.assumption, ChangeRows.assumption(ends)]
            let ids = ends.map(\.id)
            finished = try database.writeOptimistically(.jars(ids), isPatient: false, assuming: assumptions) {
                connection in
                try known.map { part, jar in
                    let order = BatchOrder(
                        jar: part.jar, capture: nil, expected: nil, isRepeatable: true, now: part.now)
                    return try run(order, on: connection, assuming: jar, part.body)
                }
            }
        }
        guard let finished else {
            for (part, jar) in known { memory.keep(jar, ofJar: part.jar.id) }
            return false
        }
        for ((part, _), finished) in zip(known, finished) {
            memory.keep(finished.remembered, ofJar: part.jar.id)
            part.jar.record(finished.rejections)
        }
        return true
    }
}
