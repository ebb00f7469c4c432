import CookieModel
import RequestDecoration
import SessionOperations

// What curl is asked for one hop.
extension CurlPlan {
    /// The options that stand for somebody's identity, whatever the method of proof.
    private static let authorizationOptions: Set = [
        "aws-sigv4", "delegation", "login-options", "negotiate", "netrc", "netrc-file", "netrc-optional", "ntlm",
        "ntlm-wb",
        "oauth2-bearer", "sasl-authzid", "service-name", "user",
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

    /// Whether curl may answer challenges, so that it has to be kept from redirects in another way.
    var answersChallenges: Bool {
        options.contains { CurlPlan.challengedOptions.contains($0.name) && $0.isOn }
    }

    /// The URL that curl gets: the user's own text first, then what the redirects name.
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
                // The other half of what --json says.
                options.append(CurlOption(name: "header", value: Array("Accept: application/json".utf8)))
            }
        }
        if follows {
            // This makes curl leave the body of a redirect out, and then stop. It has one way that does not count the
            // answer to a challenge as a redirect, and one that says so in the status that is meant for it.
            options.append(CurlOption(name: "location"))
            options.append(
                answersChallenges
                    ? CurlOption(name: "proto-redir", value: Array("-all".utf8))
                    : CurlOption(name: "max-redirs", value: Array("0".utf8)))
        }
        // What a proxy answers to CONNECT sets no cookies for the server behind it.
        options.append(CurlOption(name: "suppress-connect-headers"))
        options.append(CurlOption(name: "url", value: url(for: hop)))
        return options
    }

    /// An option as a later hop has it; `nil` where it stays behind.
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
    func problem(with hop: RedirectChain) -> Problem? {
        let upload = options.last { $0.name == "upload-file" }?.value
        guard hop.number > 1, hop.keepsBody, let upload, !CurlTarget.isStandardInput(upload),
            hop.context.url.path.last == UInt8(ascii: "/")
        else { return nil }
        return Problem(
            .redirectInvalid,
            "\(hop.context.url.origin): a redirect to a URL that ends with a slash; curl would add the file's name to it"
        )
    }
}
