public import CookieModel

/// Writes cookies in a format, one after the other: the counterpart of ``CaptureReader``.
///
/// Take the bytes away as they come; what the writer holds back is bounded, so that no number of cookies is too large.
///
///     var writer = CookieWriter(format: .netscape, now: now)
///     var bytes: [UInt8] = []
///     for record in records {
///         let outcome = writer.write(record, to: &bytes)
///         …
///     }
///     writer.finish(&bytes)
///
/// Give each cookie once: a file with two cookies of the same name, domain and path is read in different ways.
public struct CookieWriter: Sendable {
    /// What became of one cookie.
    public enum Outcome: Sendable, Hashable {
        /// It was written, and these properties of it were lost.
        case written(losses: [CookieFeature])
        /// It was left out, since the format cannot hold it.
        case leftOut(ExportObstacle)
    }

    /// The format.
    public let format: ExportFormat

    private let capabilities: FormatCapabilities
    private let host: WebHost?
    private var writer: any FormatWriter
    private var hasBegun = false

    /// A writer at the beginning of a file.
    ///
    /// - Parameters:
    ///   - format: what to write.
    ///   - host: the host that the file is for. A format whose ``ExportFormat/scope`` is one host leaves out what other
    ///     hosts have set; the others do not look at it.
    ///   - now: the time that a HAR says it was made.
    public init(format: ExportFormat, host: WebHost? = nil, now: Timestamp) {
        self.format = format
        self.host = format.scope == .oneHost ? host : nil
        capabilities = format.capabilities
        writer =
            switch format {
            case .netscape: NetscapeWriter()
            case .storageState: StorageStateWriter()
            case .har: HARWriter(time: now)
            case .json: CookieLineWriter()
            case .setCookie: SetCookieWriter()
            case .header: HeaderWriter()
            case .curl: CurlConfigurationWriter()
            case .httpieSession: HTTPieSessionWriter()
            case .webDriver: WebDriverWriter()
            }
    }

    /// Appends one cookie, where the format can hold it.
    public mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) -> Outcome {
        begin(&bytes)
        if let obstacle = obstacle(to: record) { return .leftOut(obstacle) }
        var written = record
        written.expiry = record.expiry.map(capabilities.writtenExpiry)
        writer.write(written, to: &bytes)
        return .written(losses: capabilities.losses(of: record))
    }

    /// Appends an item of web storage, where the format holds any (``ExportFormat/holdsWebStorage``). Give them after the
    /// cookies, those of one origin one after the other.
    public mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8]) {
        begin(&bytes)
        writer.write(item, to: &bytes)
    }

    /// Appends what ends the file. Nothing can be written afterwards.
    public mutating func finish(_ bytes: inout [UInt8]) {
        begin(&bytes)
        writer.end(&bytes)
    }

    private mutating func begin(_ bytes: inout [UInt8]) {
        guard !hasBegun else { return }
        hasBegun = true
        writer.begin(&bytes)
    }

    private func obstacle(to record: CookieRecord) -> ExportObstacle? {
        if let obstacle = capabilities.obstacle(to: record) { return obstacle }
        guard let host, let domain = WebHost(record.domain) else { return nil }
        let isReached = record.isHostOnly ? host == domain : CookiePolicy.domainMatches(host, domain.octets)
        return isReached ? nil : .otherHost
    }
}
