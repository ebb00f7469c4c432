/// The facts about one format: its row in the table of formats.
struct CaptureFormatRow {
    /// What a file of a format is, for a list of formats.
    enum Group: String, CaseIterable {
        case recordings
        case cookieFiles = "cookie files"
        case exports = "exports of tools"
        case databases = "browser databases"
        case copies = "copied text"
    }

    let group: Group
    /// The format's name for a person.
    let title: String
    /// The properties of a cookie that the format can hold; `nil` for recorded responses.
    let capabilities: FormatCapabilities?
    let isCopiedRequest: Bool
    /// Makes a reader; `nil` for a database, which is read from its file.
    let reader: ((CaptureStart) -> any FormatReader)?

    init(
        _ group: Group, _ title: String, _ capabilities: FormatCapabilities? = nil, isCopiedRequest: Bool = false,
        reader: ((CaptureStart) -> any FormatReader)? = nil
    ) {
        (self.group, self.title, self.capabilities) = (group, title, capabilities)
        (self.isCopiedRequest, self.reader) = (isCopiedRequest, reader)
    }

    /// A document of JSON that lists cookies.
    fileprivate static func list(
        _ group: Group, _ title: String, _ dialect: CookieDialect, _ capabilities: FormatCapabilities
    ) -> CaptureFormatRow {
        CaptureFormatRow(group, title, capabilities) { JSONOutlineReader(CookieListOutline(dialect, $0), $0) }
    }

    /// A request that a person copied.
    fileprivate static func request(_ title: String, _ format: CaptureFormat) -> CaptureFormatRow {
        CaptureFormatRow(.copies, title, isCopiedRequest: true) { CopiedRequestReader(format, $0) }
    }
}

extension CaptureFormat {
    private typealias Row = CaptureFormatRow

    /// Makes a reader of this format.
    func reader(_ start: CaptureStart) -> any FormatReader {
        row.reader?(start) ?? DatabaseRefusal(source: start.source)
    }

    /// The format's row. To add a format, write its row here and its beginning in ``FormatDetector``.
    var row: CaptureFormatRow {
        let databases = "databases of Firefox, Chromium and WebKitGTK"
        return switch self {
        case .har: Row(.recordings, "HAR") { HARReader($0) }
        case .http: Row(.recordings, "raw HTTP responses (curl -i, curl --dump-header)") { HTTPReader($0) }
        case .headerJSON: Row(.recordings, "curl's %{header_json}") { JSONOutlineReader(HeaderJSONOutline($0), $0) }
        case .curlVerbose: Row(.recordings, "curl -v") { LineReader(CurlVerboseReader($0), $0) }
        case .curlTrace: Row(.recordings, "curl --trace-ascii, curl --trace") { LineReader(CurlTraceReader($0), $0) }
        case .wgetVerbose: Row(.recordings, "wget -S") { LineReader(WgetVerboseReader($0), $0) }
        case .netLog: Row(.recordings, "Chromium's net-log") { JSONOutlineReader(NetLogOutline(source: $0.source), $0) }
        case .warc: Row(.recordings, "WARC") { WARCReader($0) }
        case .captureMessages:
            Row(.recordings, "messages of the capture script") { LineReader(CaptureMessagesReader(), $0) }
        case .tsharkJSON: Row(.recordings, "tshark's JSON") { JSONOutlineReader(TsharkOutline(source: $0.source), $0) }
        case .devToolsLog: Row(.recordings, "logs of the DevTools protocol") { DevToolsLogReader($0) }
        case .httpieVerbose: Row(.recordings, "http -v") { LineReader(HTTPieReader($0), $0) }

        case .netscape:
            Row(.cookieFiles, "Netscape cookies.txt", ExportFormat.netscape.capabilities) {
                LineReader(NetscapeReader(), $0)
            }
        case .json:
            Row(.cookieFiles, "JSON lines of crumb", ExportFormat.json.capabilities) {
                LineReader(CookieLineReader(), $0)
            }
        case .binaryCookies:
            Row(
                .cookieFiles, "Safari's Cookies.binarycookies", .browser([.creation], partitions: .ownSiteUnmarked)
            ) { BinaryCookiesReader(source: $0.source) }
        case .httpieSession:
            .list(.cookieFiles, "HTTPie sessions", .httpieSession, ExportFormat.httpieSession.capabilities)
        case .toughCookie:
            .list(.cookieFiles, "jars of tough-cookie", .toughCookie, .browser(partitions: .ownSiteUnmarked))

        case .storageState:
            .list(
                .exports, "storageState of Playwright and Puppeteer", .storageState,
                ExportFormat.storageState.capabilities)
        case .webDriver:
            .list(.exports, "cookie lists of WebDriver", .webDriver, ExportFormat.webDriver.capabilities)
        case .devTools: .list(.exports, "cookie lists of DevTools", .devTools, .browser(partitions: .all))
        // Extensions that do not ask for partitioned cookies do not write the member.
        case .cookieEditor:
            .list(
                .exports, "exports of Cookie-Editor and EditThisCookie", .cookieEditor,
                .browser(optional: [.partition], partitions: .all))

        case .firefox, .chromium:
            Row(.databases, databases, .browser([.creation, .lastAccess], partitions: .all))
        // Its database has the same number for SameSite=None and for no attribute.
        case .webKitGTK:
            Row(
                .databases, databases,
                .browser([.lastAccess], optional: [.sameSite], partitions: .ownSiteUnmarked))
        case .firefoxSession:
            Row(.databases, "Firefox's session store", .browser(partitions: .ownSiteUnmarked)) {
                FirefoxSessionReader($0)
            }

        case .documentCookie:
            Row(.copies, "strings of document.cookie") { LineReader(DocumentCookieReader($0), $0) }
        case .cookieTable:
            Row(
                .copies, "tables of developer tools", .browser(optional: [.partition], partitions: .all)
            ) { LineReader(CookieTableReader(), $0) }
        case .curlCommand: .request("Copy as cURL", self)
        case .fetchCall: .request("Copy as fetch", self)
        case .powerShell: .request("Copy as PowerShell", self)
        case .cookieHeader: .request("a Cookie line", self)
        }
    }
}

/// Says that a browser's database is no stream.
private struct DatabaseRefusal: FormatReader {
    let source: String
    let bufferedByteCount = 0

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {}

    mutating func finish(into items: inout [CaptureItem]) {
        items.append(.failure(.database, at: CapturePlace(source: source)))
    }
}
