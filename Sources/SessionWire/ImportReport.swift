/// The outcome of every `Set-Cookie` line and cookie of one capture.
///
/// Its lists hold the first ten entries; ``omitted`` counts the others.
public struct ImportReport: Codable, Sendable {
    /// How many more entries each list would have.
    public struct Omitted: Codable, Sendable {
        /// How many more lines were rejected.
        public package(set) var refused = 0
        /// How many more cookies were evicted.
        public package(set) var evicted = 0
        /// How many more failures there are.
        public package(set) var failures = 0
        /// How many more notes there are.
        public package(set) var notes = 0
        /// How many more cookies had expired.
        public package(set) var expiredNames = 0
    }

    /// A line that was rejected.
    public struct Refusal: Codable, Sendable {
        /// The place in the capture.
        public let place: String
        /// The number of the `Set-Cookie` line in its response, from 1.
        public let line: Int?
        /// The name.
        public let name: String?
        /// The reasons.
        public let reasons: [ReasonReport]
        /// Where the request was made, if it was a third party's.
        public let thirdParty: ThirdParty?

        package init(
            place: String, line: Int? = nil, name: String? = nil, reasons: [ReasonReport], thirdParty: ThirdParty? = nil
        ) {
            self.place = place
            self.line = line
            self.name = name
            self.reasons = reasons
            self.thirdParty = thirdParty
        }
    }

    /// The context of a third party's request.
    public struct ThirdParty: Codable, Sendable {
        /// The origin of the page in the address bar, if it is known.
        public let topLevel: String?
        /// The member of the capture that names it.
        public let source: String

        package init(topLevel: String? = nil, source: String) {
            self.topLevel = topLevel
            self.source = source
        }
    }

    /// The outcome of the cookies that requests sent.
    public struct RequestCookieCounts: Codable, Sendable {
        /// How many cookies were stored.
        public package(set) var taken = 0
        /// How many were left out because a cookie of that name was set for their host.
        public package(set) var alreadySet = 0
        /// How many were left out because a third party's request sent them: their partition is unknown.
        public package(set) var thirdParty = 0
        /// How many were left out because their request sent another of the same name first.
        public package(set) var duplicates = 0
        /// How many were left out because a response set them, before the request, with a lifetime that is over.
        public package(set) var expired = 0
        /// How many were left out because a response deleted them after the request, according to the jar's journal.
        public package(set) var deleted = 0
        /// How many were left out because the jar has them from a later request.
        public package(set) var older = 0

        package init() {}

        /// The sum of all counts, without those that were rejected.
        package var total: Int { taken + alreadySet + thirdParty + duplicates + expired + deleted + older }
    }

    /// The outcome of the cookies that third parties set.
    public struct ThirdParties: Codable, Sendable {
        /// How many responses of third parties set cookies.
        public package(set) var responses = 0
        /// How many of their cookies were stored or replaced one.
        public package(set) var stored = 0
        /// How many of those are in the partition of the page.
        public package(set) var partitioned = 0
        /// How many of their cookies were rejected.
        public package(set) var refused = 0

        package init() {}
    }

    /// The earlier import of the same capture.
    public struct EarlierImport: Codable, Sendable {
        /// The name of the capture.
        public let source: String
        /// When it was imported (RFC 3339).
        public let at: String

        package init(source: String, at: String) {
            self.source = source
            self.at = at
        }
    }

    /// A cookie that made room for others, from this capture or stored before.
    public struct Evicted: Codable, Sendable {
        /// The name.
        public let name: String
        /// The domain.
        public let domain: String
        /// The path.
        public let path: String
        /// The reason.
        public let reason: ReasonReport

        package init(name: String, domain: String, path: String, reason: ReasonReport) {
            self.name = name
            self.domain = domain
            self.path = path
            self.reason = reason
        }
    }

    /// A part of a capture that could not be read or was left out: a stable code, and one sentence.
    public struct Failure: Codable, Sendable {
        /// The name of the capture.
        public let source: String
        /// The stable code.
        public let code: String
        /// One sentence.
        public let message: String

        package init(code: String, message: String, source: String) {
            self.source = source
            self.code = code
            self.message = message
        }
    }

    /// The name of the capture.
    public let source: String
    /// The name of the format.
    public package(set) var format: String?
    /// The earlier import of the same capture into the jar: nothing was changed.
    public package(set) var alreadyImported: EarlierImport?
    /// How many responses were read.
    public package(set) var responses = 0
    /// How many lines and cookies were read.
    public package(set) var lines = 0
    /// How many cookies were stored.
    public package(set) var taken = 0
    /// How many cookies were replaced.
    public package(set) var replaced = 0
    /// How many cookies were deleted.
    public package(set) var deleted = 0
    /// How many of the deletions found no cookie to delete.
    public package(set) var deletedNothing = 0
    /// How many had expired since they were received, so that they were not stored.
    public package(set) var expired = 0
    /// The names of these.
    public package(set) var expiredNames: [String] = []
    /// How many cookies and lines could not be read, as far as that is known.
    public package(set) var unreadable = 0
    /// How many items of `localStorage` were stored.
    public package(set) var storageItems = 0
    /// How many items did not fit, or could not be read.
    public package(set) var storageItemsLeftOut = 0
    /// How many cookies the requests carried, in responses that set none.
    public package(set) var carriedCookies = 0
    /// For each property that the format does not state, how many cookies kept the one that the jar had.
    public package(set) var kept: [String: Int] = [:]
    /// How many cookies of a store lived longer than the rules allow, so that their lifetimes were cut.
    public package(set) var lifetimesCut = 0
    /// How many cookies were witnesses of a gateway, which no jar stores.
    public package(set) var witnesses = 0
    /// The lines that were rejected, without witnesses of a gateway.
    public package(set) var refused: [Refusal] = []
    /// The outcome of the cookies that third parties set; `nil` if none did.
    public package(set) var thirdParties: ThirdParties?
    /// The outcome of the cookies that requests sent; `nil` if none were requested or found.
    public package(set) var requestCookies: RequestCookieCounts?
    /// The cookies that were evicted.
    public package(set) var evicted: [Evicted] = []
    /// The parts that could not be read.
    public package(set) var failures: [Failure] = []
    /// Other data of the capture, and data that was left out because it was not requested.
    public package(set) var notes: [Failure] = []
    /// The numbers of entries beyond the ten that each list holds.
    public package(set) var omitted = Omitted()
    /// Why nothing was stored, replaced or deleted, if nothing was and no failure is the reason.
    public package(set) var nothingImported: Failure?

    package init(source: String) {
        self.source = source
    }
}

/// A line of the answer to a capture whose progress is followed: how far it has come, and at last the report.
public struct CaptureProgressLine: Codable, Sendable {
    /// How far a capture was read.
    public struct Progress: Codable, Sendable {
        /// How many bytes were read.
        public let bytes: Int
        /// How many entries were read.
        public let entries: Int
        /// How many cookies were read.
        public let cookies: Int

        package init(bytes: Int, entries: Int, cookies: Int) {
            self.bytes = bytes
            self.entries = entries
            self.cookies = cookies
        }
    }

    /// How far the capture was read.
    public let progress: Progress?
    /// The report.
    public let report: ImportReport?
    /// The problem.
    public let problem: ProblemReport?

    package init(progress: Progress? = nil, report: ImportReport? = nil, problem: ProblemReport? = nil) {
        self.progress = progress
        self.report = report
        self.problem = problem
    }
}

/// The outcome of every cookie of an export.
public struct ExportReport: Codable, Sendable {
    /// A cookie that the format cannot hold.
    public struct LeftOut: Codable, Sendable {
        /// The cookie.
        public let cookie: CookieIdentityReport
        /// The reason.
        public let reason: ReasonReport

        package init(cookie: CookieIdentityReport, reason: ReasonReport) {
            self.cookie = cookie
            self.reason = reason
        }
    }

    /// A property that the format cannot hold.
    public struct NotKept: Codable, Sendable {
        /// The stable identifier.
        public let id: String
        /// The title.
        public let title: String
        /// The consequence of the loss.
        public let consequence: String
        /// How many cookies have the property.
        public package(set) var count: Int = 0
        /// The cookies that have the property: the first thousand.
        public package(set) var cookies: [CookieIdentityReport] = []

        package init(
            id: String, title: String, consequence: String, count: Int = 0, cookies: [CookieIdentityReport] = []
        ) {
            self.id = id
            self.title = title
            self.consequence = consequence
            self.count = count
            self.cookies = cookies
        }
    }

    /// The name of the format.
    public let format: String
    /// The file; `nil` for standard output.
    public package(set) var output: String?
    /// How many cookies were written.
    public package(set) var written = 0
    /// How many items of `localStorage` were written.
    public package(set) var storageItems = 0
    /// How many were not written because the format holds none.
    public package(set) var storageItemsLeftOut = 0
    /// How many have a stored value that cannot be read.
    public package(set) var storageItemsUnreadable = 0
    /// The cookies that the format cannot hold.
    public package(set) var leftOut: [LeftOut] = []
    /// The properties that the format cannot hold.
    public package(set) var notKept: [NotKept] = []
    /// Cookies whose lifetime is over.
    public package(set) var expired = 0
    /// Cookies whose stored value cannot be read.
    public package(set) var unreadable: [CookieIdentityReport] = []

    package init(format: String, output: String?) {
        self.format = format
        self.output = output
    }
}
