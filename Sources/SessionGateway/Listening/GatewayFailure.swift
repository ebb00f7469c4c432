import HTTPMessages
import WebPages
import WebPrimitives

/// The reason why a request did not get the server's own response: an error type of RFC 9209, the status, and advice
/// for the user.
struct GatewayFailure: Error, Sendable {
    /// The error types of RFC 9209, section 2.3, that a gateway reports.
    enum Kind: String, Sendable {
        case dnsError = "dns_error"
        case destinationIPProhibited = "destination_ip_prohibited"
        case destinationIPUnroutable = "destination_ip_unroutable"
        case connectionRefused = "connection_refused"
        case connectionTerminated = "connection_terminated"
        case connectionTimeout = "connection_timeout"
        case connectionReadTimeout = "connection_read_timeout"
        case tlsProtocolError = "tls_protocol_error"
        case tlsCertificateError = "tls_certificate_error"
        case tlsAlertReceived = "tls_alert_received"
        case httpRequestError = "http_request_error"
        case httpRequestDenied = "http_request_denied"
        case httpResponseIncomplete = "http_response_incomplete"
        case httpProtocolError = "http_protocol_error"
        case httpUpgradeFailed = "http_upgrade_failed"
        case proxyInternalError = "proxy_internal_error"
        case proxyLoopDetected = "proxy_loop_detected"
        case destinationUnavailable = "destination_unavailable"
    }

    let kind: Kind
    let status: Int
    /// The event, its subject and its cause: one sentence without its full stop.
    let sentence: String
    /// The advice to the user.
    let nextStep: String

    init(_ kind: Kind, _ status: Int, _ sentence: String, nextStep: String) {
        self.kind = kind
        self.status = status
        self.sentence = sentence
        self.nextStep = nextStep
    }

    static func requestInvalid(_ error: MessageError) -> GatewayFailure {
        let status = error == .versionUnsupported ? 505 : error == .headTooLong ? 431 : 400
        return GatewayFailure(
            .httpRequestError, status, "the gateway refuses the request: \(error.reason)",
            nextStep: error == .targetInvalid
                ? "This is a proxy: use it with 'curl --proxy ADDRESS URL'." : "Correct the client that sent it.")
    }

    /// The failure if a part of a request does not arrive in time.
    static func requestTooSlow(_ part: String) -> GatewayFailure {
        GatewayFailure(
            .httpRequestError, 408, "the client does not send the \(part) of its request in time",
            nextStep: "Send the request again.")
    }

    /// The client has disconnected, so nobody sees this.
    static let abandoned = GatewayFailure(
        .connectionTerminated, 502, "the client does not wait for the connection any more", nextStep: "Try again.")

    /// The server, or the way to it, does not answer at all.
    static func unreachable(_ server: String) -> GatewayFailure {
        GatewayFailure(
            .connectionTimeout, 504, "\(server) does not accept the connection in time", nextStep: "Try again later.")
    }

    static func responseInvalid(_ error: MessageError, from server: String) -> GatewayFailure {
        GatewayFailure(
            .httpProtocolError, 502, "the response of \(server) cannot be passed on: \(error.reason)",
            nextStep: "Report it to the people who run the server.")
    }

    static func tls(_ server: ForwardedRequest.Destination, _ error: any Error) -> GatewayFailure {
        let name = server.description
        return switch TLSFailure(error) {
        case .untrustedCertificate:
            GatewayFailure(
                .tlsCertificateError, 502, "the certificate of \(name) is not trusted",
                nextStep: "Check that it has not expired. Name a private authority with --ca-file.")
        case .otherHost:
            GatewayFailure(
                .tlsCertificateError, 502, "the certificate of \(name) is for another host",
                nextStep: "Check the URL.")
        case .notTLS:
            GatewayFailure(
                .tlsProtocolError, 502, "\(name) does not speak TLS",
                nextStep: "Check the scheme and the port of the URL.")
        case .oldVersion:
            GatewayFailure(
                .tlsProtocolError, 502, "\(name) speaks only versions of TLS that are not secure any more",
                nextStep: "Update the server, or name it with --legacy-tls.")
        case .refused:
            GatewayFailure(
                .tlsAlertReceived, 502, "\(name) refuses the TLS handshake",
                nextStep: "Check whether it requires a client's certificate, which --client-certificate-file names.")
        case .timedOut:
            GatewayFailure(
                .connectionTimeout, 504, "\(name) does not finish the TLS handshake in time",
                nextStep: "Try again later.")
        case .disconnected:
            GatewayFailure(
                .connectionTerminated, 502, "\(name) closes the connection in the TLS handshake",
                nextStep: "Try again; if it happens each time, check the port of the URL.")
        case .other:
            GatewayFailure(
                .tlsProtocolError, 502, "no TLS connection to \(name) can be made",
                nextStep: "Check which cipher suites the server accepts.")
        }
    }

    /// The response without its body.
    var statusLine: String {
        let reason =
            switch status {
            case 400: "Bad Request"
            case 403: "Forbidden"
            case 405: "Method Not Allowed"
            case 407: "Proxy Authentication Required"
            case 408: "Request Timeout"
            case 413: "Content Too Large"
            case 421: "Misdirected Request"
            case 429: "Too Many Requests"
            case 431: "Request Header Fields Too Large"
            case 500: "Internal Server Error"
            case 502: "Bad Gateway"
            case 503: "Service Unavailable"
            case 504: "Gateway Timeout"
            case 505: "HTTP Version Not Supported"
            case 508: "Loop Detected"
            default: "Error"
            }
        return "HTTP/1.1 \(status) \(reason)"
    }

    /// The whole response: a page that explains what happened, and a Proxy-Status field (RFC 9209) for programs.
    ///
    /// - Parameter cacheStatus: The Cache-Status field (RFC 9211); `nil` if the cache takes no part.
    func response(to method: String, cacheStatus: String? = nil) -> [UInt8] {
        let page = MessagePage(
            title: "\(status) Crumb gateway", heading: "The page cannot be shown",
            paragraphs: ["\(sentence).", nextStep], note: "Crumb gateway: \(kind.rawValue)"
        ).html
        let details = sentence.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": String(scalar)
            default: "?"
            }
        }.joined()
        let challenge = status == 407 ? "Proxy-Authenticate: Basic realm=\"Crumb gateway\"\r\n" : ""
        let head = """
            \(statusLine)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(page.utf8.count)\r
            Cache-Control: no-store\r
            Content-Security-Policy: \(MessagePage.securityPolicy)\r
            \(challenge)Proxy-Status: crumb; error=\(kind.rawValue); details="\(details)"\r
            \(cacheStatus.map { "Cache-Status: \($0)\r\n" } ?? "")Connection: close\r
            \r

            """
        return Array(head.utf8) + (method == "HEAD" ? [] : Array(page.utf8))
    }
}

extension GatewayFailure {
    /// A tunnel whose requests the gateway does not read.
    static func offline(tunnel destination: ForwardedRequest.Destination) -> GatewayFailure {
        GatewayFailure(
            .destinationUnavailable, 504,
            "the gateway is offline, and does not read the requests to \(destination.description)",
            nextStep: "Name the host with --intercept, so that the recording or the cache can answer them.")
    }

    /// A request that nothing answers.
    ///
    /// - Parameter frame: Has what the gateway answers requests from.
    static func offline(_ request: ForwardedRequest, in frame: GatewayFrame) -> GatewayFailure {
        let wanted = "\(request.method) \(SecretRedaction.url(request.url.description))"
        let (hasReplay, hasPackages) = (frame.environment.replay != nil, frame.environment.packages != nil)
        // Neither packages nor the cache answer a request that passes unchanged.
        let isForeign = frame.settings.client == .tool && request.isOfBrowser
        guard !isForeign || hasReplay else {
            return GatewayFailure(
                .destinationUnavailable, 504,
                "the gateway is offline and for programs, and a browser has sent \(wanted)",
                nextStep: "Run a gateway for browsers with --client browser, or leave out --offline.")
        }
        var sources = hasReplay ? ["no recording"] : []
        if !isForeign, hasPackages { sources.append("no package") }
        if !isForeign, frame.cache != nil { sources.append("nothing in the cache") }
        let nextStep =
            if hasReplay {
                "Record it with 'crumb gateway run --record FILE', or leave out --offline."
            } else if hasPackages {
                "Add a package that has it with 'crumb gateway package add', or leave out --offline."
            } else {
                "Leave out --offline."
            }
        return GatewayFailure(
            .destinationUnavailable, 504,
            "the gateway is offline, and \(sources.isEmpty ? "nothing" : sources.joined(separator: " and ")) answers "
                + wanted,
            nextStep: nextStep)
    }
}
