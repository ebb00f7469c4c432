import SessionOperations

/// The uses of curl that `crumb curl` rejects, because it could only keep half of its promise.
enum CurlRefusals {
    /// Options that never go together with a jar.
    private static let always: [String: String] = [
        "next": "one request at a time; run 'crumb curl' once for each",
        "cookie-jar": "crumb stores the cookies: remove the option, also from .curlrc",
        "junk-session-cookies": "crumb stores the cookies; curl has no session of its own here",
        "hsts": "curl would change http to https, unknown to the cookie rules; write https in the URL",
        "request-target": "cookies are selected by the path of the URL, and the server would see another one",
        "libcurl": "the source code that curl writes would contain the cookies",
        "metalink": "it makes several requests",
        "variable": "variables are not supported; write the values out",
        "help": "run curl itself for this", "manual": "run curl itself for this", "version": "run curl itself for this",
    ]

    /// Options that do not go together with a request for each redirect.
    private static let whenFollowing: [String: String] = [
        "stderr": "with --location, redirect the shell's standard error instead",
        "retry-all-errors": "with --location, only --retry and --retry-connrefused are supported",
        "parallel": "with --location, one URL needs no parallel transfers",
    ]

    /// The first reason not to run curl with these options.
    static func problem(_ options: [CurlOption], follows: Bool) -> CommandFailure? {
        for option in options where option.isOn {
            let reason = always[option.name] ?? (follows ? whenFollowing[option.name] : nil) ?? reason(option)
            if let reason { return CommandFailure(.curlArgumentsUnsupported, "\(option.spelling): \(reason)") }
        }
        let urls = options.filter { $0.name == "url" }
        if urls.count > 1 {
            return CommandFailure(
                .curlArgumentsUnsupported, "\(urls.count) URLs: one at a time; run 'crumb curl' once for each")
        }
        return globbing(options)
    }

    private static func reason(_ option: CurlOption) -> String? {
        guard let value = option.value else { return nil }
        switch option.name {
        case "cookie":
            return value.contains(UInt8(ascii: "="))
                ? nil : "a cookie file would bypass the jar; use 'crumb import'"
        case "url":
            if value.first == UInt8(ascii: "@") { return "a file of URLs is not supported; name one URL" }
            if value.contains(UInt8(ascii: "\\")) {
                return "a backslash in a URL means different hosts to different programs"
            }
            return nil
        case "trace", "trace-ascii":
            return value == [UInt8(ascii: "-")] || value == [UInt8(ascii: "%")]
                ? nil : "the file would contain the cookies, readable to others; use '-', '%' or --verbose"
        case "dump-header":
            return value == [UInt8(ascii: "%")] ? "name a file, or '-' for standard output" : nil
        case "header":
            return headerReason(option, value)
        default:
            return nil
        }
    }

    private static func headerReason(_ option: CurlOption, _ value: [UInt8]) -> String? {
        if value.contains(0x0A) || value.contains(0x0D) { return "a line break would split the header in two" }
        switch option.fieldName {
        case "host":
            return "cookies are selected by the host of the URL; name the host there, and the machine with "
                + "--connect-to or --resolve"
        case "cookie" where option.fieldValue ?? [] == []:
            return "this would remove the Cookie header that crumb sends"
        default:
            return nil
        }
    }

    /// Braces and brackets make several URLs of one, unless `--globoff` is given. Those of an IPv6 address do not.
    private static func globbing(_ options: [CurlOption]) -> CommandFailure? {
        if options.last(where: { $0.name == "globoff" })?.isOn == true { return nil }
        for option in options where option.name == "url" || option.name == "upload-file" {
            var text = option.value ?? []
            if option.name == "url", let address = text.ipv6Address { text.removeSubrange(address) }
            if text.contains(where: Array("[]{}".utf8).contains) {
                return CommandFailure(
                    .curlArgumentsUnsupported,
                    "\(option.spelling): [] and {} make several requests; use --globoff for literal brackets"
                )
            }
        }
        return nil
    }
}

extension [UInt8] {
    /// Where a URL has `[` an IPv6 address `]`.
    fileprivate var ipv6Address: Range<Int>? {
        guard let open = firstIndex(of: UInt8(ascii: "[")), let close = self[open...].firstIndex(of: UInt8(ascii: "]")),
            open == 0 || self[open - 1] == UInt8(ascii: "/") || self[open - 1] == UInt8(ascii: "@"),
            self[(open + 1)..<close].contains(UInt8(ascii: ":")),
            self[(open + 1)..<close].allSatisfy({ Array("0123456789abcdefABCDEF:.%".utf8).contains($0) })
        else { return nil }
        return open..<(close + 1)
    }
}
