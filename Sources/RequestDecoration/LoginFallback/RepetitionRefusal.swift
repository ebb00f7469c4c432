package import CookieModel
package import RequestExchange

extension LoginChallenge {
    /// Why the request must not be sent once more after this response; `nil` if it may be.
    ///
    /// This is the only place that decides it, for ``RequestDecorator``, the gateway, `crumb curl` and the service. RFC
    /// 9110, section 9.2.2, permits a client to repeat a request by itself if its method is safe, or if it knows that the
    /// server has not acted on the request.
    ///
    /// - Parameter isBodyRepeatable: Whether the request has no body, or one that can be sent again.
    package func repetitionRefusal(of request: RequestContext, isBodyRepeatable: Bool = true) -> RepetitionRefusal? {
        RepetitionRefusal(
            mayRepeat: request.hasSafeMethod || isUnprocessed, isBodyRepeatable: isBodyRepeatable)
    }
}

extension ResponseHead {
    /// The errors of RFC 9209, section 2.3, whose definition says that the request did not reach the next server.
    private static let unforwarded: Set<String> = [
        "connection_limit_reached", "connection_refused", "connection_timeout", "destination_ip_prohibited",
        "destination_ip_unroutable", "destination_not_found", "destination_unavailable", "dns_error", "dns_timeout",
        "http_request_denied", "proxy_internal_response", "tls_certificate_error",
    ]

    /// Whether the server has certainly not acted on the request: it refused it for lack of a login, or an intermediary
    /// responded without forwarding it.
    var isUnprocessed: Bool {
        if status == 401 || status == 403 { return true }
        let errors = proxyStatus.flatMap(ResponseHead.errors(inProxyStatus:))
        return !errors.isEmpty && errors.allSatisfy(ResponseHead.unforwarded.contains)
    }

    /// The errors in a Proxy-Status field, a list of RFC 9651. A member that an intermediary made of a response that it
    /// had received counts as an error of no name, and so does text that is not a list.
    private static func errors(inProxyStatus value: Octets) -> [String] {
        var errors: [String] = []
        for member in split(value.bytes[...], at: UInt8(ascii: ",")) {
            var error: String?
            for parameter in split(member, at: UInt8(ascii: ";")).dropFirst() {
                let text = String(decoding: parameter, as: UTF8.self).filter { $0 != " " && $0 != "\t" }
                let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if pair[0] == "error" { error = pair.count == 2 ? String(pair[1]) : "" }
                if pair[0] == "received-status" { return [""] }
            }
            if let error { errors.append(error) }
        }
        return errors
    }

    /// The parts of a text between separators that are not in a quoted string.
    private static func split(_ text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            let octet = text[index]
            if isEscaped {
                isEscaped = false
            } else if octet == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                isEscaped = octet == UInt8(ascii: "\\")
            } else if octet == separator {
                parts.append(text[start..<index])
                start = index + 1
            }
        }
        return parts + [text[start...]]
    }
}
