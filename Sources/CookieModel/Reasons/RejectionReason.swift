package import WebPrimitives

/// Why a received cookie is not stored.
public enum RejectionReason: UInt8, DecisionReason {
    /// The line has a control character other than tab (section 5.6 of the draft, step 1).
    case controlCharacter
    /// Name and value together have more than 4096 octets (section 5.6 of the draft, step 5).
    case nameAndValueTooLong
    /// Name and value are empty (section 5.7 of the draft, step 2).
    case emptyNameAndValue
    /// The `Domain` attribute is not ASCII (section 5.7 of the draft, step 8).
    case domainNotASCII
    /// The `Domain` attribute is a public suffix and not the request's host (section 5.7 of the draft, step 9).
    case domainPublicSuffix
    /// The request's host does not domain-match the `Domain` attribute (section 5.7 of the draft, step 10).
    case domainMismatch
    /// The flag ``CookieProfile/rejectsNonASCIIPath``.
    case pathNotASCII
    /// A Secure cookie from an insecure connection (section 5.7 of the draft, step 13).
    case secureFromInsecure
    /// An HttpOnly cookie from a script (section 5.7 of the draft, step 15).
    case httpOnlyFromScript
    /// The cookie would overlay a Secure one from an insecure connection (section 5.7 of the draft, step 16).
    case overwriteSecure
    /// A cross-site request or script, without `SameSite=None` (section 5.7 of the draft, step 18).
    case sameSiteCrossSite
    /// `SameSite=None` without `Secure` (section 5.7 of the draft, step 19).
    case sameSiteNoneInsecure
    /// A `__Secure-` name without `Secure` (section 5.7 of the draft, step 20).
    case prefixSecure
    /// A `__Host-` name without `Secure` or `Path=/`, or with a `Domain` (section 5.7 of the draft, step 21).
    case prefixHost
    /// The flag ``CookieProfile/honoursHTTPPrefixes``.
    case prefixHTTP
    /// No name, and a value that begins with a prefix (section 5.7 of the draft, step 22).
    case prefixNameless
    /// A script would replace an HttpOnly cookie (section 5.7 of the draft, step 23.2).
    case overwriteHTTPOnly
    /// CHIPS: a partitioned cookie needs `Secure`.
    case partitionedInsecure
    /// Section 5.3: the response is informational, as 103 Early Hints is.
    case informationalResponse
    /// A record whose domain is not a host.
    case hostInvalid
    /// A record whose path does not begin with a slash, or ends in white space.
    case pathInvalid
    /// A record whose name or value cannot come from a Set-Cookie line.
    case pairInvalid
    /// CHIPS: a recorded third-party response without the page that its partition belongs to.
    case partitionUnknown
    /// A recorded response whose time is unknown, for a stored cookie whose time is known and later.
    case timeUnknown
    /// The browser that sends the request omits credentials, or blocks the cookies of third parties.
    case browserOmits
    /// What identifies the cookie is too long for the database.
    case identityTooLong
    /// The cookie is a gateway's own.
    case gatewayWitness

    /// The stable identifier, as `crumb explain` and scenarios write it.
    public var identifier: String {
        switch self {
        case .controlCharacter: "control-character"
        case .nameAndValueTooLong: "name-value-too-long"
        case .emptyNameAndValue: "empty-name-value"
        case .domainNotASCII: "domain-not-ascii"
        case .domainPublicSuffix: "domain-public-suffix"
        case .domainMismatch: "domain-mismatch"
        case .pathNotASCII: "path-not-ascii"
        case .secureFromInsecure: "secure-from-insecure"
        case .httpOnlyFromScript: "http-only-from-script"
        case .overwriteSecure: "overwrite-secure"
        case .sameSiteCrossSite: "same-site-cross-site"
        case .sameSiteNoneInsecure: "same-site-none-insecure"
        case .prefixSecure: "prefix-secure"
        case .prefixHost: "prefix-host"
        case .prefixHTTP: "prefix-http"
        case .prefixNameless: "prefix-nameless"
        case .overwriteHTTPOnly: "overwrite-http-only"
        case .partitionedInsecure: "partitioned-insecure"
        case .informationalResponse: "informational-response"
        case .hostInvalid: "host-invalid"
        case .pathInvalid: "path-invalid"
        case .pairInvalid: "pair-invalid"
        case .partitionUnknown: "partition-unknown"
        case .timeUnknown: "time-unknown"
        case .browserOmits: "browser-omits"
        case .identityTooLong: "identity-too-long"
        case .gatewayWitness: "gateway-witness"
        }
    }

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .controlCharacter: "the line contains a control character"
        case .nameAndValueTooLong: "name and value together exceed 4096 octets"
        case .emptyNameAndValue: "name and value are both empty"
        case .domainNotASCII: "Domain contains a non-ASCII octet"
        case .domainPublicSuffix: "Domain is a public suffix"
        case .domainMismatch: "Domain is neither the responding host nor a parent of it"
        case .pathNotASCII: "Path contains a non-ASCII octet"
        case .secureFromInsecure: "an insecure connection cannot set a Secure cookie"
        case .httpOnlyFromScript: "a script cannot set an HttpOnly cookie"
        case .overwriteSecure: "an insecure connection cannot overlay a Secure cookie of the same name"
        case .sameSiteCrossSite:
            "a cross-site request can set only SameSite=None cookies, unless it is a top-level navigation"
        case .sameSiteNoneInsecure: "SameSite=None requires Secure"
        case .prefixSecure: "the name prefix __Secure- requires Secure"
        case .prefixHost: "the name prefix __Host- requires Secure, Path=/ and no Domain"
        case .prefixHTTP: "the name prefixes __Http- and __Host-Http- require Secure and HttpOnly"
        case .prefixNameless: "the cookie has no name, and its value begins with a name prefix"
        case .overwriteHTTPOnly: "a script cannot replace an HttpOnly cookie"
        case .partitionedInsecure: "Partitioned requires Secure"
        case .informationalResponse: "an informational (1xx) response cannot set cookies"
        case .hostInvalid: "the domain is not a valid host name or IP address"
        case .pathInvalid: "the path does not begin with a slash, or ends in white space"
        case .pairInvalid:
            "name or value contains a semicolon or outer white space, or the name contains an equals sign"
        case .partitionUnknown:
            "a third party set the Partitioned cookie, and the capture does not name the page of its partition"
        case .timeUnknown:
            "the capture does not tell when the response came, and the stored cookie may be newer"
        case .browserOmits:
            "the browser stores no such cookie: it omits credentials, or blocks third-party cookies"
        case .identityTooLong:
            "name, path and domain together are too long for the index of the database server"
        case .gatewayWitness: "it is a witness cookie of a Crumb gateway, not a cookie of the site"
        }
    }
}

extension RejectionReason {
    /// The fix, for a developer, a user or a server.
    public var remedy: String { remedySentence.text }

    package var remedySentence: ErrorSentence {
        switch self {
        case .controlCharacter: "the server must encode the value"
        case .nameAndValueTooLong: "the server must keep the data itself and set an ID"
        case .emptyNameAndValue: "the server must give the cookie a name"
        case .domainNotASCII: "the server must write Domain in A-labels (xn--…)"
        case .domainPublicSuffix: "the server must set Domain to the registrable domain, or omit it"
        case .domainMismatch: "check the URL of the response; the server must omit Domain, or set its own"
        case .pathNotASCII: "the server must percent-encode Path"
        case .secureFromInsecure: "use https"
        case .httpOnlyFromScript: "the server must set it in a response"
        case .overwriteSecure: "use https"
        case .sameSiteCrossSite: "the server must set SameSite=None; Secure if third parties need the cookie"
        case .sameSiteNoneInsecure: "the server must add Secure"
        case .prefixSecure: "the server must add Secure"
        case .prefixHost: "the server must set Secure and Path=/, and omit Domain"
        case .prefixHTTP: "the server must set Secure and HttpOnly"
        case .prefixNameless: "the server must give the cookie a name"
        case .overwriteHTTPOnly: "the server must set it in a response"
        case .partitionedInsecure: "the server must add Secure"
        case .informationalResponse: "the server must set it in the final response"
        case .hostInvalid: "correct the file"
        case .pathInvalid: "correct the file"
        case .pairInvalid: "correct the file"
        case .partitionUnknown: "name the page \(app: "as topLevel", command: "with --top-level")"
        case .timeUnknown:
            "correct startedDateTime, or import \(app: "the response as received now", command: "with --received-now")"
        case .browserOmits: "load the page itself once, or allow third-party cookies in the browser"
        case .identityTooLong: "the server must use a shorter name or path"
        case .gatewayWitness:
            "the session's HttpOnly cookies are in the gateway's jar\(command: ": use 'crumb header --jar JAR'")"
        }
    }
}
