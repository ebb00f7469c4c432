extension RejectionReason {
    /// What a server or a user does about it, for a person.
    public var remedy: String {
        switch self {
        case .controlCharacter: "server: encode the value"
        case .nameAndValueTooLong: "server: keep the data on the server, an id in the cookie"
        case .emptyNameAndValue: "server: give it a name"
        case .domainNotASCII: "server: write it in A-labels (xn--…)"
        case .domainPublicSuffix: "server: name the registrable domain, or leave Domain out"
        case .domainMismatch: "server: leave Domain out; user: check the URL that it is said to come from"
        case .pathNotASCII: "server: percent-encode the path"
        case .secureFromInsecure: "user: use https"
        case .httpOnlyFromScript: "server: set it with a response"
        case .overwriteSecure: "user: use https"
        case .sameSiteCrossSite: "server: SameSite=None; Secure where third parties need it"
        case .sameSiteNoneInsecure: "server: add Secure"
        case .prefixSecure: "server: add Secure"
        case .prefixHost: "server: Secure; Path=/ and no Domain"
        case .prefixHTTP: "server: Secure; HttpOnly"
        case .prefixNameless: "server: give it a name"
        case .overwriteHTTPOnly: "server: set it with a response"
        case .partitionedInsecure: "server: add Secure"
        case .informationalResponse: "server: set it with the final response"
        case .hostInvalid: "user: repair the file"
        case .pathInvalid: "user: repair the file"
        case .pairInvalid: "user: repair the file"
        case .partitionUnknown: "user: name the page with --top-level"
        }
    }
}
