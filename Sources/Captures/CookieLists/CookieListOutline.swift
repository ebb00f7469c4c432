import CookieModel

/// The place of the cookies in a document that lists them: an array that is the document itself, or that is called
/// `cookies` (or `value`, in a WebDriver response), alone or within a `result`.
///
/// Of a storage state, the items of `localStorage` are read too; databases of IndexedDB are counted in a notice.
struct CookieListOutline: JSONOutline {
    enum Context: Sendable {
        case document
        case members
        case list
        /// HTTPie's sessions before version 3.1: an object with a member for each cookie.
        case map
        case cookie
        case namedCookie
        case origins
        case origin
        case originName
        case storage
        case storageItem
        case databases
        case partition
    }

    static let start = Context.document

    private let members: CookieMembers
    private let source: String
    private(set) var entryCount = 0
    private var hasList = false
    private var origins: StorageStateOrigins
    /// The first entries that are not cookies: the first one's defect and number, and their count, before any cookie
    /// was found.
    private var nonCookies: (finding: String, first: Int, count: Int)?
    private var hasCookies = false

    init(_ dialect: CookieDialect, _ start: CaptureStart) {
        let host = start.url.flatMap { try? RequestURL($0) }?.host.description
        members = CookieMembers(dialect: dialect, host: host)
        source = start.source
        origins = StorageStateOrigins(source: source)
    }

    static func keepsLoneSurrogates(in context: Context) -> Bool {
        if case .storageItem = context { true } else { false }
    }

    mutating func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: Context
    ) -> JSONPart<Context> {
        switch (context, container) {
        case (.document, .object): return .enter(.members)
        case (.document, .array): return list(.list)
        case (.members, .array) where name.equals("cookies") || name.equals("value"): return list(.list)
        case (.members, .object) where name.equals("cookies"): return list(.map)
        case (.members, .object) where name.equals("result"): return .enter(.members)
        case (.members, .array) where name.equals("origins"): return .enter(.origins)
        case (.members, .object) where name.equals("partitionKey"): return .take(.partition)
        case (.list, _): return .take(.cookie)
        case (.map, _): return .take(.namedCookie)
        case (.origins, .object):
            origins.beginOrigin()
            return .enter(.origin)
        case (.origin, _) where name.equals("origin"): return .take(.originName)
        case (.origin, .array) where name.equals("localStorage"): return .enter(.storage)
        case (.origin, .array) where name.equals("indexedDB"): return .enter(.databases)
        case (.storage, _): return .take(.storageItem)
        case (.databases, _):
            origins.skipDatabase()
            return .skip
        default: return .skip
        }
    }

    private mutating func list(_ context: Context) -> JSONPart<Context> {
        hasList = true
        return .enter(context)
    }

    mutating func take(
        _ value: JSONValue, as context: Context, named name: Octets, isWhole: Bool, into items: inout [CaptureItem]
    ) {
        switch context {
        case .partition:
            guard value.object?["sourceOrigin"] != nil else { return }
            return items.append(.failure(.partitionUnclear, at: CapturePlace(source: source)))
        case .originName: return origins.take(name: value, into: &items)
        case .storageItem: return origins.take(item: value, isWhole: isWhole, into: &items)
        default: break
        }
        entryCount += 1
        let place = CapturePlace(source: source, entry: entryCount)
        guard isWhole else { return items.append(.failure(.entryTooLarge, at: place)) }
        var ownName: Octets?
        if case .namedCookie = context { ownName = name }
        switch members.cookie(value, named: ownName) {
        case .notCookie(let finding) where !hasCookies:
            nonCookies = (nonCookies?.finding ?? finding, nonCookies?.first ?? entryCount, (nonCookies?.count ?? 0) + 1)
            return
        case .notCookie(let finding): items.append(.failure(.entryMalformed(finding), at: place))
        case .cookie(let record): append(.cookie(record, place), to: &items)
        case .malformed(let finding): append(.failure(.entryMalformed(finding), at: place), to: &items)
        case .domainMissing: append(.failure(.domainMissing, at: place), to: &items)
        }
    }

    /// Appends an entry that shows that this is a list of cookies, preceded by the failures of earlier entries.
    private mutating func append(_ item: CaptureItem, to items: inout [CaptureItem]) {
        hasCookies = true
        if let nonCookies {
            let place = CapturePlace(source: source, entry: nonCookies.first)
            items.append(.failure(.entryMalformed(nonCookies.finding), at: place))
            if nonCookies.count > 1 { items.append(.failure(.entriesMalformed(nonCookies.count - 1), at: place)) }
            self.nonCookies = nil
        }
        items.append(item)
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source)
        if let nonCookies {
            items.append(
                .failure(
                    .notCookieList(nonCookies.finding, entry: nonCookies.first, count: nonCookies.count), at: place))
        }
        if isWhole, !hasList { items.append(.failure(.noCookieList(members.dialect.title), at: place)) }
        origins.finish(into: &items)
    }
}

/// The place of the Set-Cookie lines in curl's `%{header_json}`: an object with an array of values for each field name,
/// in lower case.
///
/// It contains neither the URL nor the status: the caller gives the URL, and the status counts as unknown.
struct HeaderJSONOutline: JSONOutline {
    enum Context: Sendable {
        case document
        case fields
        /// The array of a field's values, and one of them.
        case values(isDate: Bool)
        case value(isDate: Bool)
    }

    static let start = Context.document

    private let source: String
    private let url: String?
    private var lines = SetCookieLines()
    private var date: Timestamp?
    private var hasFields = false
    let entryCount = 0

    init(_ start: CaptureStart) {
        source = start.source
        url = start.url
    }

    var bufferedByteCount: Int { lines.bufferedByteCount }

    mutating func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: Context
    ) -> JSONPart<Context> {
        switch context {
        case .document:
            hasFields = container == .object
            return hasFields ? .enter(.fields) : .skip
        case .fields:
            let isDate = name.equalsIgnoringCase("date")
            guard isDate || name.equalsIgnoringCase("set-cookie") else { return .skip }
            return container == .array ? .enter(.values(isDate: isDate)) : .take(.value(isDate: isDate))
        case .values(let isDate): return .take(.value(isDate: isDate))
        case .value: return .skip
        }
    }

    mutating func take(
        _ value: JSONValue, as context: Context, named name: Octets, isWhole: Bool, into items: inout [CaptureItem]
    ) {
        let place = CapturePlace(source: source)
        switch (context, value) {
        case (.value(isDate: true), .string(let text)): date = date ?? text.withSpan { CookieDate.parse($0) }
        case (.value(isDate: true), _): break
        case (_, .string(let line)): line.withSpan { lines.append($0) }
        case (_, .tooLong): items.append(.failure(.fieldTooLong, at: place))
        default: items.append(.failure(.lineMalformed("A Set-Cookie value is not a string."), at: place))
        }
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source, entry: 1)
        guard hasFields else {
            let finding = "The input is JSON without fields, so it is not what curl writes for %{header_json}."
            return items.append(.failure(.inputUnrecognized(finding), at: CapturePlace(source: source)))
        }
        if lines.isOverfull { items.append(.failure(.responseTooLarge, at: place)) }
        guard let url else { return items.append(.failure(.urlMissing, at: place)) }
        items.append(
            .response(
                CapturedResponse(
                    url: url, urlOrigin: .given, status: 0, time: date, setCookie: lines.octets, place: place)))
    }
}
