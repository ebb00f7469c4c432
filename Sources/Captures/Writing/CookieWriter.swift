public import CookieModel
import WebPrimitives

/// Writes cookies in a format, one after the other: the counterpart of ``CaptureReader``.
///
/// Take the bytes away as they come; the writer holds back a bounded number of bytes, so that no number of cookies is
/// too large.
///
///     var writer = CookieWriter(format: .netscape, now: now)
///     var bytes: [UInt8] = []
///     for record in records {
///         let outcome = writer.write(record, to: &bytes)
///         …
///     }
///     writer.finish(&bytes)
///
/// Give each cookie once: readers differ on a file with two cookies of the same name, domain and path.
public struct CookieWriter: Sendable {
    /// The outcome of writing one cookie.
    public enum Outcome: Sendable, Hashable {
        /// It was written, and these properties of it were lost.
        case written(losses: [CookieFeature])
        /// It was left out, since the format cannot hold it.
        case leftOut(ExportObstacle)
    }

    /// The format.
    package let format: ExportFormat

    private let capabilities: FormatCapabilities
    private let host: WebHost?
    private var writer: any FormatWriter
    private var hasBegun = false

    /// Creates a writer at the beginning of a file.
    ///
    /// - Parameters:
    ///   - format: the format of the file.
    ///   - host: the host that the file is for. A format for one host leaves out cookies that other hosts have
    ///     set. The other formats ignore it.
    ///   - now: the creation time that a HAR states.
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

    /// Appends one cookie, if the format can hold it.
    public mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) -> Outcome {
        begin(&bytes)
        if let obstacle = obstacle(to: record) { return .leftOut(obstacle) }
        var written = record
        written.expiry = record.expiry.map(capabilities.writtenExpiry)
        writer.write(written, to: &bytes)
        return .written(losses: capabilities.losses(of: record))
    }

    /// Appends an item of web storage, if the format is ``ExportFormat/storageState``; the others hold none. Give them
    /// after the cookies, those of one origin one after the other.
    public mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8]) {
        begin(&bytes)
        writer.write(item, to: &bytes)
    }

    /// Appends the end of the file. Nothing can be written afterwards.
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

/// The writer of one format: appends the bytes of one cookie after the other.
///
/// It is asked only for cookies that the format can hold (``FormatCapabilities/obstacle(to:)``).
protocol FormatWriter: Sendable {
    /// Appends the bytes before the first cookie.
    mutating func begin(_ bytes: inout [UInt8])

    /// Takes the next cookie, whose lifetime ends at a moment that the format can write.
    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8])

    /// Takes an item of web storage, once all cookies are written; the items of one origin come one after the other. A
    /// format without web storage does nothing.
    mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8])

    /// Appends the bytes after the last cookie.
    mutating func end(_ bytes: inout [UInt8])
}

extension FormatWriter {
    func begin(_ bytes: inout [UInt8]) {}

    func end(_ bytes: inout [UInt8]) {}

    mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8]) {}
}

/// Puts a comma between the elements of an array, a line each.
struct JSONArrayText {
    private var isEmpty = true

    mutating func append(_ element: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        if !isEmpty { bytes.append(ASCII.comma) }
        isEmpty = false
        bytes.append(ASCII.lineFeed)
        bytes += element
    }
}

extension Timestamp {
    /// Seconds since 1970, with as many decimals as the moment needs; not for moments before.
    var decimalSeconds: String {
        let fraction = microseconds - seconds * 1_000_000
        guard fraction != 0 else { return String(seconds) }
        var digits = String(fraction)
        digits = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }
}

/// The formats that cookies are written in. More may come: a `switch` over them wants a `default`.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// The cookie file of Netscape, which curl, wget and yt-dlp read.
    case netscape
    /// Playwright's and Puppeteer's `storageState`.
    case storageState = "storage-state"
    /// HTTP Archive 1.2: responses that set the cookies.
    case har
    /// Our own, a JSON object a line, which loses nothing.
    case json
    /// Set-Cookie lines of one host's response.
    case setCookie = "set-cookie"
    /// The Cookie field of one request.
    case header
    /// A configuration file for curl, with the Cookie field of one request.
    case curl
    /// A session of HTTPie.
    case httpieSession = "httpie-session"
    /// The cookies of WebDriver's "Add Cookie", for a page of one host.
    case webDriver = "webdriver"

    /// Names that people know formats by, beside the formats' own names.
    package static let aliases = ["cookies.txt": "netscape", "playwright": "storage-state"]

    /// The format of a name, its own or one of ``aliases``; `nil` for any other name.
    package init?(name: String) {
        self.init(rawValue: ExportFormat.aliases[name] ?? name)
    }

    /// The cookies that one file can hold: those of any number of sites, or those for one URL.
    package enum Scope: Sendable, Hashable {
        /// Any cookies.
        case anySite
        /// The cookies that a page of one host can set.
        case oneHost
        /// The cookies that one request carries, in their order.
        case oneRequest
    }

    /// The format's name for a person.
    public var title: String { row.title }

    /// The cookies that one file of the format can hold.
    package var scope: Scope { row.scope }

    /// The properties of a cookie that the format can hold.
    package var capabilities: FormatCapabilities { row.capabilities }

    /// Whether a file of the format holds the `localStorage` of pages too.
    package var holdsWebStorage: Bool { self == .storageState }

    private var row: (title: String, scope: Scope, capabilities: FormatCapabilities) {
        let attributes: Set<CookieFeature> = [.domain, .hostOnly, .path, .secure, .httpOnly, .sameSite]
        let setCookie = FormatCapabilities(
            attributes, expiry: .seconds, partitions: .ownSite, octets: .setCookie, needsText: false,
            holdsNameless: true)
        let header = FormatCapabilities(
            [], expiry: .none, partitions: .ownSiteUnmarked, octets: .header, needsText: false, holdsNameless: true)
        switch self {
        case .netscape:
            // A line without a name is read by curl as a name without a value. Few tools but curl write `#HttpOnly_`.
            let capabilities = FormatCapabilities(
                attributes.subtracting([.sameSite]), optional: [.httpOnly], expiry: .seconds,
                partitions: .ownSiteUnmarked, octets: .columns, needsText: false, holdsNameless: false)
            return ("Netscape cookies.txt (curl, wget, yt-dlp)", .anySite, capabilities)
        case .storageState:
            // Playwright writes Lax for no SameSite attribute.
            let capabilities = FormatCapabilities(
                attributes, holdsNoSameSite: false, expiry: .microseconds, partitions: .all, octets: .browser,
                needsText: true, holdsNameless: true)
            return ("storageState (Playwright, Puppeteer)", .anySite, capabilities)
        case .har:
            let capabilities = FormatCapabilities(
                attributes, expiry: .seconds, partitions: .ownSite, octets: .setCookie, needsText: true,
                holdsNameless: true)
            return ("HAR", .anySite, capabilities)
        case .json:
            let capabilities = FormatCapabilities(
                Set(CookieFeature.allCases), expiry: .exact, partitions: .all, octets: .any, needsText: false,
                holdsNameless: true)
            return ("JSON lines of crumb", .anySite, capabilities)
        case .setCookie: return ("Set-Cookie lines", .oneHost, setCookie)
        case .header: return ("Cookie header", .oneRequest, header)
        case .curl: return ("curl configuration file", .oneRequest, header)
        case .httpieSession:
            // Python's cookie jar sends a cookie of a host to the hosts below it as well.
            let capabilities = FormatCapabilities(
                [.domain, .path, .secure], expiry: .seconds, partitions: .ownSiteUnmarked, octets: .setCookie,
                needsText: false, holdsNameless: false)
            return ("HTTPie session", .anySite, capabilities)
        case .webDriver:
            // For no SameSite attribute browsers answer Lax or None.
            let capabilities = FormatCapabilities(
                attributes, holdsNoSameSite: false, expiry: .seconds, partitions: .ownSiteUnmarked, octets: .browser,
                needsText: true, holdsNameless: false)
            return ("WebDriver cookie list", .oneHost, capabilities)
        }
    }
}
