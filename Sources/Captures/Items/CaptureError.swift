public import WebPrimitives

/// Why a part of a capture, or all of it, could not be read.
///
/// An error never contains a cookie's value, a field's value or a URL.
public struct CaptureError: DescribedError, Sendable, Hashable {
    /// How much it matters.
    package enum Severity: Sendable, Hashable {
        /// Something was lost.
        case problem
        /// Nothing was lost: the capture contains data without cookies, or data that the user should know about.
        case notice
    }

    /// The kind of failure, as a stable identifier.
    public let code: Code
    /// How much it matters.
    package let severity: Severity
    /// The number of cookies or Set-Cookie lines that the failure affects, as far as it is known.
    public let count: Int
    /// The number of items of `localStorage` that the failure affects.
    package let storageItemCount: Int
    /// Where.
    public let place: CapturePlace
    /// The problem and its remedy, in one or two sentences.
    public let message: String

    package init(_ failure: CaptureFailure, at place: CapturePlace) {
        code = failure.code
        severity = failure.severity
        count = failure.count
        storageItemCount = failure.storageItemCount
        message = failure.message
        self.place = place
    }

    /// The place and the message.
    public var description: String { "\(place): \(message)" }
}

extension CaptureError {
    /// The kind of failure, as a stable identifier. More codes may be added: match those you know and handle the rest
    /// alike.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let identifier: String

        private init(_ identifier: String) {
            self.identifier = identifier
        }

        /// The identifier: `input-empty`.
        public var description: String { identifier }

        /// There is nothing in the input but white space.
        package static let inputEmpty = Code("input-empty")
        /// The input is in no known format, or does not continue as its beginning promised.
        package static let inputUnrecognized = Code("input-unrecognized")
        /// The input ends early; the parts that were complete before its end were read.
        package static let inputTruncated = Code("input-truncated")
        /// One entry is broken and was left out.
        package static let entryMalformed = Code("entry-malformed")
        /// A line or field is longer than ``CaptureLimits/fieldByteCount`` and was left out.
        package static let lineTooLong = Code("line-too-long")
        /// A line does not have the form that its place requires and was left out.
        package static let lineMalformed = Code("line-malformed")
        /// The capture does not contain the request's URL, and the caller did not give one.
        package static let urlMissing = Code("url-missing")
        /// The document's syntax is broken; the parts before the error were read.
        package static let jsonMalformed = Code("json-malformed")
        /// The document's values are nested deeper than ``CaptureLimits/nestingDepth``.
        package static let nestingTooDeep = Code("nesting-too-deep")
        /// One response has more Set-Cookie lines than ``CaptureLimits/responseByteCount`` holds; the first were read.
        package static let responseTooLarge = Code("response-too-large")
        /// Bytes that look like a response were not read, since its cookies may not belong to the current URL.
        package static let responseSkipped = Code("response-skipped")
        /// Several Set-Cookie lines were joined to one by the writer and cannot be separated.
        package static let setCookieJoined = Code("set-cookie-joined")
        /// The capture holds databases of pages, which are not read. A notice.
        package static let storageIgnored = Code("storage-ignored")
        /// Items of `localStorage` cannot be read, or are too long.
        package static let storageLeftOut = Code("storage-left-out")
        /// wget wrote a cookie file, which has no session cookies. A notice.
        package static let sessionCookiesMissing = Code("session-cookies-missing")
        /// The columns of a cookie file disagree on whether subdomains get a cookie. A notice.
        package static let subdomainsContradicted = Code("subdomains-contradicted")
        /// An archive has files in no known format. A notice.
        package static let filesPassedOver = Code("files-passed-over")
        /// Whether a list's cookies are partitioned cannot be told. A notice.
        package static let partitionUnclear = Code("partition-unclear")
        /// No request of a capture carries a cookie and no response sets one, the browsers' default. A notice.
        package static let cookiesSanitized = Code("cookies-sanitized")
        /// The tool that made the capture left values out.
        package static let valuesStripped = Code("values-stripped")
        /// Scripts may have set cookies that the capture does not tell. A notice.
        package static let cookiesUntold = Code("cookies-untold")
        /// The browser's database cannot be read.
        package static let databaseUnreadable = Code("browser-database-unreadable")
        /// The browser keeps cookies apart that were not asked for. A notice.
        package static let otherContainer = Code("other-container")
        /// A cookie's value cannot be read without a key that is not there.
        package static let valueEncrypted = Code("value-encrypted")
    }
}

/// A place in a capture, in the words a person uses to find it again.
public struct CapturePlace: Sendable, Hashable, CustomStringConvertible {
    /// The name of the capture: a file's name or "standard input".
    public var source: String
    /// Which entry, counted from 1: a HAR entry, a header block, a cookie of a list, a row of a database.
    public var entry: Int?
    /// Which line, counted from 1.
    public var line: Int?
    /// Which byte of the line, counted from 1.
    public var column: Int?

    /// A place in the capture called `source`.
    package init(source: String, entry: Int? = nil, line: Int? = nil, column: Int? = nil) {
        self.source = source
        self.entry = entry
        self.line = line
        self.column = column
    }

    /// The place for a message: `capture.har: entry 3`, `cookies.txt: line 12`.
    public var description: String {
        var parts: [String] = []
        if let entry { parts.append("entry \(entry)") }
        if let line { parts.append("line \(line)") }
        if let column { parts.append("column \(column)") }
        return parts.isEmpty ? source : "\(source): \(parts.joined(separator: ", "))"
    }
}
