package import Captures
package import CookieModel
package import SessionStore

/// Stores the contents of a capture in a jar, in steps, and accounts for every line.
///
/// The database is locked while cookies are written, never while a capture is read, because a pipe may be slow.
package struct CaptureStorer {
    /// How many lines, and how many bytes of them, wait to be written in one transaction.
    private static let batchLineLimit = 10_000
    private static let batchByteLimit = 8 << 20

    private let target: LazyJar
    private let options: CaptureImport
    private let now: Timestamp
    private var waiting = WaitingItems()
    /// The capture's record in the jar, made with the first cookies.
    private var captureID: CaptureID?
    /// The cookies that the requests sent, as far as they are wanted.
    private var requestCookies: RequestCookies
    /// The attributes that the capture's cookies, other than those of responses, state for each other.
    private var twins: CookieTwins
    /// The outcome of every line so far.
    package var report: ImportReport
    /// The latest time of the responses so far.
    private var lastTime: Timestamp?
    /// The place up to which the capture was read.
    package private(set) var place: CapturePlace?
    /// How many items have come out of the capture.
    package private(set) var entryCount = 0
    /// How many cookies and Set-Cookie lines they had.
    package private(set) var cookieCount = 0

    /// Creates a storer into a jar.
    ///
    /// - Parameter source: the name by which a person knows the capture.
    package init(of source: String, into target: LazyJar, _ options: CaptureImport, now: Timestamp) {
        self.target = target
        self.options = options
        self.now = now
        requestCookies = RequestCookies(now: now)
        twins = CookieTwins(publicSuffixes: target.policy.publicSuffixes)
        report = ImportReport(source: source)
    }

    /// Takes one item; stores those before it once there are enough.
    package mutating func take(_ item: CaptureItem) throws(SessionStoreError) {
        place = item.place
        entryCount += 1
        cookieCount += item.cookieCount
        if waiting.lines >= CaptureStorer.batchLineLimit || waiting.bytes >= CaptureStorer.batchByteLimit {
            try store(waiting.takeAll(), as: nil)
        }
        waiting.append(item, options)
    }

    /// The earlier import of the same capture; `nil` once something of this one is stored.
    package func earlierImport(of digest: CaptureDigest) throws(SessionStoreError) -> CaptureRecord? {
        captureID == nil ? try target.jar?.importedCapture(digest) : nil
    }

    /// Stores the waiting items, then the cookies that the requests sent.
    ///
    /// - Parameter digest: the digest by which the capture is recognized later; `nil` if it was not read to its end.
    package mutating func finish(_ digest: CaptureDigest?) throws(SessionStoreError) {
        guard requestCookies.isEmpty, !waiting.hasRequestCookies else {
            try store(waiting.takeAll(), as: nil, isEnd: true)
            return try storeRequestCookies(as: digest)
        }
        try store(waiting.takeAll(), as: digest, isEnd: true)
    }

    /// Whether the same capture would change nothing if it came again. A broken file may be
    /// repaired and then have more to read, and a capture that changed nothing may change something later.
    private var isWorthRemembering: Bool { report.failures.isEmpty && report.hasChanges }

    /// Writes the cookies that the requests sent, after everything that the capture's responses set.
    private mutating func storeRequestCookies(as digest: CaptureDigest?) throws(SessionStoreError) {
        let candidates = requestCookies.finish(policy: target.policy, &report)
        guard !candidates.isEmpty else { return }
        let done = try target.inMemory(now: now) { batch throws(SessionStoreError) in
            var copy = self
            try copy.receive(candidates, into: &batch)
            return copy
        }
        if let done { return self = done }
        let jar = try target.writable()
        let id = try jar.beginCapture(named: report.source, ofRequests: true, now: now)
        let (_, evicted) = try jar.withBatch(from: id, now: now) { batch throws(SessionStoreError) in
            try receive(candidates, into: &batch)
            if let digest, isWorthRemembering { try batch.finishCapture(digest) }
        }
        report.count(evicted)
    }

    private mutating func receive(
        _ candidates: [(site: Octets, cookies: [RequestCookies.Sent])], into batch: inout some CaptureStorer.Batch
    ) throws(SessionStoreError) {
        for (site, cookies) in candidates {
            let endings = try batch.endings(of: site)
            let present = RequestCookies.Present(try batch.cookies(of: site), endings)
            for cookie in cookies where !present.hides(cookie, &report) {
                let decision = try batch.receive(cookie.record, sentTo: cookie.url)
                report.count(requestCookie: decision, at: cookie.place)
            }
        }
    }

    /// Writes items, in one transaction.
    ///
    /// - Parameter isEnd: whether these are the last items.
    private mutating func store(
        _ items: [CaptureItem], as digest: CaptureDigest?, isEnd: Bool = false
    ) throws(SessionStoreError) {
        let mends = isEnd && !twins.weakSites.isEmpty
        guard mends || items.contains(where: { $0.cookieCount > 0 || $0.isStorage }) else {
            for item in items {
                report.count(item)
                if case .response(let response) = item { _ = received(response) }
            }
            return
        }
        // A jar that does not exist yet is created for any item of web storage.
        if target.isDryRun || !items.contains(where: \.isStorage) {
            let done = try target.inMemory(now: now) { batch throws(SessionStoreError) in
                var copy = self
                try copy.receive(items, isEnd: isEnd, into: &batch)
                return copy
            }
            if let done { return self = done }
        }
        let jar = try target.writable()
        if captureID == nil { captureID = try jar.beginCapture(named: report.source, now: now) }
        let (_, evicted) = try jar.withBatch(from: captureID, now: now) { batch throws(SessionStoreError) in
            try receive(items, isEnd: isEnd, into: &batch)
            if let digest, isWorthRemembering { try batch.finishCapture(digest) }
        }
        report.count(evicted)
    }

    private mutating func receive(
        _ items: [CaptureItem], isEnd: Bool, into batch: inout some CaptureStorer.Batch
    ) throws(SessionStoreError) {
        try twins.note(items.records) { site throws(SessionStoreError) in try batch.openedCookies(of: site) }
        for item in items {
            report.count(item)
            switch item {
            case .failure: break
            case .storage(let item, _): report.count(item, hasRoom: try batch.receive(item))
            // A file is older than the end of such a cookie, so it says nothing of the jar's, which may be a newer one.
            case .cookie(let record, _) where record.hasExpired(at: now): report.countExpired(record)
            case .cookie(let record, let place):
                count(try batch.receive(twins.completed(record), sentTo: nil), on: record, at: place)
            case .response(let response): try receive(response, into: &batch)
            }
        }
        // Of a long file, the first lines were stored before the last ones were read.
        for site in isEnd ? twins.weakSites : [] {
            for (record, kept) in twins.mended(try batch.openedCookies(of: site)) {
                _ = try batch.receive(record, sentTo: nil)
                report.count(kept: kept)
            }
        }
    }

    /// Passes a response's cookies to the batch, and accounts for them.
    private mutating func receive(
        _ response: CapturedResponse, into batch: inout some CaptureStorer.Batch
    ) throws(SessionStoreError) {
        guard let received = received(response), !response.setCookie.isEmpty else { return }
        let decisions = try batch.receive(received)
        if options.takesRequestCookies { requestCookies.note(decisions, of: response) }
        report.count(decisions, on: received, at: response.place)
    }

    /// Accounts for a cookie out of a store.
    private mutating func count(_ decision: StorageDecision, on record: CookieRecord, at place: CapturePlace) {
        if decision.outcome != .rejected, let cookie = decision.cookie {
            twins.noteStored(record, as: cookie.id)
            if let end = record.expiry, let cut = cookie.expiry, cut < end { report.countLifetimeCut() }
        }
        report.count(decision, at: place, line: nil, received: .distantPast)
    }

    /// The response for the cookie rules, its request's cookies noted; `nil` if it is not wanted.
    private mutating func received(_ response: CapturedResponse) -> ReceivedCapture? {
        let wantsCookies = options.wantsCookies(of: response)
        if let time = response.time { lastTime = max(lastTime ?? time, min(time, now)) }
        guard wantsCookies || !response.setCookie.isEmpty,
            let received = response.received(options, policy: target.policy, lastTime: lastTime, now: now, &report)
        else { return nil }
        if wantsCookies { requestCookies.note(response, in: received.context) }
        return received
    }
}

/// The items that were read and are not stored yet.
private struct WaitingItems {
    private var items: [CaptureItem] = []
    /// Whether cookies are among them that requests sent and that are wanted.
    private(set) var hasRequestCookies = false
    private(set) var lines = 0
    private(set) var bytes = 0

    mutating func append(_ item: CaptureItem, _ options: CaptureImport) {
        items.append(item)
        lines += 1
        switch item {
        case .response(let response):
            lines += response.setCookie.count
            hasRequestCookies = hasRequestCookies || options.wantsCookies(of: response)
            bytes += (response.setCookie + response.requestCookies).reduce(0) { $0 + $1.count }
        case .storage(let item, _): bytes += item.octetCount
        case .cookie, .failure: break
        }
    }

    mutating func takeAll() -> [CaptureItem] {
        defer { self = WaitingItems() }
        return items
    }
}

extension [CaptureItem] {
    /// The cookies out of stores.
    fileprivate var records: [CookieRecord] {
        compactMap { if case .cookie(let record, _) = $0 { record } else { nil } }
    }
}

extension CaptureItem {
    /// How many cookies and Set-Cookie lines it has.
    fileprivate var cookieCount: Int {
        switch self {
        case .response(let response): response.setCookie.count
        case .cookie: 1
        case .failure, .storage: 0
        }
    }

    /// Whether it is an item of `localStorage`.
    fileprivate var isStorage: Bool {
        if case .storage = self { true } else { false }
    }
}

/// A captured response as the cookie rules read it.
package struct ReceivedCapture {
    package let response: ReceivedResponse
    /// When its lifetimes begin.
    package let time: Timestamp
    /// When its answer had come.
    package let answered: Timestamp
    /// For a response whose time is unknown, the time after which stored cookies stay as they are.
    package let sparing: Timestamp?
    /// The context of its request, and the evidence for it.
    package let context: CapturedContext
}

extension CapturedResponse {
    /// The response for the cookie rules; `nil` if its URL carries no cookies, which the report then says.
    ///
    /// - Parameters:
    ///   - policy: the rules of the store that receives it.
    ///   - lastTime: the latest time in the capture so far, which a response without a time takes.
    package func received(
        _ options: CaptureImport, policy: CookiePolicy, lastTime: Timestamp? = nil, now: Timestamp,
        _ report: inout ImportReport
    ) -> ReceivedCapture? {
        do {
            let context = try context(topLevel: options.topLevel.flatMap { try? RequestURL($0) }, policy: policy)
            if lacksTime { report.noteUnknownTime(at: place) }
            let time = time ?? (lacksTime ? lastTime : nil)
            return ReceivedCapture(
                response: ReceivedResponse(context: context.request, status: status, setCookie: setCookie),
                time: options.receivedNow ? now : min(time ?? now, now),
                answered: min(answerTime ?? time ?? now, now),
                sparing: lacksTime && !options.receivedNow ? lastTime ?? .distantPast : nil, context: context)
        } catch {
            // Most entries of a capture have no cookies, so that their URLs do not matter.
            guard !setCookie.isEmpty || options.wantsCookies(of: self) else { return nil }
            report.append(
                ImportReport.Failure(
                    code: "url-invalid", message: "\(place): \(error.description)", source: place.source))
            return nil
        }
    }
}
