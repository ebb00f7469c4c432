import CookieModel

/// Where the Set-Cookie lines stand in what curl writes for `%{header_json}`: an object with an array of values for
/// each field name, in lower case.
///
/// It tells neither the URL nor the status: the caller gives the URL, and the status counts as not known.
struct HeaderJSONOutline: JSONOutline {
    enum Context: Sendable {
        case document
        case fields
        case setCookieValues
        case dateValues
        case setCookie
        case date
    }

    static let start = Context.document

    private let source: String
    private let url: String?
    private var lines = SetCookieLines()
    private var date: Timestamp?
    private var hasFields = false
    let entryCount = 0

    init(source: String, url: String?) {
        self.source = source
        self.url = url
    }

    var bufferedByteCount: Int { lines.bufferedByteCount }

    mutating func part(
        named name: Span<UInt8>, holding container: JSONContainer?, in context: Context
    ) -> JSONPart<Context> {
        switch context {
        case .document:
            guard container == .object else { return .skip }
            hasFields = true
            return .enter(.fields)
        case .fields:
            let isSetCookie = name.equalsIgnoringCase("set-cookie")
            guard isSetCookie || name.equalsIgnoringCase("date") else { return .skip }
            if container == .array { return .enter(isSetCookie ? .setCookieValues : .dateValues) }
            return .take(isSetCookie ? .setCookie : .date)
        case .setCookieValues: return .take(.setCookie)
        case .dateValues: return .take(.date)
        case .setCookie, .date: return .skip
        }
    }

    mutating func take(
        _ value: JSONValue, as context: Context, named name: Octets, isWhole: Bool, into items: inout [CaptureItem]
    ) {
        let place = CapturePlace(source: source)
        switch (context, value) {
        case (.date, .string(let text)): date = date ?? text.withSpan { CookieDate.parse($0) }
        case (.date, _): break
        case (_, .string(let line)): line.withSpan { lines.append($0) }
        case (_, .tooLong): items.append(.failure(.fieldTooLong(at: place)))
        default: items.append(.failure(.lineMalformed("A Set-Cookie value is not a string.", at: place)))
        }
    }

    mutating func finish(isWhole: Bool, into items: inout [CaptureItem]) {
        let place = CapturePlace(source: source, entry: 1)
        guard hasFields else {
            let finding = "The input is JSON without fields, so it is not what curl writes for %{header_json}."
            return items.append(.failure(.inputUnrecognized(finding, at: CapturePlace(source: source))))
        }
        if lines.isOverfull { items.append(.failure(.responseTooLarge(at: place))) }
        guard let url else { return items.append(.failure(.urlMissing(at: place))) }
        items.append(
            .response(
                CapturedResponse(
                    url: url, urlOrigin: .given, status: 0, time: date, setCookie: lines.octets, place: place)))
    }
}
