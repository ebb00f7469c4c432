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

    /// JSON lines of our own, as `crumb export --format json` writes them: a cookie a line, nothing lost.
    case json

    /// The format's name for a person.
    public var title: String {
        switch self {
        case .har: "HAR"
        case .http: "raw HTTP responses (curl -i, curl --dump-header)"
        case .netscape: "Netscape cookies.txt"
        case .json: "JSON lines of crumb"
        }
    }

    /// The format of a capture by what it begins with; `nil` where it is none of these.
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
