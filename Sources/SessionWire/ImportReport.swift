/// The outcome of every `Set-Cookie` line and cookie of one capture.
///
/// Its lists hold the first ten entries; ``omitted`` counts the others.
package struct ImportReport: Codable, Sendable {
    /// How many more entries each list would have.
    package struct Omitted: Codable, Sendable {
        /// How many more lines were rejected.
        package var refused = 0
        /// How many more cookies were evicted.
        package var evicted = 0
        /// How many more failures there are.
        package var failures = 0
        /// How many more notes there are.
        package var notes = 0
        /// How many more cookies had expired.
        package var expiredNames = 0
    }

    /// A line that was rejected.
    package struct Refusal: Codable, Sendable {
        /// The place in the capture.
        package let place: String
        /// The number of the `Set-Cookie` line in its response, from 1.
        package let line: Int?
        /// The name.
        package let name: String?
        /// The reasons.
        package let reasons: [ReasonReport]
        /// Where the request was made, if it was a third party's.
        package let thirdParty: ThirdParty?

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
    package struct ThirdParty: Codable, Sendable {
        /// The origin of the page in the address bar, if it is known.
        package let topLevel: String?
        /// The member of the capture that names it.
        package let source: String

        package init(topLevel: String? = nil, source: String) {
            self.topLevel = topLevel
            self.source = source
        }
    }

    /// The outcome of the cookies that requests sent.
    package struct RequestCookieCounts: Codable, Sendable {
        /// How many cookies were stored.
        package var taken = 0
        /// How many were left out because a cookie of that name was set for their host.
        package var alreadySet = 0
        /// How many were left out because a third party's request sent them: their partition is unknown.
        package var thirdParty = 0
        /// How many were left out because their request sent another of the same name first.
        package var duplicates = 0
        /// How many were left out because a response set them, before the request, with a lifetime that is over.
        package var expired = 0
        /// How many were left out because a response deleted them after the request, according to the jar's journal.
        package var deleted = 0
        /// How many were left out because the jar has them from a later request.
        package var older = 0

        package init() {}

        /// The sum of all counts, without those that were rejected.
        package var total: Int { taken + alreadySet + thirdParty + duplicates + expired + deleted + older }
    }

    /// The outcome of the cookies that third parties set.
    package struct ThirdParties: Codable, Sendable {
        /// How many responses of third parties set cookies.
        package var responses = 0
        /// How many of their cookies were stored or replaced one.
        package var stored = 0
        /// How many of those are in the partition of the page.
        package var partitioned = 0
        /// How many of their cookies were rejected.
        package var refused = 0

        package init() {}
    }

    /// The earlier import of the same capture.
    package struct EarlierImport: Codable, Sendable {
        /// The name of the capture.
        package let source: String
        /// When it was imported (RFC 3339).
        package let at: String

        package init(source: String, at: String) {
            self.source = source
            self.at = at
        }
    }

    /// A cookie that made room for others, from this capture or stored before.
    package struct Evicted: Codable, Sendable {
        /// The name.
        package let name: String
        /// The domain.
        package let domain: String
        /// The path.
        package let path: String
        /// The reason.
        package let reason: ReasonReport

        package init(name: String, domain: String, path: String, reason: ReasonReport) {
            self.name = name
            self.domain = domain
            self.path = path
            self.reason = reason
        }
    }

    /// A part of a capture that could not be read or was left out: a stable code, and one sentence.
    package struct Failure: Codable, Sendable {
        /// The name of the capture.
        package let source: String
        /// The stable code.
        package let code: String
        /// One sentence.
        package let message: String

        package init(code: String, message: String, source: String) {
            self.source = source
            self.code = code
            self.message = message
        }
    }

    /// The name of the capture.
    package let source: String
    /// The name of the format.
    package var format: String?
    /// The earlier import of the same capture into the jar: nothing was changed.
    package var alreadyImported: EarlierImport?
    /// How many responses were read.
    package var responses = 0
    /// How many lines and cookies were read.
    package var lines = 0
    /// How many cookies were stored.
    package var taken = 0
    /// How many cookies were replaced.
    package var replaced = 0
    /// How many cookies were deleted.
    package var deleted = 0
    /// How many of the deletions found no cookie to delete.
    package var deletedNothing = 0
    /// How many had expired since they were received, so that they were not stored.
    package var expired = 0
    /// The names of these.
    package var expiredNames: [String] = []
    /// How many cookies and lines could not be read, as far as that is known.
    package var unreadable = 0
    /// How many items of `localStorage` were stored.
    package var storageItems = 0
    /// How many items did not fit, or could not be read.
    package var storageItemsLeftOut = 0
    /// How many cookies the requests carried, in responses that set none.
    package var carriedCookies = 0
    /// For each property that the format does not state, how many cookies kept the one that the jar had.
    package var kept: [String: Int] = [:]
    /// How many cookies of a store lived longer than the rules allow, so that their lifetimes were cut.
    package var lifetimesCut = 0
    /// How many cookies were witnesses of a gateway, which no jar stores.
    package var witnesses = 0
    /// The lines that were rejected, without witnesses of a gateway.
    package var refused: [Refusal] = []
    /// The outcome of the cookies that third parties set; `nil` if none did.
    package var thirdParties: ThirdParties?
    /// The outcome of the cookies that requests sent; `nil` if none were requested or found.
    package var requestCookies: RequestCookieCounts?
    /// The cookies that were evicted.
    package var evicted: [Evicted] = []
    /// The parts that could not be read.
    package var failures: [Failure] = []
    /// Other data of the capture, and data that was left out because it was not requested.
    package var notes: [Failure] = []
    /// The numbers of entries beyond the ten that each list holds.
    package var omitted = Omitted()
    /// Why nothing was stored, replaced or deleted, if nothing was and no failure is the reason.
    package var nothingImported: Failure?

    package init(source: String) {
        self.source = source
    }
}

/// A line of the answer to a capture whose progress is followed: how far it has come, and at last the report.
package struct CaptureProgressLine: Codable, Sendable {
    /// How far a capture was read.
    package struct Progress: Codable, Sendable {
        /// How many bytes were read.
        package let bytes: Int
        /// How many entries were read.
        package let entries: Int
        /// How many cookies were read.
        package let cookies: Int

        package init(bytes: Int, entries: Int, cookies: Int) {
            self.bytes = bytes
            self.entries = entries
            self.cookies = cookies
        }
    }

    /// How far the capture was read.
    package let progress: Progress?
    /// The report.
    package let report: ImportReport?
    /// The problem.
    package let problem: ProblemReport?

    package init(progress: Progress? = nil, report: ImportReport? = nil, problem: ProblemReport? = nil) {
        self.progress = progress
        self.report = report
        self.problem = problem
    }
}

/// The outcome of every cookie of an export.
package struct ExportReport: Codable, Sendable {
    /// A cookie that the format cannot hold.
    package struct LeftOut: Codable, Sendable {
        /// The cookie.
        package let cookie: CookieIdentityReport
        /// The reason.
        package let reason: ReasonReport

        package init(cookie: CookieIdentityReport, reason: ReasonReport) {
            self.cookie = cookie
            self.reason = reason
        }
    }

    /// A property that the format cannot hold.
    package struct NotKept: Codable, Sendable {
        /// The stable identifier.
        package let id: String
        /// The title.
        package let title: String
        /// The consequence of the loss.
        package let consequence: String
        /// How many cookies have the property.
        package var count: Int = 0
        /// The cookies that have the property: the first thousand.
        package var cookies: [CookieIdentityReport] = []

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
    package let format: String
    /// The file; `nil` for standard output.
    package var output: String?
    /// How many cookies were written.
    package var written = 0
    /// How many items of `localStorage` were written.
    package var storageItems = 0
    /// How many were not written because the format holds none.
    package var storageItemsLeftOut = 0
    /// How many have a stored value that cannot be read.
    package var storageItemsUnreadable = 0
    /// The cookies that the format cannot hold.
    package var leftOut: [LeftOut] = []
    /// The properties that the format cannot hold.
    package var notKept: [NotKept] = []
    /// Cookies whose lifetime is over.
    package var expired = 0
    /// Cookies whose stored value cannot be read.
    package var unreadable: [CookieIdentityReport] = []

    package init(format: String, output: String?) {
        self.format = format
        self.output = output
    }
}
