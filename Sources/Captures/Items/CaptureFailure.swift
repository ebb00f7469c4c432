import WebPrimitives

/// What went wrong, wherever it did.
package struct CaptureFailure: Sendable {
    let code: CaptureError.Code
    let message: String
    let severity: CaptureError.Severity
    let count: Int
    let storageItemCount: Int

    package init(
        _ code: CaptureError.Code, _ message: String, _ severity: CaptureError.Severity = .problem, count: Int = 1,
        storageItemCount: Int = 0
    ) {
        (self.code, self.message, self.severity) = (code, message, severity)
        (self.count, self.storageItemCount) = (count, storageItemCount)
    }
}

// The messages of all failures. None contains text from the capture, so none can disclose a secret in it.
extension CaptureFailure {
    // MARK: Any input

    static let inputEmpty = CaptureFailure(.inputEmpty, "The input is empty.")

    /// The input does not begin as its format does, or as any known format does.
    ///
    /// - Parameter finding: a sentence that names the missing part.
    static func inputUnrecognized(_ finding: String) -> CaptureFailure {
        CaptureFailure(.inputUnrecognized, "\(finding) Use `--format NAME` for \(CaptureFormat.names()).")
    }

    /// The input needs another program first.
    ///
    /// - Parameter finding: a sentence or two that say which.
    static func inputPacked(_ finding: String) -> CaptureFailure {
        CaptureFailure(.inputUnrecognized, finding)
    }

    /// The input is compressed in a way that no reader unpacks.
    static func compressed(with program: String, _ command: String) -> CaptureFailure {
        inputPacked(remedy(forCompressionWith: program, command))
    }

    static func remedy(forCompressionWith program: String, _ command: String) -> String {
        "The input is compressed with \(program). Unpack it first: \(command) FILE | crumb import -"
    }

    /// The rest of a compressed input cannot be unpacked.
    static func packed(_ failure: Unpacker.Failure) -> CaptureFailure {
        switch failure {
        case .damaged: packedMalformed
        case .truncated:
            CaptureFailure(
                .inputTruncated,
                "The compressed file ends early; what could be unpacked was read. Save the capture again.")
        case .tooLong:
            CaptureFailure(
                .inputTruncated,
                "The input expands to more than \(CaptureLimits.unpackedByteCount >> 30) GiB; the first "
                    + "\(CaptureLimits.unpackedByteCount >> 30) GiB were read. Unpack it first, and import the file.")
        case .encrypted: inputPacked("The ZIP archive is encrypted. Unpack it first: unzip FILE")
        case .unsupported:
            inputPacked("The ZIP archive cannot be unpacked as a stream from here on. Unpack it first: unzip FILE")
        }
    }

    static let noCaptures = inputUnrecognized("The ZIP archive contains no capture.")

    static func filesPassedOver(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .filesPassedOver,
            "\(count == 1 ? "One file" : "\(count) files") of the archive \(count == 1 ? "is" : "are") in no known format "
                + "and \(count == 1 ? "was" : "were") left out.", .notice)
    }

    static func tooLong(_ finding: String) -> CaptureFailure {
        CaptureFailure(.lineTooLong, "\(finding) The entry was left out.")
    }

    static let fieldTooLong = CaptureFailure(.lineTooLong, "A Set-Cookie line is longer than 1 MiB and was left out.")
    static let lineTooLong = CaptureFailure(.lineTooLong, "The line is longer than 1 MiB and was left out.")
    static let responseTooLarge = CaptureFailure(
        .responseTooLarge, "The response has more than 16 MiB of Set-Cookie lines; the rest was left out.")

    // MARK: JSON

    static func entryMalformed(_ finding: String) -> CaptureFailure {
        CaptureFailure(.entryMalformed, "The entry is broken and was left out. \(finding)")
    }

    static let setCookieJoined = CaptureFailure(
        .setCookieJoined,
        "Its Set-Cookie lines were joined into one and cannot be separated; they were left out. "
            + "Record it with a newer version of the tool.")

    private static func after(_ count: Int) -> String {
        count == 0 ? "before any entry was complete" : "after entry \(count)"
    }

    static func documentTruncated(afterEntry count: Int) -> CaptureFailure {
        CaptureFailure(.inputTruncated, "The file ends early, \(after(count)). Save the capture again.")
    }

    fileprivate static func jsonMalformed(afterEntry count: Int) -> CaptureFailure {
        CaptureFailure(.jsonMalformed, "The JSON is broken here; reading stopped \(after(count)).")
    }

    fileprivate static func nestingTooDeep(afterEntry count: Int) -> CaptureFailure {
        CaptureFailure(
            .nestingTooDeep,
            "Values are nested deeper than \(CaptureLimits.nestingDepth) levels; reading stopped \(after(count)).")
    }

    static let notHAR = inputUnrecognized("Format not recognized: JSON without log.entries.")

    static func cookiesSanitized(by creator: HARCapture.Program?) -> CaptureFailure {
        let advice =
            creator == .crumb
            ? ownRecordingAdvice
            : "Chromium's developer tools leave cookies out of a sanitized HAR: use \"Export HAR (with sensitive data)\"."
        return CaptureFailure(
            .cookiesSanitized, "No response sets a cookie and no request carries one. \(advice)", .notice)
    }

    static func headersSanitized(_ count: Int, by creator: HARCapture.Program?) -> CaptureFailure {
        let (cookies, were) = count == 1 ? ("One cookie is", "was") : ("\(count) cookies are", "were")
        let text =
            creator == .crumb
            ? "\(cookies) in it without values. \(ownRecordingAdvice)"
            : "\(cookies) only in the `cookies` of responses, without a Set-Cookie header, and \(were) left out: "
                + "attributes are missing there. Save the HAR with its headers: \"Export HAR (with sensitive data)\"."
        return CaptureFailure(.cookiesSanitized, text, .notice)
    }

    /// The way to the cookies of a recording that `--record` wrote without `--record-secrets`.
    private static let ownRecordingAdvice =
        "Crumb's recordings leave secrets out. The cookies are in the jar of the gateway that recorded them: use it "
        + "with `--jar`, or copy it with 'crumb jars copy'. `--record-secrets` records values, too."

    static let entryTooLarge = CaptureFailure(.lineTooLong, "The entry is larger than 16 MiB and was left out.")

    // MARK: Cookie lists

    static func noCookieList(_ title: String) -> CaptureFailure {
        inputUnrecognized("The JSON has no list of cookies, so it is not a \(title).")
    }

    /// No entry of a list is a cookie.
    ///
    /// - Parameters:
    ///   - finding: the defect of the first one, in a sentence that begins with "It".
    ///   - count: how many there are.
    static func notCookieList(_ finding: String, entry: Int, count: Int) -> CaptureFailure {
        let rest = count == 1 ? "" : " \(count - 1) more \(count == 2 ? "entry" : "entries") like it."
        return CaptureFailure(
            .inputUnrecognized, "Not a cookie list: entry \(entry)\(finding.dropFirst(2))\(rest)", count: count)
    }

    /// Entries of a list before its first cookie, other than the one that was named.
    static func entriesMalformed(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .entryMalformed, "\(count == 1 ? "One more entry" : "\(count) more entries") like it.", count: count)
    }

    static let domainMissing = CaptureFailure(
        .urlMissing, "The cookie does not name its host: give the URL that it belongs to.")
    static let partitionUnclear = CaptureFailure(
        .partitionUnclear,
        "The list was requested for a partition but does not show which cookies belong to it: they were "
            + "read as unpartitioned.", .notice)

    static func databasesIgnored(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .storageIgnored,
            "\(count == 1 ? "One IndexedDB database was" : "\(count) IndexedDB databases were") left out: only cookies "
                + "and localStorage are read.", .notice)
    }

    /// Items of the `localStorage` of an origin.
    ///
    /// - Parameter finding: the reason for leaving out the first one.
    static func storageLeftOut(_ finding: String, origin: Int, item: Int, count: Int) -> CaptureFailure {
        let rest = count == 1 ? "" : ", and \(count - 1) more of this origin"
        return CaptureFailure(
            .storageLeftOut,
            "Item \(item) of the localStorage of origin \(origin) was left out: \(finding)\(rest).", count: 0,
            storageItemCount: count)
    }

    // MARK: Raw responses

    static let urlMissing = CaptureFailure(
        .urlMissing, "The input does not contain the URL of its request.")
    static let statusLineMalformed = CaptureFailure(
        .entryMalformed,
        "A response begins with a line such as HTTP/1.1 200 OK; this one does not, and nothing after it was read.")
    static let fieldMalformed = CaptureFailure(
        .lineMalformed, "The header line has no name and colon and was left out.")
    static let headersTruncated = CaptureFailure(
        .inputTruncated,
        "The input ends before the empty line that ends a header block; its complete lines were read. If "
            + "the input is complete, add an empty line.")
    static let responseSkipped = CaptureFailure(
        .responseSkipped,
        "The text here looks like a response, but no redirect or retry leads to it. Its URL is unknown, "
            + "and it may be a body, so it was left out. Record one URL per file.")
    static let fieldWithoutResponse = CaptureFailure(
        .responseSkipped, "The response of the Set-Cookie line has no status line; the line was left out.")
    static let noResponses = inputUnrecognized("The input contains no response.")
    static let requestNotRecorded = entryMalformed(
        "The packet capture lacks the request of this response, so its URL is unknown.")
    static let octetsLost = lineMalformed(
        "tshark printed a Set-Cookie line without its non-ASCII octets; the line was left out. Run tshark with -x.")

    /// - Parameter encryptedCount: how many connections of TLS could not be read.
    static func noMessages(encryptedCount: Int) -> CaptureFailure {
        let connections = encryptedCount == 1 ? "1 TLS connection" : "\(encryptedCount) TLS connections"
        return inputPacked(
            encryptedCount == 0
                ? "The packet capture contains no HTTP/1 or HTTP/2 message."
                : "The packet capture has no readable HTTP message: no key was found for \(connections). Name the key log "
                    + "that the client wrote during this recording: --tls-keys FILE.")
    }

    static let noEvents = inputUnrecognized(
        "The log contains no network events. Turn on their recording: Network.enable, or "
            + "goog:loggingPrefs {\"performance\": \"ALL\"}.")
    static let notEvent = CaptureFailure(
        .entryMalformed, "The entry is not an event of the DevTools protocol and was left out.")
    static let noRequests = inputUnrecognized("The input contains no request.")
    static let quoteUnclosed = CaptureFailure(
        .entryMalformed,
        "The quote that begins here is not closed, so the command was left out. Copy the whole command again.")
    static let proxyCookies = CaptureFailure(
        .responseSkipped, "The response comes from a proxy, not from the server: its Set-Cookie lines were left out.")

    // MARK: Recordings

    static func valuesStripped(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .valuesStripped,
            "The browser removed the values of "
                + "\(count == 1 ? "one Set-Cookie line" : "\(count) Set-Cookie lines"): record the log with "
                + "--net-log-capture-mode=IncludeSensitive.", count: count)
    }

    static let recordMalformed = CaptureFailure(
        .entryMalformed,
        "The record does not contain its length, so nothing after it can be read. "
            + "A record begins with WARC/1.0 or WARC/1.1 and has a Content-Length.")
    static let recordsTruncated = CaptureFailure(
        .inputTruncated, "The file ends within a record. Save the capture again.")

    // MARK: Scripts

    static let cookiesUntold = CaptureFailure(
        .cookiesUntold,
        "Scripts of the page may have changed cookies that the message does not contain; read them from "
            + "the web view's own cookie store.", .notice)

    // MARK: Browsers' files

    static let notBinaryCookies = inputUnrecognized("The input does not begin like Cookies.binarycookies.")
    static let packedMalformed = CaptureFailure(
        .entryMalformed, "The compressed data of the file is damaged; the data before it was read.")

    static func otherSessionCookies(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .otherContainer,
            "\(count == 1 ? "One cookie" : "\(count) cookies") of containers, private windows or partitions "
                + "\(count == 1 ? "was" : "were") left out.", .notice)
    }

    static let database = inputPacked("A browser's database is read from its file, not from a stream of bytes.")

    // MARK: Netscape files

    static func subdomainsContradicted(_ count: Int) -> CaptureFailure {
        CaptureFailure(
            .subdomainsContradicted,
            "Here\(count == 1 ? "" : " and in \(count - 1) more \(count == 2 ? "line" : "lines")"), the second column "
                + "(include subdomains) contradicts the dot before the domain. The column counts, as in curl.", .notice)
    }

    static let sessionCookiesMissing = CaptureFailure(
        .sessionCookiesMissing,
        "wget wrote this file, and it has no session cookies. If the login is one, save the file again with "
            + "wget --keep-session-cookies --save-cookies FILE.", .notice)

    static func lineMalformed(_ finding: String) -> CaptureFailure {
        CaptureFailure(.lineMalformed, finding)
    }
}

extension CaptureError {
    /// The failure for `problem`, with the number of the entry that contains it, if one does.
    static func json(
        _ problem: JSONProblem, source: String, entry: Int? = nil, afterEntry count: Int
    ) -> CaptureError {
        let (line, column, failure) =
            switch problem {
            case .malformed(let line, let column), .halfPair(let line, let column):
                (line, column, CaptureFailure.jsonMalformed(afterEntry: count))
            case .tooDeep(let line, let column): (line, column, .nestingTooDeep(afterEntry: count))
            }
        return CaptureError(failure, at: CapturePlace(source: source, entry: entry, line: line, column: column))
    }
}
