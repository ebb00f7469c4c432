public import CookieModel

/// One thing that a capture holds, in the order of the capture.
public enum CaptureItem: Sendable, Hashable {
    /// A response, whether it sets cookies or not.
    case response(CapturedResponse)
    /// A cookie from another program's store; a store's dump does not pretend to be a response.
    case cookie(CookieRecord, CapturePlace)
    /// An item of a page's `localStorage`.
    case storage(WebStorageItem, CapturePlace)
    /// A part that could not be read; the parts around it were.
    case failure(CaptureError)

    /// The place in the capture.
    public var place: CapturePlace {
        switch self {
        case .response(let response): response.place
        case .cookie(_, let place), .storage(_, let place): place
        case .failure(let error): error.place
        }
    }
}

extension CaptureItem {
    /// A part that could not be read, and where it is.
    package static func failure(_ failure: CaptureFailure, at place: CapturePlace) -> CaptureItem {
        .failure(CaptureError(failure, at: place))
    }

    /// The item, its cookie saying nothing about the properties that its format has no place for.
    package func leavingOpen(_ unstated: CookieProperties) -> CaptureItem {
        guard !unstated.isEmpty, case .cookie(var record, let place) = self else { return self }
        record.unstated.formUnion(unstated)
        return .cookie(record, place)
    }
}

extension CaptureItem: ValueHiding {
    /// The kind of item and its place, without cookie names, values or addresses.
    public var description: String {
        switch self {
        case .response(let response): response.description
        case .cookie(_, let place): "\(place): cookie"
        case .storage(_, let place): "\(place): localStorage item"
        case .failure(let error): error.description
        }
    }
}

/// The part of a recorded response that cookies come from.
///
/// Nothing is judged yet: the URL is text, the field values are octets, and every status is included. The cookie rules
/// decide what a status means for its cookies (an informational response may be ignored).
public struct CapturedResponse: Sendable, Hashable {
    /// How the URL of a response is known.
    public enum URLOrigin: Sendable, Hashable {
        /// The capture names it.
        case recorded
        /// The caller named it for the capture.
        case given
        /// The response before, a redirect, named it in its `Location`.
        ///
        /// A dump does not show whether the tool followed the redirect. If it did not, the bytes after the redirect's
        /// header block are its body, which the redirecting server wrote; see ``CaptureFormat/http``.
        case redirect
    }

    /// The URL that was asked for, as written; not parsed.
    public var url: String
    /// How the URL is known.
    public var urlOrigin: URLOrigin
    /// Which side set the cookies: an answer, or a script of the page at the URL.
    public var interface: RequestContext.Interface
    /// The request's method; `nil` if the capture does not tell.
    public var method: String?
    /// The status code; 0 if there was no response, or if the capture does not tell.
    public var status: Int
    /// When it happened: the capture's own time, or else the response's `Date`.
    public var time: Timestamp?
    /// Whether the capture tells when the response came in a way that cannot be read.
    package var lacksTime = false
    /// When the response had arrived, if the capture states more than ``time``.
    package var answerTime: Timestamp?
    /// The field values of the Set-Cookie lines, in order, without white space at their ends.
    public var setCookie: [Octets]
    /// The capture's evidence for the context of the request.
    package var evidence: RequestEvidence
    /// The values of the request's `Cookie` fields, in order.
    package var requestCookies: [Octets]
    /// The cookies that the request sent, if the recorder names them with their attributes.
    package var requestRecords: [CookieRecord] = []
    /// Whether there is nothing but a request, which a person copied for the cookies in it.
    package var isCopiedRequest = false
    /// The place in the capture.
    public var place: CapturePlace

    /// A response from its parts.
    package init(
        url: String, urlOrigin: URLOrigin = .recorded, interface: RequestContext.Interface = .http,
        method: String? = nil, status: Int, time: Timestamp? = nil, setCookie: [Octets],
        evidence: RequestEvidence = RequestEvidence(), requestCookies: [Octets] = [], place: CapturePlace
    ) {
        self.url = url
        self.urlOrigin = urlOrigin
        self.interface = interface
        self.method = method
        self.status = status
        self.time = time
        self.setCookie = setCookie
        self.evidence = evidence
        self.requestCookies = requestCookies
        self.place = place
    }
}

extension CapturedResponse: ValueHiding {
    /// Place, status and number of Set-Cookie lines; no URL, whose query may be a secret, and no value.
    public var description: String {
        "\(place): status \(status), \(setCookie.count) Set-Cookie \(setCookie.count == 1 ? "line" : "lines")"
    }
}
