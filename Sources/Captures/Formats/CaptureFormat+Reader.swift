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
