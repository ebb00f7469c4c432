public import CookieModel
public import HTTPTypes

/// The part of one response that cookie rules and redirects read, out of whatever a client gives.
public struct ResponseHead: Sendable {
    /// The status code.
    public var status: Int
    /// The first Location field that is not empty.
    public var location: Octets?
    /// The values of the WWW-Authenticate fields, in order; empty where a client's adapter does not give them.
    public var authenticate: [Octets]
    /// The values of the Set-Cookie fields, each apart, in order.
    public var setCookie: [Octets]
    /// What of them is not certain, for how the client gives them.
    public var doubts: [SetCookieDoubt]

    /// A head from its parts.
    public init(
        status: Int, location: Octets? = nil, authenticate: [Octets] = [], setCookie: [Octets] = [],
        doubts: [SetCookieDoubt] = []
    ) {
        self.status = status
        self.location = location
        self.authenticate = authenticate
        self.setCookie = setCookie
        self.doubts = doubts
    }

    /// The head of a response in the types of HTTPTypes, which keeps every field apart and every octet.
    public init(_ response: HTTPResponse) {
        self.init(
            status: response.status.code,
            location: response.headerFields.octets(of: .location).first { !$0.isEmpty },
            authenticate: response.headerFields.octets(of: .wwwAuthenticate),
            setCookie: response.headerFields.octets(of: .setCookie))
    }

    /// The head from what a client gives as text that it has decoded as UTF-8: lines in which it has put U+FFFD in the
    /// place of other octets are left out, and that is told.
    package init(status: Int, location: String?, decodedSetCookie: [String]) {
        self.init(status: status, location: location.map { Octets($0) })
        for (index, line) in decodedSetCookie.enumerated() {
            if line.unicodeScalars.contains("\u{FFFD}") {
                doubts.append(SetCookieDoubt(.octetsReplaced, line: index))
            } else {
                setCookie.append(Octets(line))
            }
        }
    }
}
