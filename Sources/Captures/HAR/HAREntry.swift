import CookieModel

/// The members read of one entry of a HAR, in whatever order they came.
struct HAREntry {
    var url: String?
    var method: String?
    var status = 0
    var time: Timestamp?
    /// Whether it has a time that cannot be read.
    var hasBrokenTime = false
    /// A day: no answer takes longer.
    static let longestDuration: Int64 = 86_400_000_000
    /// How long it took, in microseconds.
    var duration: Int64 = 0
    var setCookie = SetCookieLines()
    /// The evidence in the request's header.
    var request = RequestHead()
    /// The names of the page and of the frame in it.
    var pageID: String?
    var frameID: String?
    /// The resource type that Chromium's tools give, and the URL of the request's initiator.
    var resourceType: String?
    var initiator: String?
    var location: Octets?
    /// How many Set-Cookie values were longer than ``CaptureLimits/fieldByteCount``.
    var tooLongCount = 0

    /// The names in the response's `cookies`, which tell a joined Set-Cookie value apart.
    var cookieNames = HARCookieNames()

    /// The defect of the request, and that of the response, in words; the first one found counts.
    private(set) var requestProblem: String?
    private(set) var responseProblem: String?
    private(set) var isURLTooLong = false

    /// The defect that makes the entry unusable, if there is one.
    var problem: String? {
        requestProblem ?? responseProblem ?? (url == nil ? "Its request has no url." : nil)
    }

    /// Forgets everything, for the next entry.
    mutating func reset() {
        resetRequest()
        resetResponse()
        (time, hasBrokenTime, duration) = (nil, false, 0)
        (pageID, frameID, resourceType, initiator) = (nil, nil, nil, nil)
    }

    /// The evidence for the request's context.
    ///
    /// - Parameter page: the URL of the entry's page, where the document names it.
    func evidence(page: String?) -> RequestEvidence {
        var evidence = request.evidence
        evidence.pageID = pageID
        evidence.frameID = frameID
        evidence.page = page
        evidence.initiator = initiator
        evidence.location = location
        evidence.isDocument = resourceType == "document"
        if resourceType != nil, !evidence.isDocument { evidence.destination = evidence.destination ?? .subresource }
        return evidence
    }

    /// Forgets the request: the last `request` member counts.
    mutating func resetRequest() {
        method = nil
        request = RequestHead()
        resetURL()
    }

    /// Forgets the URL: the last `url` member counts.
    mutating func resetURL() {
        url = nil
        requestProblem = nil
        isURLTooLong = false
    }

    /// Forgets the response: the last `response` member counts.
    mutating func resetResponse() {
        status = 0
        cookieNames.removeAll()
        resetHeaders()
    }

    /// Forgets the header fields: the last `headers` member counts.
    mutating func resetHeaders() {
        setCookie.removeAll()
        location = nil
        tooLongCount = 0
        responseProblem = nil
    }

    /// Records a defect of the request.
    mutating func rejectRequest(_ problem: String) {
        requestProblem = requestProblem ?? problem
    }

    /// Notes that the URL is longer than any that is read.
    mutating func rejectLongURL() {
        isURLTooLong = true
        rejectRequest("Its request's url is longer than 1 MiB.")
    }

    /// Records a defect of the response.
    mutating func rejectResponse(_ problem: String) {
        responseProblem = responseProblem ?? problem
    }
}

/// The parts read of one member of `headers`. Its name may come after its value.
struct HARHeader {
    enum Name {
        case missing
        case setCookie
        case location
        case request(RequestField)
        case other
        case notText
    }

    enum Value {
        case missing
        case text
        case tooLong
        case notText
    }

    var name = Name.missing
    var value = Value.missing
    /// The value, where it is text.
    var text: [UInt8] = []

    /// Whether the value is of interest, as far as can be told.
    var wantsValue: Bool {
        switch name {
        case .missing, .setCookie, .location, .request: true
        case .other, .notText: false
        }
    }

    /// Forgets everything, for the next header.
    mutating func reset() {
        name = .missing
        value = .missing
        text.removeAll(keepingCapacity: text.capacity <= 4096)
    }
}

/// How a HAR's writer made text of the octets of a header field.
enum HARTextEncoding {
    /// As UTF-8, as far as it is known.
    case utf8
    /// As windows-1252, which gives each octet one character: Chromium's developer tools, and all that ask them.
    case windows1252

    /// The characters of windows-1252 from 0x80 to 0x9F; all others have the number of their octet.
    private static let upperControls: [UInt32] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]

    /// The octets that became `text`, which is UTF-8; `nil` if it has a character that no octet becomes.
    func octets(of text: [UInt8]) -> [UInt8]? {
        guard self == .windows1252, text.contains(where: { $0 >= 0x80 }) else { return text }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if scalar.value < 0x80 || 0xA0...0xFF ~= scalar.value {
                octets.append(UInt8(scalar.value))
            } else if let place = HARTextEncoding.upperControls.firstIndex(of: scalar.value) {
                octets.append(UInt8(0x80 + place))
            } else {
                return nil
            }
        }
        return octets
    }
}
