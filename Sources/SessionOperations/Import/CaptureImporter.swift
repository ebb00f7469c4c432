package import Captures
package import CookieModel
package import SessionStore

/// The options of an import.
package struct CaptureImport: Sendable {
    /// The URL of a raw dump's first response.
    package var url: String?
    /// The page in the address bar, for requests whose capture does not tell.
    package var topLevel: String?
    /// Whether lifetimes count from now instead of from when the capture was made.
    package var receivedNow: Bool
    /// Whether the cookies that requests sent are imported, too.
    package var takesRequestCookies: Bool
    /// The format; `nil` to detect it from the capture.
    package var format: CaptureFormat?
    /// The container of Firefox whose cookies are read; 0 for cookies in no container.
    package var container = 0
    /// Whether a capture that was imported before is imported again.
    package let again: Bool
    /// Whether nothing is stored.
    package let isDryRun: Bool

    package init(
        url: String? = nil, topLevel: String? = nil, receivedNow: Bool = false, takesRequestCookies: Bool = false,
        format: CaptureFormat? = nil, again: Bool = false, isDryRun: Bool = false
    ) {
        self.url = url
        self.topLevel = topLevel
        self.receivedNow = receivedNow
        self.takesRequestCookies = takesRequestCookies
        self.format = format
        self.again = again
        self.isDryRun = isDryRun
    }

    /// Whether the cookies that a response's request sent are wanted.
    package func wantsCookies(of response: CapturedResponse) -> Bool {
        !(response.requestCookies.isEmpty && response.requestRecords.isEmpty)
            && (takesRequestCookies || response.isCopiedRequest)
    }

    /// The digest of a capture before its first byte. It includes the options that make a difference to the import.
    package var digest: CaptureDigest {
        var digest = CaptureDigest()
        let format = format.map { " \($0.rawValue)" } ?? ""
        let topLevel = topLevel.map { " top-level=\($0)" } ?? ""
        let requests = takesRequestCookies ? " request-cookies" : ""
        let container = container == 0 ? "" : " container=\(container)"
        digest.update("\(url ?? "") \(receivedNow)\(format)\(topLevel)\(requests)\(container)\n".utf8)
        return digest
    }
}

/// Imports one capture whose octets come piece by piece.
package struct CaptureImporter {
    private var reader: CaptureReader
    private var digest: CaptureDigest
    private var storer: CaptureStorer
    /// How many octets have come.
    package private(set) var byteCount = 0

    /// Creates an importer of a capture into a jar.
    ///
    /// - Parameter source: the name by which a person knows the capture.
    package init(of source: String, into target: LazyJar, _ options: CaptureImport, now: Timestamp) {
        reader = CaptureReader(
            source: source, url: options.url, format: options.format, container: options.container)
        digest = options.digest
        storer = CaptureStorer(of: source, into: target, options, now: now)
    }

    /// The place up to which the capture was read.
    package var place: CapturePlace? { storer.place }
    /// How many items have come out of the capture.
    package var entryCount: Int { storer.entryCount }
    /// How many cookies and Set-Cookie lines they had.
    package var cookieCount: Int { storer.cookieCount }

    /// Takes the next octets.
    package mutating func read(_ chunk: ArraySlice<UInt8>) throws(SessionStoreError) {
        digest.update(chunk)
        byteCount += chunk.count
        try CaptureImporter.read(chunk, by: &reader, into: &storer)
    }

    /// Ends the import: all octets have come.
    ///
    /// - Parameter isNew: whether the capture counts as new even if it was imported before. Otherwise, a known one
    ///   changes nothing, unless some of its cookies had to be stored before its end.
    package mutating func finish(asNew isNew: Bool = true) throws(SessionStoreError) -> ImportReport {
        try CaptureImporter.finish(&reader, into: &storer)
        if !isNew, let earlier = try storer.earlierImport(of: digest) {
            return ImportReport(source: report.source, importedBefore: earlier)
        }
        try storer.finish(digest)
        return report
    }

    /// Ends the import of a capture that was cut off. The part that was read is kept.
    package mutating func finish(after failure: ImportReport.Failure) throws(SessionStoreError) -> ImportReport {
        try storer.finish(nil)
        storer.report.append(failure)
        return report
    }

    private var report: ImportReport {
        var report = storer.report
        report.format = reader.format?.rawValue
        report.conclude()
        return report
    }

    private static func read(
        _ chunk: ArraySlice<UInt8>, by reader: inout CaptureReader, into storer: inout CaptureStorer
    ) throws(SessionStoreError) {
        try reader.read(chunk.span) { item throws(SessionStoreError) in try storer.take(item) }
    }

    private static func finish(_ reader: inout CaptureReader, into storer: inout CaptureStorer)
        throws(SessionStoreError)
    {
        try reader.finish { item throws(SessionStoreError) in try storer.take(item) }
    }
}
