extension CaptureError {
    /// What is wrong, as a stable identifier. More codes may come: match those you know and handle the rest alike.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private let identifier: String

        private init(_ identifier: String) {
            self.identifier = identifier
        }

        /// The identifier: `input-empty`.
        public var description: String { identifier }

        /// There is nothing in the input but white space.
        public static let inputEmpty = Code("input-empty")
        /// The input is in no format that is known here, or is not what its beginning promised.
        public static let inputUnrecognized = Code("input-unrecognized")
        /// The input ends early; what was complete before its end was read.
        public static let inputTruncated = Code("input-truncated")
        /// One entry is broken and was left out.
        public static let entryMalformed = Code("entry-malformed")
        /// A line or field is longer than ``CaptureLimits/fieldByteCount`` and was left out.
        public static let lineTooLong = Code("line-too-long")
        /// A line is not what its place asks for and was left out.
        public static let lineMalformed = Code("line-malformed")
        /// The capture does not say what was asked for, and the caller did not either.
        public static let urlMissing = Code("url-missing")
        /// The document's syntax is broken; what was complete before was read.
        public static let jsonMalformed = Code("json-malformed")
        /// The document's values are nested deeper than ``CaptureLimits/nestingDepth``.
        public static let nestingTooDeep = Code("nesting-too-deep")
        /// One response has more Set-Cookie lines than ``CaptureLimits/responseByteCount`` holds; the first were read.
        public static let responseTooLarge = Code("response-too-large")
        /// What looks like a response was not read, since its cookies may not belong to the URL at hand.
        public static let responseSkipped = Code("response-skipped")
        /// Several Set-Cookie lines were joined to one by the writer and cannot be told apart.
        public static let setCookieJoined = Code("set-cookie-joined")
        /// The capture holds databases of pages, which are not read. A notice.
        public static let storageIgnored = Code("storage-ignored")
        /// Items of `localStorage` cannot be read, or are too long.
        public static let storageLeftOut = Code("storage-left-out")
        /// Whether a list's cookies are partitioned cannot be told. A notice.
        public static let partitionUnclear = Code("partition-unclear")
        /// No request of a capture carries a cookie and no response sets one; the browser leaves them out unless it is
        /// told not to. A notice.
        public static let cookiesSanitized = Code("cookies-sanitized")
        /// The tool that made the capture left values out.
        public static let valuesStripped = Code("values-stripped")
        /// Scripts may have set cookies that the capture does not tell. A notice.
        public static let cookiesUntold = Code("cookies-untold")
        /// The browser's database cannot be read.
        public static let databaseUnreadable = Code("browser-database-unreadable")
        /// The browser keeps cookies apart that were not asked for. A notice.
        public static let otherContainer = Code("other-container")
        /// A cookie's value cannot be read without a key that is not there.
        public static let valueEncrypted = Code("value-encrypted")
    }
}
