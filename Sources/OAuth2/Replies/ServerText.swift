internal import WebPrimitives

/// Text from a server, made safe for errors and terminals.
///
/// Errors of servers may repeat the request, including tokens, and contain whole stack traces.
enum ServerText {
    static let maximumCodeLength = 64
    static let maximumDescriptionLength = 200
    private static let maximumInputLength = 4096

    /// The error codes of the specifications. They reveal nothing of a request, even if a short secret of it is part of
    /// one.
    private static let knownCodes: Set<String> = [
        // RFC 6749, sections 4.1.2.1 and 5.2
        "access_denied", "invalid_client", "invalid_grant", "invalid_request", "invalid_scope", "server_error",
        "temporarily_unavailable", "unauthorized_client", "unsupported_grant_type", "unsupported_response_type",
        // RFC 6750, section 3.1; RFC 9470, section 3
        "insufficient_scope", "insufficient_user_authentication", "invalid_token",
        // RFC 7009, section 2.2.1
        "unsupported_token_type",
        // RFC 7591, section 3.2.2
        "invalid_client_metadata", "invalid_redirect_uri", "invalid_software_statement",
        "unapproved_software_statement",
        // RFC 8628, section 3.5
        "authorization_pending", "expired_token", "slow_down",
        // RFC 8707, section 2; RFC 9396, section 5; RFC 9449, sections 5 and 8
        "invalid_authorization_details", "invalid_dpop_proof", "invalid_target", "use_dpop_nonce",
        // OpenID Connect Core 1.0, section 3.1.2.6; Unmet Authentication Requirements 1.0
        "account_selection_required", "consent_required", "interaction_required", "invalid_request_object",
        "invalid_request_uri", "login_required", "registration_not_supported", "request_not_supported",
        "request_uri_not_supported", "unmet_authentication_requirements",
    ]

    /// The value of `error`, if it is one of ``knownCodes``. Another one must be within `%x20-21 / %x23-5B / %x5D-7E`
    /// (RFC 6749, section 5.2), without secrets and words that could be tokens.
    static func errorCode(_ value: JSONValue?, redacting secrets: [Secret]) -> String? {
        guard let text = value?.nonEmptyText else { return nil }
        if knownCodes.contains(text) { return text }
        guard text.utf8.count <= maximumCodeLength, !holds(text, any: secrets),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }),
            withoutTokenLikeWords(text) == text
        else { return nil }
        return text
    }

    /// The value of `error_description` on one line, without characters that could control a terminal and without words
    /// that could be tokens.
    static func errorDescription(_ value: JSONValue?, redacting secrets: [Secret]) -> String? {
        guard let text = value?.nonEmptyText, text.utf8.count <= maximumInputLength, !holds(text, any: secrets)
        else { return nil }
        let line = onOneLine(text)
        // Checked again: the removed characters may have cut a secret in pieces.
        guard !holds(line, any: secrets) else { return nil }
        let safe = withoutTokenLikeWords(line)
        guard !safe.isEmpty else { return nil }
        return safe.count <= maximumDescriptionLength ? safe : safe.prefix(maximumDescriptionLength - 1) + "…"
    }

    private static func onOneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator:
                if let last = line.last, last != " " { line.append(" ") }
            case .format, .surrogate, .privateUse, .unassigned: continue
            default: line.append(scalar == "\"" ? "'" : scalar)
            }
        }
        if line.last == " " { line.removeLast() }
        return String(line)
    }

    /// `text` with "…" for each run of token characters that is too long for a word of a language or an error code.
    private static func withoutTokenLikeWords(_ text: String) -> String {
        var output = String.UnicodeScalarView()
        var run = String.UnicodeScalarView()
        func flush() {
            output += run.count >= (looksRandom(run) ? 16 : 40) ? "…".unicodeScalars : run
            run.removeAll()
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~", "+", "/", "=", "%": run.append(scalar)
            default:
                flush()
                output.append(scalar)
            }
        }
        flush()
        return String(output)
    }

    /// Whether digits, or digits and letters of both cases, are mixed as no word like `invalid_oauth2_client` has them.
    private static func looksRandom(_ run: String.UnicodeScalarView) -> Bool {
        let digits = run.count { ("0"..."9").contains($0) }
        let isMixed = run.contains { ("a"..."z").contains($0) } && run.contains { ("A"..."Z").contains($0) }
        return digits >= 3 || (digits > 0 && isMixed)
    }

    private static func holds(_ text: String, any secrets: [Secret]) -> Bool {
        let haystack = Array(text.utf8)
        return secrets.contains { secret in
            secret.withExposed { needle in
                guard !needle.isEmpty, needle.count <= haystack.count else { return false }
                return (0...(haystack.count - needle.count)).contains { start in
                    needle.indices.allSatisfy { haystack[start + $0] == needle[$0] }
                }
            }
        }
    }
}
