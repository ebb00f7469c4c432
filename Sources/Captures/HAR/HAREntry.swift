import CookieModel

/// What has been read of one entry of a HAR, in whatever order its members came.
struct HAREntry {
    var url: String?
    var method: String?
    var status = 0
    var time: Timestamp?
    /// A day: no answer takes longer.
    static let longestDuration: Int64 = 86_400_000_000
    /// How long it took, in microseconds.
    var duration: Int64 = 0
    var setCookie = SetCookieLines()
    /// What the request's header tells.
    var request = RequestHead()
    /// The names of the page and of the frame in it.
    var pageID: String?
    var frameID: String?
    /// What Chromium's tools call the resource, and the URL of what asked for it.
    var resourceType: String?
    var initiator: String?
    var location: Octets?
    /// How many Set-Cookie values were longer than ``CaptureLimits/fieldByteCount``.
    var tooLongCount = 0

    /// The names in the response's `cookies`, which tell a joined Set-Cookie value apart.
    var cookieNames = HARCookieNames()

    /// What is wrong with the request, and with the response, in words; the first thing found counts.
    private(set) var requestProblem: String?
    private(set) var responseProblem: String?
    private(set) var isURLTooLong = false

    /// What makes the entry useless, if anything does.
    var problem: String? {
        requestProblem ?? responseProblem ?? (url == nil ? "Its request has no url." : nil)
    }

    /// Forgets everything, for the next entry.
    mutating func reset() {
        resetRequest()
        resetResponse()
        (time, duration) = (nil, 0)
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

    /// Notes what is wrong with the request.
    mutating func rejectRequest(_ problem: String) {
        requestProblem = requestProblem ?? problem
    }

    /// Notes that the URL is longer than any that is read.
    mutating func rejectLongURL() {
        isURLTooLong = true
        rejectRequest("Its request's url is longer than 1 MiB.")
    }

    /// Notes what is wrong with the response.
    mutating func rejectResponse(_ problem: String) {
        responseProblem = responseProblem ?? problem
    }
}
