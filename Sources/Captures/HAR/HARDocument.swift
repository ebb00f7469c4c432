import CookieModel

/// Finds the responses in the events of a HAR document: `log.entries[].response.headers[]`.
///
/// It enters only the members on that path, the names in `cookies`, the writer's name, and the evidence for the context
/// of a request: its headers, the pages, and the members that Chromium's tools add. It skips all others (bodies,
/// timings).
struct HARDocument {
    /// Where in the document the value that comes next belongs; in an array, every value of it.
    enum Slot {
        case root
        case log
        case creator
        case creatorName
        case browser
        case browserName
        case pages
        case page
        case pageName
        case pageTitle
        case entries
        case entry
        case startedDateTime
        case duration
        case pageReference
        case frameReference
        case resourceType
        case initiator
        case initiatorURL
        case request
        case url
        case method
        case requestHeaders
        case requestHeader
        case response
        case status
        case headers
        case header
        case name
        case value
        case cookies
        case cookie
        case cookieName
        /// A member that is not needed.
        case other
    }

    /// The container that is being read.
    enum Context {
        case document
        case log
        case creator
        case browser
        case pages
        case page
        case entries
        case entry
        case initiator
        case request
        case requestHeaders
        case requestHeader
        case response
        case headers
        case header
        case cookies
        case cookie
    }

    /// The programs whose way with text is known.
    enum Program {
        case playwright
        case chromiumDeveloperTools
        case chromium
        case crumb
    }

    let source: String
    var context = Context.document
    var slot = Slot.root
    var entry = HAREntry()
    /// The program that wrote the document, and the browser that it asked.
    var creator: Program?
    var browser: Program?
    var header = HARHeader()
    /// The current page, and the URLs of the pages by their names, as Chromium and Firefox write them.
    var page: (name: String?, title: String?) = (nil, nil)
    private var pages: [String: String] = [:]
    /// How many entries were begun, and how many were ended.
    private(set) var begunCount = 0
    private(set) var endedCount = 0
    /// Whether there was a `log.entries` array.
    var hasEntries = false
    /// Whether a request carried a cookie, or a response set one.
    private(set) var hasCookies = false
    /// The number of cookies in the `cookies` of responses without a Set-Cookie header.
    private(set) var headerlessCount = 0
    /// The items found and not yet taken away.
    var items: [CaptureItem] = []

    init(source: String) {
        self.source = source
    }

    /// How many bytes of the document are held.
    var bufferedByteCount: Int {
        entry.setCookie.bufferedByteCount + header.text.capacity + entry.cookieNames.bufferedByteCount
            + entry.request.bufferedByteCount
    }

    /// Whether the writer may have left the cookies out: Chromium's developer tools and Crumb's gateway do so by default.
    var mayBeSanitized: Bool {
        [.chromiumDeveloperTools, .crumb].contains(creator) && endedCount > 0 && !hasCookies
    }

    private var encoding: HARTextEncoding {
        switch (creator, browser) {
        case (.chromiumDeveloperTools, _), (.playwright, .chromium): .windows1252
        default: .utf8
        }
    }

    /// An entry begins.
    mutating func beginEntry() {
        begunCount += 1
        entry.reset()
    }

    /// The current entry ends.
    mutating func endEntry() {
        endedCount += 1
        let place = CapturePlace(source: source, entry: endedCount)
        if let problem = entry.problem {
            items.append(
                .failure(entry.isURLTooLong ? .tooLong(problem, at: place) : .entryMalformed(problem, at: place)))
            return
        }
        for _ in 0..<entry.tooLongCount { items.append(.failure(.fieldTooLong(at: place))) }
        if entry.setCookie.isOverfull { items.append(.failure(.responseTooLarge(at: place))) }
        var lines = entry.setCookie.octets
        if lines.count == 1, entry.cookieNames.hasMultiple {
            lines = separated(lines[0])
            if lines.isEmpty { items.append(.failure(.setCookieJoined(at: place))) }
        }
        if entry.setCookie.octets.isEmpty, entry.tooLongCount == 0 { headerlessCount += entry.cookieNames.count }
        if !lines.isEmpty || !entry.request.cookies.octets.isEmpty { hasCookies = true }
        var response = CapturedResponse(
            url: entry.url ?? "", method: entry.method, status: entry.status, time: entry.time,
            setCookie: lines, evidence: entry.evidence(page: entry.pageID.flatMap { pages[$0] }),
            requestCookies: entry.request.cookies.octets, place: place)
        response.lacksTime = entry.hasBrokenTime
        response.answerTime = entry.time.map { Timestamp(microseconds: $0.microseconds + entry.duration) }
        items.append(.response(response))
    }

    /// The current page ends. Its title is its URL, unless the writer put the document's title there.
    mutating func endPage() {
        defer { page = (nil, nil) }
        guard let name = page.name, let title = page.title, title.utf8.count <= 8192, title.hasPrefix("http"),
            pages.count < 10_000
        else { return }
        pages[name] = title
    }

    /// The lines of a joined value; empty if they cannot be separated, because one wrong cookie is worse than none.
    private func separated(_ line: Octets) -> [Octets] {
        let ranges = line.withSpan { entry.cookieNames.lines(in: $0) }
        return ranges?.map { line[$0] } ?? []
    }

    /// An entry is not an object.
    mutating func rejectEntry() {
        begunCount += 1
        endedCount += 1
        let place = CapturePlace(source: source, entry: endedCount)
        items.append(.failure(.entryMalformed("It is not an object.", at: place)))
    }

    /// A header of the request ends. Nothing is rejected for it: it is evidence, or nothing.
    mutating func endRequestHeader() {
        guard case .request(let field) = header.name, case .text = header.value else { return }
        let text = encoding.octets(of: header.text) ?? header.text
        entry.request.take(field, text.span)
    }

    /// The current header ends.
    mutating func endHeader() {
        switch (header.name, header.value) {
        case (.setCookie, .text):
            let text = encoding.octets(of: header.text) ?? header.text
            entry.setCookie.append(joined: text.span)
        case (.setCookie, .tooLong): entry.tooLongCount += 1
        case (.setCookie, .missing), (.setCookie, .notText):
            entry.rejectResponse("A Set-Cookie header of its response has no value that is a string.")
        case (.missing, _), (.notText, _):
            entry.rejectResponse("A header of its response has no name that is a string.")
        case (.location, .text): entry.location = entry.location ?? Octets(header.text)
        case (.location, _), (.request, _), (.other, _): break
        }
    }
}

extension HARDocument {
    /// The moment that a `startedDateTime` names: RFC 3339, or with an offset such as `+0530`, as ISO 8601 allows.
    static func time(_ text: Span<UInt8>) -> Timestamp? {
        var octets: [UInt8] = []
        octets.append(text)
        let sign = octets.count - 5
        if sign > 0, octets[sign] == ASCII.plus || octets[sign] == ASCII.hyphen,
            octets[(sign + 1)...].allSatisfy(ASCII.isDigit)
        {
            octets.insert(ASCII.colon, at: sign + 3)
        }
        return Timestamp(rfc3339: octets)
    }
}
