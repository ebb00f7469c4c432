public import CookieModel
public import HTTPTypes

/// The part of one response that cookie rules and redirects read, out of whatever a client gives.
public struct ResponseHead: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The first Location field that is not empty.
    public var location: Octets?
    /// The values of the WWW-Authenticate fields, in order; empty if a client's adapter does not give them.
    package var authenticate: [Octets]
    /// The value of the DPoP-Nonce field; `nil` without one, or if a client's adapter does not provide it.
    package var proofNonce: String?
    /// The values of the Proxy-Status fields (RFC 9209), in order; empty if a client's adapter does not give them.
    package var proxyStatus: [Octets]
    /// The values of the Set-Cookie fields, each apart, in order.
    package var setCookie: [Octets]
    /// The ambiguities in the lines that result from the form in which the client provides them.
    package var doubts: [SetCookieDoubt]

    /// A head from its parts.
    public init(
        status: Int, location: Octets? = nil, authenticate: [Octets] = [], proofNonce: String? = nil,
        proxyStatus: [Octets] = [], setCookie: [Octets] = [], doubts: [SetCookieDoubt] = []
    ) {
        self.proxyStatus = proxyStatus
        self.proofNonce = proofNonce
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
            proofNonce: HTTPField.Name(ResponseHead.proofNonceFieldName).flatMap { response.headerFields[$0] },
            proxyStatus: HTTPField.Name(ResponseHead.proxyStatusFieldName)
                .map { response.headerFields.octets(of: $0) } ?? [],
            setCookie: response.headerFields.octets(of: .setCookie))
    }

    /// This head with the cookies of a response before it that the caller does not get.
    package func preceded(by other: ResponseHead?) -> ResponseHead {
        guard let other else { return self }
        let acceptedCount = other.setCookie.count
        let count = acceptedCount + other.doubts.count { $0.kind == .octetsReplaced }
        var head = self
        head.setCookie = other.setCookie + setCookie
        head.doubts =
            other.doubts
            + doubts.map { doubt in
                SetCookieDoubt(
                    doubt.kind, line: doubt.line + (doubt.kind == .octetsReplaced ? count : acceptedCount))
            }
        return head
    }

    /// The field in which servers name the nonce that they want in proofs (RFC 9449, section 8.2).
    package static let proofNonceFieldName = "DPoP-Nonce"
    /// The field in which intermediaries say how they handled the request (RFC 9209).
    package static let proxyStatusFieldName = "Proxy-Status"

    /// Creates the head from fields that a client has decoded as UTF-8. Lines in which it replaced octets with U+FFFD
    /// are left out and reported.
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

extension ResponseHead: ValueHiding {
    /// The status and the number of Set-Cookie lines, without the values of fields.
    public var description: String { "\(status) (Set-Cookie: \(setCookie.count), values hidden)" }
}

/// The error of a transport that has received the head of a response, but not its body. An exchange stores the cookies of
/// the head, and throws the reason.
package struct BrokenResponse: Error {
    /// The head that was received.
    package let head: ResponseHead
    /// All fields that were received, in order; empty if only the head matters.
    package let fields: [(name: Octets, value: Octets)]
    /// The client's error.
    package let reason: any Error

    /// Creates the error.
    package init(_ head: ResponseHead, fields: [(name: Octets, value: Octets)] = [], reason: any Error) {
        self.head = head
        self.fields = fields
        self.reason = reason
    }
}

/// Something about the Set-Cookie lines of a response that a client has made impossible to tell for certain.
public struct SetCookieDoubt: Sendable, Hashable {
    /// The kind of ambiguity.
    public enum Kind: String, Sendable, CaseIterable {
        /// A comma within a value was taken for the end of a line: the rest may be part of the value instead.
        case splitWithinValue = "split-within-value"
        /// A comma was taken for part of a line: the rest may be a line of its own instead.
        case commaKept = "comma-kept"
        /// The client has put other characters in the place of octets; the line is left out.
        case octetsReplaced = "octets-replaced"

        /// One sentence for a user.
        public var explanation: String {
            switch self {
            case .splitWithinValue:
                "the client has joined lines with commas, and this one may be the end of the value before it"
            case .commaKept: "the client joined lines with commas, so this one may contain another"
            case .octetsReplaced: "the client replaced octets that are not UTF-8, so the line was dropped"
            }
        }
    }

    /// The kind of ambiguity.
    public let kind: Kind
    /// The index of the line among those that were accepted; if the line was left out, among all.
    public let line: Int

    /// A doubt about a line.
    package init(_ kind: Kind, line: Int) {
        self.kind = kind
        self.line = line
    }
}
