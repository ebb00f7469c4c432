import CookieModel
import HTTPMessages
import WebPrimitives

/// Finds the responses in the entries of a HAR, and the evidence for the context of their requests.
struct HARCapture {
    /// The programs whose way with text is known.
    enum Program {
        case playwright
        case chromiumDeveloperTools
        case crumb

        init?(_ name: HARValue) {
            switch name.text {
            case "Playwright": self = .playwright
            case "WebInspector": self = .chromiumDeveloperTools
            case "crumb": self = .crumb
            default: return nil
            }
        }
    }

    /// The members that are read of a HAR: the path to the responses' fields, the names in `cookies`, the writer's name,
    /// and the evidence for the context of a request.
    static let selection = HARSelection([
        .creatorName, .browserName, .pageID, .pageTitle, .startedDateTime, .time, .pageReference, .frameReference,
        .resourceType, .initiatorURL, .method, .url, .requestFields, .status, .responseFields, .cookies,
    ]) { name, list in
        list == .requestFields
            ? RequestField(name) != nil : name.equalsIgnoringCase("set-cookie") || name.equalsIgnoringCase("location")
    }

    /// A day: no answer takes longer.
    private static let longestDuration: Int64 = 86_400_000_000

    let source: String
    private var count = 0
    /// Whether a request carried a cookie, or a response set one.
    private(set) var hasCookies = false
    /// The number of cookies in the `cookies` of responses without a Set-Cookie header.
    private(set) var headerlessCount = 0

    init(source: String) {
        self.source = source
    }

    /// Takes the next entry.
    mutating func take(_ entry: HAREntry, into items: inout [CaptureItem]) {
        count += 1
        let place = CapturePlace(source: source, entry: count)
        let encoding = HARTextEncoding(of: entry)
        let answer = HARAnswer(entry, encoding)
        guard let url = entry[.url].text, answer.problem == nil, HARCapture.requestProblem(of: entry) == nil else {
            let problem = HARCapture.requestProblem(of: entry) ?? answer.problem ?? "Its request has no url."
            let isTooLong = if case .tooLong = entry[.url] { true } else { false }
            items.append(.failure(isTooLong ? .tooLong(problem) : .entryMalformed(problem), at: place))
            return
        }
        for _ in 0..<answer.tooLongCount { items.append(.failure(.fieldTooLong, at: place)) }
        if answer.isOverfull { items.append(.failure(.responseTooLarge, at: place)) }
        let names = HARCookieNames(entry.cookies)
        var lines = answer.setCookie.octets
        if lines.count == 1, names.hasMultiple {
            lines = names.lines(in: lines[0])
            if lines.isEmpty { items.append(.failure(.setCookieJoined, at: place)) }
        } else if lines.isEmpty, answer.tooLongCount == 0 {
            headerlessCount += names.count
        }
        let request = HARCapture.request(entry, encoding)
        if !lines.isEmpty || !request.cookies.isEmpty { hasCookies = true }
        let time = HARCapture.time(of: entry)
        var response = CapturedResponse(
            url: url, method: entry[.method].octets?.utf8String, status: entry[.status].integer ?? 0, time: time,
            setCookie: lines, evidence: HARCapture.evidence(entry, request, answer.location),
            requestCookies: request.cookies.octets, place: place)
        if case .missing = entry[.startedDateTime] {} else { response.lacksTime = time == nil }
        if case .number(_, let millionths) = entry[.time] {
            // In milliseconds; -1 says that it is not known.
            let duration = min(max(0, millionths / 1000), HARCapture.longestDuration)
            response.answerTime = time.map { Timestamp(microseconds: $0.microseconds + duration) }
        } else {
            response.answerTime = time
        }
        items.append(.response(response))
    }

    /// The defect of an entry, its request and its URL, in words.
    private static func requestProblem(of entry: HAREntry) -> String? {
        switch (entry[.entry], entry[.request], entry[.url]) {
        case (.read, .missing, _), (.read, .read, .missing), (.read, .read, .string): nil
        case (.read, .read, .tooLong): "Its request's url is longer than 1 MiB."
        case (.read, .read, _): "Its request's url is not a string."
        case (.read, _, _): "Its request is not an object."
        default: "It is not an object."
        }
    }

    /// The evidence in the request's fields, and its cookies. No entry is left out for a field of its request.
    private static func request(_ entry: HAREntry, _ encoding: HARTextEncoding) -> RequestHead {
        var request = RequestHead()
        for case let field? in entry.requestFields.elements {
            guard let name = field.name.octets?.withSpan({ RequestField($0) }), let value = field.value.octets
            else { continue }
            request.take(name, encoding.octets(of: value.bytes).span)
        }
        return request
    }

    /// The evidence for the context of the request.
    private static func evidence(
        _ entry: HAREntry, _ request: RequestHead, _ location: Octets?
    ) -> RequestEvidence {
        var evidence = request.evidence
        evidence.pageID = entry[.pageReference].text
        evidence.frameID = entry[.frameReference].text
        evidence.page = entry.page
        evidence.initiator = entry[.initiatorURL].text
        evidence.location = location
        let type = entry[.resourceType].text
        evidence.isDocument = type == "document"
        if type != nil, !evidence.isDocument { evidence.destination = evidence.destination ?? .subresource }
        return evidence
    }

    /// The moment that a `startedDateTime` names: RFC 3339, or with an offset such as `+0530`, as ISO 8601 allows.
    private static func time(of entry: HAREntry) -> Timestamp? {
        guard var octets = entry[.startedDateTime].octets?.bytes else { return nil }
        let sign = octets.count - 5
        if sign > 0, octets[sign] == ASCII.plus || octets[sign] == ASCII.hyphen,
            octets[(sign + 1)...].allSatisfy(ASCII.isDigit)
        {
            octets.insert(ASCII.colon, at: sign + 3)
        }
        return Timestamp(rfc3339: octets)
    }
}

/// The fields of a response that matter.
private struct HARAnswer {
    private(set) var setCookie = SetCookieLines()
    private(set) var location: Octets?
    /// How many Set-Cookie values were longer than ``CaptureLimits/fieldByteCount``.
    private(set) var tooLongCount = 0
    /// Whether a line was left out since there was no more room.
    private(set) var isOverfull = false
    /// The first defect, in words.
    private(set) var problem: String?

    init(_ entry: HAREntry, _ encoding: HARTextEncoding) {
        switch (entry[.response], entry[.responseFields]) {
        case (.missing, _), (.null, _), (.read, .missing), (.read, .null), (.read, .read): break
        case (.read, _): problem = "Its response's headers are not an array."
        default: problem = "Its response is not an object."
        }
        for field in entry.responseFields.elements where problem == nil { problem = take(field, encoding) }
        isOverfull = setCookie.isOverfull || entry.responseFields.isOverfull
    }

    /// - Returns: The field's defect.
    private mutating func take(_ field: HARField?, _ encoding: HARTextEncoding) -> String? {
        guard let field else { return "A header of its response is not an object." }
        guard let name = field.name.octets else { return "A header of its response has no name that is a string." }
        switch (name.withSpan { $0.equalsIgnoringCase("location") }, field.value) {
        case (true, let value): location = location ?? value.octets
        case (false, .string(let value)): setCookie.append(joined: encoding.octets(of: value.bytes).span)
        case (false, .tooLong): tooLongCount += 1
        case (false, _): return "A Set-Cookie header of its response has no value that is a string."
        }
        return nil
    }
}
