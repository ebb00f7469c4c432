extension RejectionReason {
    /// How a user or a server fixes it, for a person.
    public var remedy: String {
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
        case .partitionUnknown: "name the page with --top-level"
        case .timeUnknown: "correct startedDateTime, or import with --received-now"
        }
    }
}
