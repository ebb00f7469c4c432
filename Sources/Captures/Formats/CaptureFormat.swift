package import CookieModel

/// The formats that captures come in. More may come: a `switch` over them wants a `default`.
public enum CaptureFormat: String, Sendable, CaseIterable {
    /// HTTP Archive 1.2: what browsers' developer tools, proxies and test tools save.
    case har

    /// Responses as they are on the wire: status line, header fields, empty line, with or without bodies, as
    /// `curl -i`, `curl --dump-header` and HTTPie write them. The caller says which URL was asked for.
    ///
    /// Several header blocks are read where one transfer makes them: informational responses, a proxy's
    /// `200 Connection established`, redirects with their `Location`, and `401`, `407` before the retry.
    /// What follows any other response is its body, whatever it looks like.
    ///
    /// A redirect's own body is the exception that no reader can tell: where the tool did not follow the redirect
    /// (`curl -i` without `-L`), a body that begins with a header block is byte for byte what a followed redirect
    /// looks like. Responses after a redirect are therefore marked ``CapturedResponse/URLOrigin/redirect``, so that
    /// a caller who does not trust the redirecting server can leave those of other sites out.
    case http

    /// The cookie file of Netscape, curl, wget, yt-dlp and browsers' exporters: a cookie a line, seven columns.
    case netscape

    /// Playwright's and Puppeteer's saved state, and Playwright's `context.cookies()`: `{"cookies":[…],"origins":[…]}`.
    case storageState = "storage-state"

    /// What WebDriver's "Get All Cookies" and WebDriver BiDi's `storage.getCookies` answer.
    case webDriver = "webdriver"

    /// What the Chrome DevTools Protocol's `Storage.getCookies` and Puppeteer's `page.cookies()` answer.
    case devTools = "devtools"

    /// What the extensions Cookie-Editor and EditThisCookie, and their kin, export as JSON.
    case cookieEditor = "cookie-editor"

    /// HTTPie's session file, with a list of cookies (since 3.1) or a member for each (before). Cookies that it bound to
    /// no host need the URL from the caller.
    case httpieSession = "httpie-session"

    /// What curl writes for `%{header_json}`: the last response's fields. The caller says which URL was asked for.
    case headerJSON = "header-json"

    /// What `curl -v` tells on standard error. Bodies belong elsewhere (`--output`): no response counts behind a line
    /// that is none of curl's own.
    case curlVerbose = "curl-verbose"

    /// What `curl --trace-ascii` and `curl --trace` write.
    case curlTrace = "curl-trace"

    /// What `wget -S` tells on standard error.
    case wgetVerbose = "wget-verbose"

    /// Chromium's net-log (`--log-net-log`), recorded with `--net-log-capture-mode=IncludeSensitive`.
    case netLog = "net-log"

    /// WARC 1.0 and 1.1, unpacked: its records of the type `response`.
    case warc

    /// What scripts read from `document.cookie`: `a=1; b=2`. The caller says which page's it is, and the format too: no
    /// text tells that it is this.
    case documentCookie = "document-cookie"

    /// The messages of a web view's capture script, one in JSON on each line.
    case captureMessages = "capture-messages"

    /// Safari's `Cookies.binarycookies`.
    case binaryCookies = "binary-cookies"

    /// Firefox's database of cookies. A ``CaptureReader`` reads none of the three: they are files, not streams.
    case firefox

    /// The database of cookies of Chromium and its kin.
    case chromium

    /// WebKitGTK's database of cookies.
    case webKitGTK = "webkitgtk"

    /// JSON lines of our own, as `crumb export --format json` writes them: a cookie a line, nothing lost.
    case json

    /// What `tshark -T json -x -J "frame tcp http http2"` prints of a packet capture.
    case tsharkJSON = "tshark-json"

    /// Firefox's session store (`sessionstore.jsonlz4`), which has the cookies that end with the session.
    case firefoxSession = "firefox-session"

    /// Logs of the Chrome DevTools Protocol: what Chromedriver and Selenium call "performance" logs, arrays of events, or
    /// an event in JSON on each line.
    case devToolsLog = "devtools-log"

    /// What `http -v` (HTTPie) prints. The caller says which URL was asked for.
    case httpieVerbose = "httpie-verbose"

    /// Commands that browsers' developer tools make with "Copy as cURL", for bash and for Windows' cmd. Their cookies are
    /// those that the requests sent.
    case curlCommand = "curl-command"

    /// Calls that browsers' developer tools make with "Copy as fetch".
    case fetchCall = "fetch"

    /// Commands that browsers' developer tools make with "Copy as PowerShell".
    case powerShell = "powershell"

    /// A request's header lines of which the first is `Cookie:`, or that field's value alone. The caller says which URL the
    /// request is for.
    case cookieHeader = "cookie-header"

    /// Whether the format is a browser's database.
    public var isDatabase: Bool {
        switch self {
        case .firefox, .chromium, .webKitGTK: true
        default: false
        }
    }

    /// Whether the format is a request that a person copied for its cookies.
    package var isCopiedRequest: Bool {
        switch self {
        case .curlCommand, .fetchCall, .powerShell, .cookieHeader: true
        default: false
        }
    }

    /// What of a cookie the format can hold; `nil` for recorded responses, whose Set-Cookie lines say everything.
    public var capabilities: FormatCapabilities? {
        switch self {
        case .netscape: ExportFormat.netscape.capabilities
        case .storageState: ExportFormat.storageState.capabilities
        case .webDriver: ExportFormat.webDriver.capabilities
        case .httpieSession: ExportFormat.httpieSession.capabilities
        case .json: ExportFormat.json.capabilities
        case .devTools: .browser(partitions: .all)
        // Extensions that do not ask for partitioned cookies do not write the member.
        case .cookieEditor: .browser(optional: [.partition], partitions: .all)
        case .firefoxSession: .browser(partitions: .ownSiteUnmarked)
        case .binaryCookies: .browser([.creation], partitions: .ownSiteUnmarked)
        // Its database has the same number for SameSite=None and for no attribute.
        case .webKitGTK: .browser([.lastAccess], optional: [.sameSite], partitions: .ownSiteUnmarked)
        case .firefox, .chromium: .browser([.creation, .lastAccess], partitions: .all)
        case .har, .http, .headerJSON, .curlVerbose, .curlTrace, .wgetVerbose, .netLog, .warc, .documentCookie,
            .captureMessages, .tsharkJSON, .devToolsLog, .httpieVerbose, .curlCommand, .fetchCall, .powerShell,
            .cookieHeader:
            nil
        }
    }

    /// What a cookie that was read from the format says nothing about.
    package var unstated: CookieProperties { capabilities?.unstated ?? [] }

    /// The format's name for a person.
    public var title: String {
        switch self {
        case .har: "HAR"
        case .http: "raw HTTP responses (curl -i, curl --dump-header)"
        case .netscape: "Netscape cookies.txt"
        case .storageState: "storageState of Playwright and Puppeteer"
        case .webDriver: "cookie lists of WebDriver"
        case .devTools: "cookie lists of DevTools"
        case .cookieEditor: "exports of Cookie-Editor and EditThisCookie"
        case .httpieSession: "HTTPie sessions"
        case .headerJSON: "curl's %{header_json}"
        case .curlVerbose: "curl -v"
        case .curlTrace: "curl --trace-ascii, curl --trace"
        case .wgetVerbose: "wget -S"
        case .netLog: "Chromium's net-log"
        case .warc: "WARC"
        case .documentCookie: "strings of document.cookie"
        case .captureMessages: "messages of the capture script"
        case .binaryCookies: "Safari's Cookies.binarycookies"
        case .tsharkJSON: "tshark's JSON"
        case .firefoxSession: "Firefox's session store"
        case .firefox, .chromium, .webKitGTK: "databases of Firefox, Chromium and WebKitGTK"
        case .json: "JSON lines of crumb"
        case .devToolsLog: "logs of the DevTools protocol"
        case .httpieVerbose: "http -v"
        case .curlCommand: "Copy as cURL"
        case .fetchCall: "Copy as fetch"
        case .powerShell: "Copy as PowerShell"
        case .cookieHeader: "a Cookie line"
        }
    }

    /// The format of a capture by what it begins with; `nil` if it is none of these.
    ///
    /// A byte order mark and leading white space do not count. Of a cookie file the first line that is not a comment
    /// must be there, if its first line does not name the format.
    ///
    /// - Parameter prefix: the first bytes, best ``CaptureLimits/prefixByteCount`` of them or all there are.
    public static func detect(_ prefix: Span<UInt8>) -> CaptureFormat? {
        var preamble = Preamble()
        guard let start = preamble.skip(prefix), preamble.held.isEmpty else { return nil }
        var detector = FormatDetector()
        guard case .format(let format) = detector.finding(in: prefix.extracting(start..<prefix.count), isWhole: true)
        else { return nil }
        return format
    }
}

extension CaptureFormat {
    /// A reader of this format.
    ///
    /// - Parameters:
    ///   - source: the capture's name in places.
    ///   - url: the URL that was asked for, for the formats that do not tell.
    ///   - container: the container of Firefox that is read.
    ///   - line, column: where the first byte stands that it will be given.
    func reader(source: String, url: String?, container: Int, line: Int, column: Int) -> any FormatReader {
        func list(_ dialect: CookieDialect) -> any FormatReader {
            JSONOutlineReader(
                CookieListOutline(dialect, source: source, url: url), source: source, line: line, column: column)
        }
        return switch self {
        case .har: HARReader(source: source, line: line, column: column)
        case .http: HTTPReader(source: source, url: url, firstLine: line)
        case .netscape: NetscapeReader(source: source, firstLine: line)
        case .storageState: list(.storageState)
        case .webDriver: list(.webDriver)
        case .devTools: list(.devTools)
        case .cookieEditor: list(.cookieEditor)
        case .httpieSession: list(.httpieSession)
        case .headerJSON:
            JSONOutlineReader(
                HeaderJSONOutline(source: source, url: url), source: source, line: line, column: column)
        case .curlVerbose: CurlVerboseReader(source: source, url: url, firstLine: line)
        case .curlTrace: CurlTraceReader(source: source, url: url, firstLine: line)
        case .wgetVerbose: WgetVerboseReader(source: source, url: url, firstLine: line)
        case .netLog:
            JSONOutlineReader(NetLogOutline(source: source), source: source, line: line, column: column)
        case .warc: WARCReader(source: source, firstLine: line)
        case .documentCookie: DocumentCookieReader(source: source, url: url, firstLine: line)
        case .captureMessages: CaptureMessagesReader(source: source, firstLine: line)
        case .binaryCookies: BinaryCookiesReader(source: source)
        case .json: CookieLineReader(source: source, firstLine: line)
        case .tsharkJSON:
            JSONOutlineReader(TsharkOutline(source: source), source: source, line: line, column: column)
        case .firefoxSession: FirefoxSessionReader(source: source, container: container)
        case .devToolsLog: DevToolsLogReader(source: source, line: line, column: column)
        case .httpieVerbose: HTTPieReader(source: source, url: url, firstLine: line)
        case .curlCommand, .fetchCall, .powerShell, .cookieHeader:
            CopiedRequestReader(self, source: source, url: url, firstLine: line)
        case .firefox, .chromium, .webKitGTK: DatabaseRefusal(source: source)
        }
    }
}

/// Says that a browser's database is no stream.
private struct DatabaseRefusal: FormatReader {
    let source: String
    let bufferedByteCount = 0

    mutating func read(_ bytes: Span<UInt8>, into items: inout [CaptureItem]) {}

    mutating func finish(into items: inout [CaptureItem]) {
        items.append(.failure(.database(at: CapturePlace(source: source))))
    }
}
