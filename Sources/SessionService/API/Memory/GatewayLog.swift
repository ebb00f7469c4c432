import SessionOperations

/// The requests and events that have passed through a gateway: counts of all of them, and the newest entries.
struct GatewayLog: Sendable {
    /// A request, or an event of a page.
    enum Entry: Sendable {
        case request(GatewayRequestReport)
        case event(PageEventReport)

        /// Its place.
        var position: Int64 {
            switch self {
            case .request(let request): request.position ?? 0
            case .event(let event): event.position ?? 0
            }
        }

        /// Roughly how much memory it takes.
        fileprivate var size: Int {
            switch self {
            case .request(let request):
                200 + request.method.utf8.count + request.url.utf8.count
                    + (request.cookiesSent + request.cookiesStored + (request.cookiesDeleted ?? [])
                    + (request.cookiesRejected ?? []).map(\.text)).reduce(0) {
                        $0 + $1.utf8.count + 16
                    }
            case .event(let event):
                200 + event.query.utf8.count + (event.data?.utf8.count ?? 0) + (event.dataBase64?.utf8.count ?? 0)
            }
        }
    }

    /// Some entries, the oldest first.
    struct Page: Sendable {
        let entries: [Entry]
        /// The position of the last entry that was looked at.
        let position: Int64
        /// The position before the first entry that is known, if others after the position that was asked for are not.
        let gap: Int64?
        let hasMore: Bool
    }

    /// How many octets of a URL are kept.
    static let urlLimit = 2048

    private let countLimit: Int
    private let sizeLimit: Int
    private var entries: [Entry] = []
    /// How many of ``entries`` are forgotten. They are removed many at a time.
    private var forgotten = 0
    private var size = 0
    /// The position of the newest entry.
    private(set) var position: Int64 = 0
    private(set) var requests = 0
    private(set) var cookiesSent = 0
    private(set) var cookiesStored = 0
    private(set) var failures = 0

    /// - Parameters:
    ///   - countLimit: How many entries are kept.
    ///   - sizeLimit: How much memory they may take, in octets.
    init(countLimit: Int = 1000, sizeLimit: Int = 4 << 20) {
        self.countLimit = countLimit
        self.sizeLimit = sizeLimit
    }

    /// Adds a request.
    mutating func add(_ request: GatewayRequestReport) {
        requests += 1
        cookiesSent += request.cookiesSent.count
        cookiesStored += request.cookiesStored.count
        if request.failure != nil { failures += 1 }
        append(.request(request.placed(at: position + 1, urlLimit: GatewayLog.urlLimit)))
    }

    /// Adds an event of a page.
    mutating func add(_ event: PageEventReport) {
        append(.event(event.placed(at: position + 1)))
    }

    private mutating func append(_ entry: Entry) {
        position += 1
        entries.append(entry)
        size += entry.size
        while entries.count - forgotten > countLimit || size > sizeLimit && entries.count - forgotten > 1 {
            size -= entries[forgotten].size
            forgotten += 1
        }
        if forgotten > entries.count / 2 {
            entries.removeFirst(forgotten)
            forgotten = 0
        }
    }

    /// The entries after a position.
    func page(after start: Int64, limit: Int) -> Page {
        let first = position - Int64(entries.count - forgotten)
        // A position that is not there yet belongs to a gateway before this one.
        let from = start > position ? first : max(start, first)
        let hasGap = start > position || start < first
        let found = entries[(forgotten + Int(from - first))...].prefix(limit)
        let end = from + Int64(found.count)
        return Page(entries: Array(found), position: end, gap: hasGap ? from : nil, hasMore: end < position)
    }
}
