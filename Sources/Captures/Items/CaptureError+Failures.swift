import WebPrimitives

// The messages of all failures. None contains text from the capture, so none can disclose a secret in it.
extension CaptureError {
    // MARK: Any input

    static func inputEmpty(at place: CapturePlace) -> CaptureError {
        CaptureError(.inputEmpty, place, "The input is empty.")
    }

    /// The input does not begin as its format does, or as any known format does.
    ///
    /// - Parameter finding: a sentence that names the missing part.
    static func inputUnrecognized(_ finding: String, at place: CapturePlace) -> CaptureError {
        CaptureError(.inputUnrecognized, place, "\(finding) Use `--format NAME` for \(CaptureFormat.names()).")
    }

    /// The input needs another program first.
    ///
    /// - Parameter finding: a sentence or two that say which.
    static func inputPacked(_ finding: String, at place: CapturePlace) -> CaptureError {
        CaptureError(.inputUnrecognized, place, finding)
    }

    /// The input is compressed in a way that no reader unpacks.
    static func compressed(with program: String, _ command: String, at place: CapturePlace) -> CaptureError {
        inputPacked(remedy(forCompressionWith: program, command), at: place)
    }

    static func remedy(forCompressionWith program: String, _ command: String) -> String {
        "The input is compressed with \(program). Unpack it first: \(command) FILE | crumb import -"
    }

    /// The rest of a compressed input cannot be unpacked.
    static func packed(_ failure: Unpacker.Failure, at place: CapturePlace) -> CaptureError {
        switch failure {
        case .damaged: packedMalformed(at: place)
        case .truncated:
            CaptureError(
                .inputTruncated, place,
                "The compressed file ends early; what could be unpacked was read. Save the capture again.")
        case .tooLong:
            CaptureError(
                .inputTruncated, place,
                "The input expands to more than \(CaptureLimits.unpackedByteCount >> 30) GiB; the first "
                    + "\(CaptureLimits.unpackedByteCount >> 30) GiB were read. Unpack it first, and import the file.")
        case .encrypted: inputPacked("The ZIP archive is encrypted. Unpack it first: unzip FILE", at: place)
        case .unsupported:
            inputPacked(
                "The ZIP archive cannot be unpacked as a stream from here on. Unpack it first: unzip FILE", at: place)
        }
    }

    static func noCaptures(at place: CapturePlace) -> CaptureError {
        inputUnrecognized("The ZIP archive contains no capture.", at: place)
    }

    static func filesPassedOver(_ count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .filesPassedOver, place,
            "\(count == 1 ? "One file" : "\(count) files") of the archive \(count == 1 ? "is" : "are") in no known format "
                + "and \(count == 1 ? "was" : "were") left out.", .notice)
    }

    static func tooLong(_ finding: String, at place: CapturePlace) -> CaptureError {
        CaptureError(.lineTooLong, place, "\(finding) The entry was left out.")
    }

    static func fieldTooLong(at place: CapturePlace) -> CaptureError {
        CaptureError(.lineTooLong, place, "A Set-Cookie line is longer than 1 MiB and was left out.")
    }

    static func lineTooLong(at place: CapturePlace) -> CaptureError {
        CaptureError(.lineTooLong, place, "The line is longer than 1 MiB and was left out.")
    }

    static func responseTooLarge(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .responseTooLarge, place, "The response has more than 16 MiB of Set-Cookie lines; the rest was left out.")
    }

    // MARK: JSON

    static func entryMalformed(_ finding: String, at place: CapturePlace) -> CaptureError {
        CaptureError(.entryMalformed, place, "The entry is broken and was left out. \(finding)")
    }

    static func setCookieJoined(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .setCookieJoined, place,
            "Its Set-Cookie lines were joined into one and cannot be separated; they were left out. "
                + "Record it with a newer version of the tool.")
    }

    static func documentTruncated(afterEntry count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(.inputTruncated, place, "The file ends early, \(after(count)). Save the capture again.")
    }

    private static func jsonMalformed(afterEntry count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(.jsonMalformed, place, "The JSON is broken here; reading stopped \(after(count)).")
    }

    private static func nestingTooDeep(afterEntry count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .nestingTooDeep, place,
            "Values are nested deeper than \(CaptureLimits.nestingDepth) levels; reading stopped \(after(count)).")
    }

    /// The failure for `problem`, with the number of the entry that contains it, if one does.
    static func json(
        _ problem: JSONProblem, source: String, entry: Int? = nil, afterEntry count: Int
    ) -> CaptureError {
        switch problem {
        case .malformed(let line, let column), .halfPair(let line, let column):
            jsonMalformed(
                afterEntry: count, at: CapturePlace(source: source, entry: entry, line: line, column: column))
        case .tooDeep(let line, let column):
            nestingTooDeep(
                afterEntry: count, at: CapturePlace(source: source, entry: entry, line: line, column: column))
        }
    }

    static func notHAR(at place: CapturePlace) -> CaptureError {
        inputUnrecognized("Format not recognised: JSON without log.entries.", at: place)
    }

    static func cookiesSanitized(by creator: HARCapture.Program?, at place: CapturePlace) -> CaptureError {
        let advice =
            creator == .crumb
            ? ownRecordingAdvice
            : "Chromium's developer tools leave cookies out of a sanitized HAR: use \"Export HAR (with sensitive data)\"."
        return CaptureError(
            .cookiesSanitized, place, "No response sets a cookie and no request carries one. \(advice)", .notice)
    }

    static func headersSanitized(
        _ count: Int, by creator: HARCapture.Program?, at place: CapturePlace
    ) -> CaptureError {
        let (cookies, were) = count == 1 ? ("One cookie is", "was") : ("\(count) cookies are", "were")
        let text =
            creator == .crumb
            ? "\(cookies) in it without values. \(ownRecordingAdvice)"
            : "\(cookies) only in the `cookies` of responses, without a Set-Cookie header, and \(were) left out: "
                + "attributes are missing there. Save the HAR with its headers: \"Export HAR (with sensitive data)\"."
        return CaptureError(.cookiesSanitized, place, text, .notice)
    }

    /// The way to the cookies of a recording that `--record` wrote without `--record-secrets`.
    private static let ownRecordingAdvice =
        "Crumb's recordings leave secrets out. The cookies are in the jar of the gateway that recorded them: use it "
        + "with `--jar`, or copy it with 'crumb jars copy'. `--record-secrets` records values, too."

    static func entryTooLarge(at place: CapturePlace) -> CaptureError {
        CaptureError(.lineTooLong, place, "The entry is larger than 16 MiB and was left out.")
    }

    // MARK: Cookie lists

    static func noCookieList(_ title: String, at place: CapturePlace) -> CaptureError {
        inputUnrecognized("The JSON has no list of cookies, so it is not a \(title).", at: place)
    }

    /// No entry of a list is a cookie.
    ///
    /// - Parameters:
    ///   - finding: the defect of the first one, in a sentence that begins with "It".
    ///   - count: how many there are.
    static func notCookieList(_ finding: String, entry: Int, count: Int, at place: CapturePlace) -> CaptureError {
        let rest = count == 1 ? "" : " \(count - 1) more \(count == 2 ? "entry" : "entries") like it."
        return CaptureError(
            .inputUnrecognized, place, "Not a cookie list: entry \(entry)\(finding.dropFirst(2))\(rest)", count: count)
    }

    /// Entries of a list before its first cookie, other than the one that was named.
    static func entriesMalformed(_ count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .entryMalformed, place, "\(count == 1 ? "One more entry" : "\(count) more entries") like it.", count: count)
    }

    static func domainMissing(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .urlMissing, place, "The cookie does not name its host: give the URL that it belongs to.")
    }

    static func partitionUnclear(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .partitionUnclear, place,
            "The list was requested for a partition but does not show which cookies belong to it: they were "
                + "read as unpartitioned.", .notice)
    }

    static func databasesIgnored(_ count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .storageIgnored, place,
            "\(count == 1 ? "One IndexedDB database was" : "\(count) IndexedDB databases were") left out: only cookies "
                + "and localStorage are read.", .notice)
    }

    /// Items of the `localStorage` of an origin.
    ///
    /// - Parameter finding: the reason for leaving out the first one.
    static func storageLeftOut(
        _ finding: String, origin: Int, item: Int, count: Int, at place: CapturePlace
    ) -> CaptureError {
        let rest = count == 1 ? "" : ", and \(count - 1) more of this origin"
        return CaptureError(
            .storageLeftOut, place,
            "Item \(item) of the localStorage of origin \(origin) was left out: \(finding)\(rest).", count: 0,
            storageItemCount: count)
    }

    private static func after(_ count: Int) -> String {
        count == 0 ? "before any entry was complete" : "after entry \(count)"
    }

    // MARK: Raw responses

    static func urlMissing(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .urlMissing, place, "The response does not contain its URL: give the URL of the request.")
    }

    static func statusLineMalformed(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .entryMalformed, place,
            "A response begins with a line such as HTTP/1.1 200 OK; this one does not, and nothing after it was read.")
    }

    static func fieldMalformed(at place: CapturePlace) -> CaptureError {
        CaptureError(.lineMalformed, place, "The header line has no name and colon and was left out.")
    }

    static func headersTruncated(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .inputTruncated, place,
            "The input ends before the empty line that ends a header block; its complete lines were read. If "
                + "the input is complete, add an empty line.")
    }

    static func responseSkipped(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .responseSkipped, place,
            "The text here looks like a response, but no redirect or retry leads to it. Its URL is unknown, "
                + "and it may be a body, so it was left out. Record one URL per file.")
    }

    static func fieldWithoutResponse(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .responseSkipped, place,
            "The response of the Set-Cookie line has no status line; the line was left out.")
    }

    static func noResponses(at place: CapturePlace) -> CaptureError {
        inputUnrecognized("The input contains no response.", at: place)
    }

    static func requestNotRecorded(at place: CapturePlace) -> CaptureError {
        entryMalformed("The packet capture lacks the request of this response, so its URL is unknown.", at: place)
    }

    static func octetsLost(at place: CapturePlace) -> CaptureError {
        lineMalformed(
            "tshark printed a Set-Cookie line without its non-ASCII octets; the line was left out. Run tshark with -x.",
            at: place)
    }

    /// - Parameter encryptedCount: how many connections of TLS could not be read.
    static func noMessages(encryptedCount: Int, at place: CapturePlace) -> CaptureError {
        let connections = encryptedCount == 1 ? "1 TLS connection" : "\(encryptedCount) TLS connections"
        return inputPacked(
            encryptedCount == 0
                ? "The packet capture contains no HTTP/1 or HTTP/2 message."
                : "The packet capture has no readable HTTP message: no key was found for \(connections). Name the key log "
                    + "that the client wrote during this recording: --tls-keys FILE.", at: place)
    }

    static func noEvents(at place: CapturePlace) -> CaptureError {
        inputUnrecognized(
            "The log contains no network events. Turn on their recording: Network.enable, or "
                + "goog:loggingPrefs {\"performance\": \"ALL\"}.", at: place)
    }

    static func notEvent(at place: CapturePlace) -> CaptureError {
        CaptureError(.entryMalformed, place, "The entry is not an event of the DevTools protocol and was left out.")
    }

    static func noRequests(at place: CapturePlace) -> CaptureError {
        inputUnrecognized("The input contains no request.", at: place)
    }

    static func quoteUnclosed(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .entryMalformed, place,
            "The quote that begins here is not closed, so the command was left out. Copy the whole command again.")
    }

    static func proxyCookies(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .responseSkipped, place,
            "The response comes from a proxy, not from the server: its Set-Cookie lines were left out.")
    }

    // MARK: Recordings

    static func valuesStripped(_ count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .valuesStripped, place,
            "The browser removed the values of "
                + "\(count == 1 ? "one Set-Cookie line" : "\(count) Set-Cookie lines"): record the log with "
                + "--net-log-capture-mode=IncludeSensitive.", count: count)
    }

    static func recordMalformed(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .entryMalformed, place,
            "The record does not contain its length, so nothing after it can be read. "
                + "A record begins with WARC/1.0 or WARC/1.1 and has a Content-Length.")
    }

    static func recordsTruncated(at place: CapturePlace) -> CaptureError {
        CaptureError(.inputTruncated, place, "The file ends within a record. Save the capture again.")
    }

    // MARK: Scripts

    static func cookiesUntold(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .cookiesUntold, place,
            "Scripts of the page may have changed cookies that the message does not contain; read them from "
                + "the web view's own cookie store.", .notice)
    }

    // MARK: Browsers' files

    static func notBinaryCookies(at place: CapturePlace) -> CaptureError {
        inputUnrecognized("The input does not begin like Cookies.binarycookies.", at: place)
    }

    static func packedMalformed(at place: CapturePlace) -> CaptureError {
        CaptureError(.entryMalformed, place, "The compressed data of the file is damaged; the data before it was read.")
    }

    static func otherSessionCookies(_ count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .otherContainer, place,
            "\(count == 1 ? "One cookie" : "\(count) cookies") of containers, private windows or partitions "
                + "\(count == 1 ? "was" : "were") left out.", .notice)
    }

    static func database(at place: CapturePlace) -> CaptureError {
        inputPacked("A browser's database is read from its file, not from a stream of bytes.", at: place)
    }

    // MARK: Netscape files

    static func subdomainsContradicted(_ count: Int, at place: CapturePlace) -> CaptureError {
        CaptureError(
            .subdomainsContradicted, place,
            "Here\(count == 1 ? "" : " and in \(count - 1) more \(count == 2 ? "line" : "lines")"), the second column "
                + "(include subdomains) contradicts the dot before the domain. The column counts, as in curl.", .notice)
    }

    static func sessionCookiesMissing(at place: CapturePlace) -> CaptureError {
        CaptureError(
            .sessionCookiesMissing, place,
            "wget wrote this file, and it has no session cookies. If the login is one, save the file again with "
                + "wget --keep-session-cookies --save-cookies FILE.", .notice)
    }

    static func lineMalformed(_ finding: String, at place: CapturePlace) -> CaptureError {
        CaptureError(.lineMalformed, place, finding)
    }
}
