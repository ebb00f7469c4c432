package import CookieModel

/// The formats that captures come in. More may come: a `switch` over them wants a `default`.
public enum CaptureFormat: String, Sendable, CaseIterable {
    /// HTTP Archive 1.2, which browsers' developer tools, proxies and test tools save.
    case har

    /// Responses as they are on the wire: status line, header fields, empty line, with or without bodies, as `curl -i`,
    /// `curl --dump-header` and HTTPie write them. The caller gives the request's URL.
    ///
    /// Several header blocks are read if one transfer produces them: informational responses, a proxy's
    /// `200 Connection established`, redirects with their `Location`, and `401`, `407` before the retry. The bytes
    /// after any other response are its body, whatever they look like.
    ///
    /// No reader can recognize a redirect's own body: if the tool did not follow the redirect (`curl -i` without `-L`),
    /// a body that begins with a header block is, byte for byte, the same as a followed redirect. Responses after a
    /// redirect are therefore marked ``CapturedResponse/URLOrigin/redirect``, so that a caller that does not trust the
    /// redirecting server can leave those of other sites out.
    case http

    /// The cookie file of Netscape, curl, wget, yt-dlp and browsers' exporters: a cookie a line, seven columns.
    case netscape

    /// Playwright's and Puppeteer's saved state, and Playwright's `context.cookies()`: `{"cookies":[…],"origins":[…]}`.
    case storageState = "storage-state"

    /// The response to WebDriver's "Get All Cookies" or WebDriver BiDi's `storage.getCookies`.
    case webDriver = "webdriver"

    /// The response to `Storage.getCookies` of the Chrome DevTools Protocol, or the result of Puppeteer's
    /// `page.cookies()`.
    case devTools = "devtools"

    /// The JSON that the extensions Cookie-Editor and EditThisCookie, and similar ones, export.
    case cookieEditor = "cookie-editor"

    /// HTTPie's session file, with a list of cookies (since 3.1) or a member for each (before). Cookies that it bound to
    /// no host need the URL from the caller.
    case httpieSession = "httpie-session"

    /// The output of curl for `%{header_json}`: the last response's fields. The caller gives the request's URL.
    case headerJSON = "header-json"

    /// The output of `curl -v` on standard error. Bodies belong elsewhere (`--output`): a response after a line that is
    /// not curl's own does not count.
    case curlVerbose = "curl-verbose"

    /// The output of `curl --trace-ascii` and `curl --trace`.
    case curlTrace = "curl-trace"

    /// The output of `wget -S` on standard error.
    case wgetVerbose = "wget-verbose"

    /// Chromium's net-log (`--log-net-log`), recorded with `--net-log-capture-mode=IncludeSensitive`.
    case netLog = "net-log"

    /// WARC 1.0 and 1.1: its records of the type `response`.
    case warc

    /// The text that scripts read from `document.cookie`: `a=1; b=2`. The caller gives the URL of the page, and the
    /// format too, because it cannot be detected.
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

    /// The output of `tshark -T json -x -J "frame tcp http http2"` for a packet capture.
    case tsharkJSON = "tshark-json"

    /// Firefox's session store (`sessionstore.jsonlz4`), which holds session cookies.
    case firefoxSession = "firefox-session"

    /// Logs of the Chrome DevTools Protocol: the "performance" logs of Chromedriver and Selenium, arrays of events, or
    /// an event in JSON on each line.
    case devToolsLog = "devtools-log"

    /// The output of `http -v` (HTTPie). The caller gives the request's URL.
    case httpieVerbose = "httpie-verbose"

    /// Commands that browsers' developer tools make with "Copy as cURL", for bash and for Windows' cmd, and the same for
    /// wget. Their cookies are those that the requests sent.
    case curlCommand = "curl-command"

    /// Calls that browsers' developer tools make with "Copy as fetch".
    case fetchCall = "fetch"

    /// Commands that browsers' developer tools make with "Copy as PowerShell".
    case powerShell = "powershell"

    /// A request's header lines of which the first is `Cookie:`, that field's value alone, or a JSON object of names and
    /// values. The caller says which URL the request is for.
    case cookieHeader = "cookie-header"

    /// The jar that Node's tough-cookie serializes to JSON.
    case toughCookie = "tough-cookie"

    /// A table of cookies copied from a browser's developer tools: a cookie a line, its columns separated by tabs.
    case cookieTable = "cookie-table"

    /// Whether the format is a browser's database.
    package var isDatabase: Bool { row.reader == nil }

    /// Whether the format is a request that a person copied for its cookies.
    package var isCopiedRequest: Bool { row.isCopiedRequest }

    /// The properties of a cookie that the format can hold; `nil` for recorded responses, whose Set-Cookie lines hold
    /// all of them.
    package var capabilities: FormatCapabilities? { row.capabilities }

    /// The properties that a cookie read from the format leaves open.
    package var unstated: CookieProperties { capabilities?.unstated ?? [] }

    /// The format's name for a person.
    public var title: String { row.title }

    /// The names of all formats, by what they are, for a person.
    ///
    /// - Parameter name: what stands for a format.
    package static func names(_ name: (CaptureFormat) -> String = \.rawValue) -> String {
        CaptureFormatRow.Group.allCases.map { group in
            "\(group.rawValue): \(allCases.filter { $0.row.group == group }.map(name).joined(separator: ", "))"
        }.joined(separator: "; ")
    }

    /// Detects the format of a capture by its first bytes. Returns `nil` for any other format.
    ///
    /// A byte order mark and leading white space do not count. The prefix of a cookie file must include the first line
    /// that is not a comment, unless its first line names the format.
    ///
    /// - Parameter prefix: the first bytes, preferably 64 KiB of them, or all if there are fewer.
    public static func detect(_ prefix: Span<UInt8>) -> CaptureFormat? {
        var preamble = Preamble()
        guard let start = preamble.skip(prefix), preamble.held.isEmpty else { return nil }
        var detector = FormatDetector()
        guard case .format(let format) = detector.finding(in: prefix.extracting(start..<prefix.count), isWhole: true)
        else { return nil }
        return format
    }
}
