public import WebPrimitives

/// A login on another device: the device authorization grant (RFC 8628).
package struct DeviceGrant: Sendable, Equatable {
    /// Where a login begins (section 3.1).
    package var deviceAuthorizationEndpoint: EndpointURL
    /// The server's token endpoint.
    package var tokenEndpoint: EndpointURL
    /// The client and its authentication.
    package var authentication: ClientAuthentication
    /// The scopes to request.
    package var scopes: Scopes
    /// The resources that the token is for (RFC 8707).
    package var resources: [String]

    /// Creates a grant for one client at one server.
    package init(
        deviceAuthorizationEndpoint: EndpointURL, tokenEndpoint: EndpointURL, authentication: ClientAuthentication,
        scopes: Scopes = [], resources: [String] = []
    ) {
        self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.scopes = scopes
        self.resources = resources
    }

    /// The request that begins a login (section 3.1).
    package func authorizationRequest() -> EndpointRequest {
        var body = FormBody()
        // Section 3.1 requires the identifier if the client does not authenticate; servers require it always.
        authentication.addIdentifier(to: &body)
        body.append(scopes)
        body.append(resources: resources)
        return EndpointRequest(endpoint: deviceAuthorizationEndpoint, authentication: authentication, body: body)
    }

    /// The code and URL for the user (section 3.2).
    package func authorization(
        in response: EndpointResponse, now: Timestamp
    ) throws(OAuth2Error) -> DeviceAuthorization {
        let members = try response.members(redacting: authentication.secrets)
        return try DeviceAuthorization(members, status: response.statusCode, now: now)
    }

    /// The request that asks whether the user has confirmed (section 3.4).
    package func request(polling authorization: DeviceAuthorization) -> EndpointRequest {
        var body = FormBody()
        body.append("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
        body.append("device_code", authorization.deviceCode)
        authentication.addIdentifier(to: &body)
        // RFC 8707, section 2.2: the token endpoint gets the resources of the token, too.
        body.append(resources: resources)
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The state of the login (section 3.5).
    ///
    /// - Throws: ``OAuth2Error/Code/accessDenied``, ``OAuth2Error/Code/deviceCodeExpired``, and for an unusable reply
    ///   the error that other replies of the token endpoint throw. Continue after a temporary failure
    ///   (``OAuth2Error/isTemporary``).
    package func outcome(
        in response: EndpointResponse, polling authorization: DeviceAuthorization, now: Timestamp
    ) throws(OAuth2Error) -> DeviceOutcome {
        do {
            var tokens = try TokenResponse.tokenSet(
                response, now: now,
                redacting: [authorization.deviceCode] + authentication.secrets)
            if !scopes.isEmpty { tokens.scopes = tokens.scopes ?? scopes }
            return .issued(tokens)
        } catch {
            switch error.serverCode {
            case "authorization_pending": return .pending
            case "slow_down": return .slowDown
            default: throw error
            }
        }
    }
}

/// The state of a login on another device.
package enum DeviceOutcome: Sendable, Equatable {
    /// The user has confirmed.
    case issued(TokenSet)
    /// The user has not yet confirmed.
    case pending
    /// The user has not yet confirmed, and the server requires a longer interval.
    case slowDown
}

/// A login to confirm on another device (RFC 8628, section 3.2).
public struct DeviceAuthorization: Sendable, Equatable {
    /// The code with which the client requests the tokens.
    package let deviceCode: Secret
    /// The code that the user enters.
    public let userCode: String
    /// The URL where the user enters it.
    public let verificationURI: String
    /// The same with the code in it, for a QR code or a click; `nil` if the server has none.
    public let verificationURIComplete: String?
    /// When the codes expire.
    public let expiry: Timestamp
    /// How long to wait between two requests, in seconds: the server's interval, from a second to an hour.
    /// ``slowDown()`` and ``backOff()`` add to it.
    package private(set) var interval: Int

    /// The lifetime of codes, if the server's response has no usable one.
    private static let defaultLifetime: Int64 = 600
    private static let defaultInterval = 5

    init(_ members: JSONObject, status: Int, now: Timestamp) throws(OAuth2Error) {
        // Google's name for the second comes from before the RFC.
        guard let deviceCode = members["device_code"]?.nonEmptyText,
            let userCode = members["user_code"]?.nonEmptyText,
            let uri = members.first(of: ["verification_uri", "verification_url"])?.nonEmptyText
        else {
            throw .unusable(
                .incompleteReply, status: status, "it lacks a device_code, user_code or verification_uri")
        }
        let complete = members.first(of: ["verification_uri_complete", "verification_url_complete"])?.nonEmptyText
        // The user is told to open these URLs, so they must be web pages, and must not contain characters that control
        // a terminal.
        guard DeviceAuthorization.isWebURL(uri), complete.map(DeviceAuthorization.isWebURL) ?? true,
            (1...64).contains(userCode.utf8.count), userCode.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw .unusable(
                .incompleteReply, status: status, "its verification_uri or user_code cannot be shown to a user")
        }
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        verificationURI = uri
        verificationURIComplete = complete
        let expiry = TokenExpiry(members: members).ofReply(.accessToken, receivedAt: now)
        self.expiry = expiry ?? now.advanced(bySeconds: DeviceAuthorization.defaultLifetime)
        let seconds = members["interval"].flatMap(TokenExpiry.wholeSeconds) ?? DeviceAuthorization.defaultInterval
        interval = min(max(seconds, 1), 3600)
    }

    /// Longer than any server needs, unless it names a longer interval itself.
    private static let longestWait = 60

    /// Adds five seconds to the wait, after a `slow_down` (section 3.5).
    package mutating func slowDown() {
        grow(to: interval + 5)
    }

    /// Doubles the wait after a server that did not respond (section 3.5).
    ///
    /// - Parameter seconds: The server's minimum (`Retry-After`; RFC 9110, section 10.2.3), if given. At most an hour
    ///   is accepted, as for the server's interval.
    package mutating func backOff(atLeast seconds: Int? = nil) {
        grow(to: interval * 2)
        interval = max(interval, min(seconds ?? 0, 3600))
    }

    private mutating func grow(to seconds: Int) {
        interval = max(interval, min(seconds, DeviceAuthorization.longestWait))
    }

    private static func isWebURL(_ text: String) -> Bool {
        let isWeb = ["https://", "http://"].contains { text.lowercased().hasPrefix($0) }
        return isWeb && text.utf8.count <= 2048 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
