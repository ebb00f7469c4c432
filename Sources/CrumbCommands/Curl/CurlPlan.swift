import CookieModel
import RequestDecoration
import SessionOperations

/// The user's request to curl, sorted: the options that crumb handles itself, and those that every curl gets.
struct CurlPlan {
    /// Where the user wants the response headers.
    enum HeaderDump: Equatable {
        case file([UInt8])
        case standardOutput
    }

    /// The options that curl handles itself, in order.
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
            throw CommandFailure(.urlMissing, "curl's arguments name no URL: crumb curl https://example.com/")
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
        "post302", "post303", "proto-redir", "suppress-connect-headers", "url", "write-out",
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
            throw CommandFailure(.curlArgumentsUnsupported, "--max-redirs: the value is not a number")
        }
        return limit == -1 ? .max : limit
    }

    /// Whether the body goes to a file.
    static func savesBody(_ options: [CurlOption]) -> Bool {
        let output = options.last { ["output", "remote-name", "remote-name-all"].contains($0.name) && $0.isOn }
        return output != nil && output?.value != [UInt8(ascii: "-")]
    }

    /// `--dump-header -` with the body on standard output too is `--include`, but for the colors; as two streams, they
    /// would have to be interleaved again.
    private static func headerDump(_ value: [UInt8]?, options: inout [CurlOption]) throws -> HeaderDump? {
        guard let value else { return nil }
        guard value == [UInt8(ascii: "-")] else { return .file(value) }
        if savesBody(options) { return .standardOutput }
        for name in ["include", "show-headers", "head"] where options.contains(where: { $0.name == name && $0.isOn }) {
            throw CommandFailure(
                .curlArgumentsUnsupported,
                "--dump-header -: not together with --\(name), which prints the headers already")
        }
        options += [CurlOption(name: "include"), CurlOption(name: "styled-output", isOn: false)]
        return nil
    }

    private func refuseWhatCannotFollow(_ protocols: [UInt8]?) throws {
        if redirectProtocols != nil, protocols != nil {
            throw CommandFailure(.curlArgumentsUnsupported, "--proto-redir: not together with --proto")
        }
        // Nothing could hold back what is written to files.
        if let writeOut, String(decoding: writeOut, as: UTF8.self).contains("%output{") {
            throw CommandFailure(.curlArgumentsUnsupported, "--write-out: with --location, %output{} is not supported")
        }
        for path in options.flatMap(\.bodyFiles) where !RequestBody.isReplayable(path) {
            throw CommandFailure(
                .curlArgumentsUnsupported,
                "\(path): can be read only once, but a redirect may need it again; use a file or standard input")
        }
    }
}

extension CurlPlan {
    /// The fields that options of curl other than `--header` set.
    private static let optionFields: [String: Set<String>] = [
        "compressed": ["accept-encoding"], "json": ["accept", "content-type"], "range": ["range"],
        "referer": ["referer"], "user-agent": ["user-agent"],
    ]

    /// The names of the header fields that the user sets or suppresses, in lower case.
    var givenFields: Set<String> {
        var names = Set(options.compactMap(\.fieldName))
        for option in options where option.isOn { names.formUnion(CurlPlan.optionFields[option.name] ?? []) }
        return names
    }

    /// Whether the user's own options authenticate the request, so that no token is added.
    var signsIn: Bool {
        answersChallenges
            || options.contains { $0.fieldName == "authorization" || ["user", "oauth2-bearer"].contains($0.name) }
    }

    /// Whether a hop can be made again with its body, or needs none.
    func canRepeatBody(in hop: RedirectChain) -> Bool {
        hop.hasActed && !hop.keepsBody || options.flatMap(\.bodyFiles).allSatisfy(RequestBody.isReplayable)
    }
}

// The arguments of curl for one hop.
extension CurlPlan {
    /// The options that carry an identity, whatever the authentication method.
    private static let authorizationOptions: Set = [
        "aws-sigv4", "delegation", "login-options", "negotiate", "netrc", "netrc-file", "netrc-optional", "ntlm",
        "ntlm-wb", "oauth2-bearer", "sasl-authzid", "service-name", "user",
    ]
    private static let certificateOptions: Set = [
        "cert", "cert-type", "key", "key-type", "pass", "tlsauthtype", "tlspassword", "tlsuser",
    ]

    /// The options with which curl answers a challenge by a second request, which it counts as a redirect.
    private static let challengedOptions: Set = [
        "anyauth", "digest", "negotiate", "ntlm", "ntlm-wb", "proxy-anyauth", "proxy-digest", "proxy-negotiate",
        "proxy-ntlm",
    ]

    /// Whether the user's Authorization goes with a hop.
    private func sendsAuthorization(_ hop: RedirectChain) -> Bool {
        !hop.hasLeftOrigin || (isTrusting && !hop.isDowngraded)
    }

    /// The user's own cookies for a hop.
    func cookies(for hop: RedirectChain) -> [[UInt8]] {
        hop.hasLeftOrigin ? [] : cookies
    }

    /// Whether curl may answer challenges, so that redirects need another way to be stopped.
    var answersChallenges: Bool {
        options.contains { CurlPlan.challengedOptions.contains($0.name) && $0.isOn }
    }

    /// The URL that curl gets: the user's own text for the first hop, then the targets of redirects.
    private func url(for hop: RedirectChain) -> [UInt8] {
        guard hop.number > 1 else { return target.text }
        let text = Array(hop.context.url.description.utf8)
        guard !hop.hasLeftOrigin, let slashes = text.firstIndex(of: UInt8(ascii: "/")) else { return text }
        return text[..<(slashes + 2)] + target.userInfo + text[(slashes + 2)...]
    }

    /// All that curl is asked for a hop but the cookies, which no argument list may hold.
    func options(for hop: RedirectChain) -> [CurlOption] {
        var options = hop.number == 1 ? options : options.compactMap { adapted($0, to: hop) }
        if hop.number > 1 {
            options.append(CurlOption(name: "globoff"))
            if let redirectProtocols { options.append(CurlOption(name: "proto", value: redirectProtocols)) }
            if !hop.keepsBody, self.options.contains(where: { $0.name == "json" }) {
                // `--json` also means this field.
                options.append(CurlOption(name: "header", value: Array("Accept: application/json".utf8)))
            }
        }
        if follows {
            // This makes curl leave out the body of a redirect, and then stop. The first option does not count the
            // response to a challenge as a redirect; the second one ends with curl's own exit status for redirects.
            options.append(CurlOption(name: "location"))
            options.append(
                answersChallenges
                    ? CurlOption(name: "proto-redir", value: Array("-all".utf8))
                    : CurlOption(name: "max-redirs", value: Array("0".utf8)))
        }
        // A proxy's response to CONNECT sets no cookies for the server.
        options.append(CurlOption(name: "suppress-connect-headers"))
        options.append(CurlOption(name: "url", value: url(for: hop)))
        return options
    }

    /// An option for a later hop; `nil` if it is dropped.
    private func adapted(_ option: CurlOption, to hop: RedirectChain) -> CurlOption? {
        if CurlPlan.authorizationOptions.contains(option.name), !sendsAuthorization(hop) { return nil }
        if CurlPlan.certificateOptions.contains(option.name), hop.hasLeftOrigin { return nil }
        if let field = option.fieldName {
            if field == "authorization" || field == "proxy-authorization", !sendsAuthorization(hop) { return nil }
            if CurlOption.bodyFields.contains(field), !hop.keepsBody { return nil }
        }
        if CurlOption.bodyOptions.contains(option.name), !hop.keepsBody { return nil }
        switch option.name {
        case "get", "url-query":
            // They made the first URL; the next one is in the Location.
            return nil
        case _ where CurlOption.bodyNames.contains(option.name) && options.contains { $0.name == "get" && $0.isOn }:
            return nil
        case "remote-name" where option.isOn && !namesFileByHeader,
            "remote-name-all" where option.isOn && !namesFileByHeader:
            let isDash = target.remoteName == [UInt8(ascii: "-")]
            return CurlOption(name: "output", value: isDash ? Array("./-".utf8) : target.remoteName)
        case "referer":
            let isAutomatic = option.value?.suffix(5).elementsEqual(Array(";auto".utf8)) ?? false
            guard isAutomatic, let referrer = hop.referrer else { return option }
            return CurlOption(name: "referer", value: Array(referrer.description.utf8), isPrivate: option.isPrivate)
        default:
            return option
        }
    }

    private var namesFileByHeader: Bool {
        options.last { $0.name == "remote-header-name" }?.isOn ?? false
    }

    /// The method of a hop as curl sends it: one that the user names keeps its case.
    func sentMethod(for hop: RedirectChain) -> String {
        let named = options(for: hop).last { $0.name == "request" }?.value.map { String(decoding: $0, as: UTF8.self) }
        guard let named, named.uppercased() == hop.context.method else { return hop.context.method }
        return named
    }

    /// Why a hop cannot be made, if it cannot.
    func problem(with hop: RedirectChain) -> CommandFailure? {
        let upload = options.last { $0.name == "upload-file" }?.value
        guard hop.number > 1, hop.keepsBody, let upload, !CurlTarget.isStandardInput(upload),
            hop.context.url.path.last == UInt8(ascii: "/")
        else { return nil }
        return CommandFailure(
            .redirectInvalid,
            "\(hop.context.url.origin): a redirect to a URL that ends with a slash; curl would add the file's name to it"
        )
    }
}
