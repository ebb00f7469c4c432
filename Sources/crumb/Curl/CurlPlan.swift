import CookieModel
import RequestDecoration
import SessionOperations

/// What the user asked of curl, sorted: what crumb does itself, and what every curl gets.
struct CurlPlan {
    /// Where the user wants the response headers.
    enum HeaderDump: Equatable {
        case file([UInt8])
        case standardOutput
    }

    /// What curl does itself, in order.
    let options: [CurlOption]
    let target: CurlTarget
    /// The method of the first request.
    let method: String
    let follows: Bool
    /// Whether credentials go to other origins as well: `--location-trusted`.
    let isTrusting: Bool
    let redirectLimit: Int
    /// The statuses for which `--post301` and its like keep the method and the body.
    let keptPosts: Set<Int>
    let headerDump: HeaderDump?
    let writeOut: [UInt8]?
    /// Whether the user wants curl to say nothing.
    let isSilent: Bool
    /// The values of the user's own Cookie headers.
    let cookies: [[UInt8]]
    /// The protocols for redirects, if the user named any.
    let redirectProtocols: [UInt8]?

    init(_ given: [CurlOption]) throws {
        let isOn = { (name: String) in given.last { $0.name == name }?.isOn ?? false }
        let value = { (name: String) in given.last { $0.name == name }?.value }
        follows = given.last { CurlPlan.followingOptions.contains($0.name) }?.isOn ?? false
        if let problem = CurlRefusals.problem(given, follows: follows) { throw problem }
        guard let url = value("url") else {
            throw Problem(.urlMissing, "curl's arguments name no URL: crumb curl https://example.com/")
        }
        target = try CurlTarget(url, defaultScheme: value("proto-default"), upload: value("upload-file"))
        method = CurlPlan.method(given)
        isTrusting = isOn("location-trusted")
        redirectLimit = try CurlPlan.redirectLimit(value("max-redirs"))
        keptPosts = Set([301, 302, 303].filter { isOn("post\($0)") })
        redirectProtocols = value("proto-redir")
        cookies = given.compactMap { option in
            option.name == "cookie" ? option.value : option.fieldName == "cookie" ? option.fieldValue : nil
        }
        isSilent = isOn("silent")
        writeOut = value("write-out").flatMap { $0.isEmpty ? nil : $0 }
        var kept = given.filter { !CurlPlan.ownOptions.contains($0.name) && $0.fieldName != "cookie" }
        headerDump = try CurlPlan.headerDump(value("dump-header"), options: &kept)
        options = kept
        if follows { try refuseWhatCannotFollow(value("proto")) }
    }

    /// The options that say whether redirects are followed.
    private static let followingOptions: Set = ["location", "location-trusted", "follow"]

    /// The options that crumb acts on in curl's stead, or says itself.
    private static let ownOptions: Set = [
        "cookie", "disable", "dump-header", "follow", "location", "location-trusted", "max-redirs", "post301",
        "post302",
        "post303", "proto-redir", "suppress-connect-headers", "url", "write-out",
    ]

    private static func method(_ given: [CurlOption]) -> String {
        if let custom = given.last(where: { $0.name == "request" })?.value, !custom.isEmpty {
            return String(decoding: custom, as: UTF8.self).uppercased()
        }
        let names = Set(given.filter(\.isOn).map(\.name))
        if names.contains("head") { return "HEAD" }
        if names.contains("get") { return "GET" }
        if names.contains("upload-file") { return "PUT" }
        return names.isDisjoint(with: CurlOption.bodyNames) ? "GET" : "POST"
    }

    private static func redirectLimit(_ value: [UInt8]?) throws -> Int {
        guard let value else { return Redirect.limit }
        guard let limit = Int(String(decoding: value, as: UTF8.self)), limit >= -1 else {
            throw Problem(.curlArgumentsUnsupported, "--max-redirs: the value is not a number")
        }
        return limit == -1 ? .max : limit
    }

    /// Whether the body goes to a file.
    static func savesBody(_ options: [CurlOption]) -> Bool {
        let output = options.last { ["output", "remote-name", "remote-name-all"].contains($0.name) && $0.isOn }
        return output != nil && output?.value != [UInt8(ascii: "-")]
    }

    /// `--dump-header -` with the body on standard output too is `--include`, but for the colours; told apart, two
    /// streams would have to be woven together again.
    private static func headerDump(_ value: [UInt8]?, options: inout [CurlOption]) throws -> HeaderDump? {
        guard let value else { return nil }
        guard value == [UInt8(ascii: "-")] else { return .file(value) }
        if savesBody(options) { return .standardOutput }
        for name in ["include", "show-headers", "head"] where options.contains(where: { $0.name == name && $0.isOn }) {
            throw Problem(
                .curlArgumentsUnsupported,
                "--dump-header -: not together with --\(name), which prints the headers already")
        }
        options += [CurlOption(name: "include"), CurlOption(name: "styled-output", isOn: false)]
        return nil
    }

    private func refuseWhatCannotFollow(_ protocols: [UInt8]?) throws {
        if redirectProtocols != nil, protocols != nil {
            throw Problem(.curlArgumentsUnsupported, "--proto-redir: not together with --proto")
        }
        if let writeOut, WriteOut.writesFiles(writeOut) {
            throw Problem(.curlArgumentsUnsupported, "--write-out: with --location, %output{} is not supported")
        }
        for path in options.flatMap(\.bodyFiles) where !RequestBody.isReplayable(path) {
            throw Problem(
                .curlArgumentsUnsupported,
                "\(path): this can be read only once, and a redirect may need it again; use a file or standard input")
        }
    }
}
