package import Foundation
import HTTPTypes
package import OAuth2

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A line of JSON with a body behind it, as `crumb` and `crumb-network` send it to each other.
package struct HelperMessage<Head: Codable> {
    package let head: Head
    package let body: [UInt8]

    package init(_ head: Head, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    /// Reads a message that is complete; `nil` where it is none.
    package init?(parsing bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<end]))
        else { return nil }
        self.init(head, body: Array(bytes[(end + 1)...]))
    }

    /// The message's bytes. JSON as it is written here has no line feeds.
    package var bytes: [UInt8] {
        get throws {
            Array(try JSONEncoder().encode(head)) + [UInt8(ascii: "\n")] + body
        }
    }
}

/// What `crumb` asks of `crumb-network`, on the latter's standard input: a line of JSON, and a body behind it.
///
/// It is full of secrets: it goes through a pipe that nobody else can read, and is never printed.
package struct HelperRequest: Codable, Sendable {
    /// A field of a message.
    package struct Field: Codable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let method: String
    package let url: String
    package let fields: [Field]

    package init(method: String, url: String, fields: [Field]) {
        self.method = method
        self.url = url
        self.fields = fields
    }
}

/// What `crumb-network` answers on its standard output: a line of JSON, and a body behind it.
package enum HelperAnswer: Codable, Sendable {
    /// A server has answered.
    case response(status: Int, fields: [HelperRequest.Field])
    /// Nobody has, and why: a clause without anything of the request.
    case failure(String)
    /// Nothing was sent, since a local setting cannot be used: a clause that names it.
    case settingsInvalid(String)
}

/// A key set of a server, and a token that one of the keys should have signed.
package struct SignatureQuestion: Codable, Sendable {
    package let keysStatus: Int
    package let keys: Data
    package let token: Data

    package init(keysStatus: Int, keys: Data, token: Data) {
        self.keysStatus = keysStatus
        self.keys = keys
        self.token = token
    }
}

/// Whether the token was signed by one of the keys.
package enum SignatureAnswer: Codable, Sendable {
    case verified
    /// It was not, or cannot be told to have been: one sentence, without anything of the token.
    case refused(String)
}

extension HelperMessage where Head == HelperAnswer {
    /// What the authorization server answered to `request`.
    ///
    /// - Throws: that nobody has answered, and why.
    package func response(to request: EndpointRequest) throws(OAuth2Error) -> EndpointResponse {
        switch head {
        case .failure(let reason): throw OAuth2Error(unreachable: "\(request.endpoint.authority): \(reason)")
        case .settingsInvalid(let reason): throw OAuth2Error(unusableSettings: reason)
        case .response(let status, let fields):
            var response = EndpointResponse(
                status: HTTPResponse.Status(code: status),
                fields: HTTPFields(
                    fields.compactMap { field in
                        HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
                    }),
                body: body)
            response.endpoint = request.endpoint
            return response
        }
    }
}

/// What `crumb` asks of `crumb-network` where the answer is an authorization server's, on standard input: a line of JSON,
/// and the request's body behind it. The input stays open behind the body for as long as somebody waits for the answer:
/// its end says that nobody does any more, and that nothing is to be sent.
package struct ExchangeQuestion: Codable, Sendable {
    package let request: HelperRequest
    /// How many bytes the body has.
    package let bodyByteCount: Int
    /// The signals that end neither program while an answer is on its way: Control-C, `kill`, a closed terminal, and
    /// Control-\. `crumb` holds them back; `crumb-network` ignores them and ends with its input.
    package static let deferredSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// When it is too late to send the request: ``OAuth2/EndpointRequest/latestSending``.
    package let latestSending: Int64?
    /// How long the whole answer is worth waiting for: ``OAuth2/EndpointRequest/answerTimeout``.
    package let timeoutMilliseconds: Int64?
    /// The certificate that the client shows, and its key, in PEM: ``OAuth2/ClientCertificate/pem``.
    package let clientCertificate: [UInt8]?
}

extension HelperMessage where Head == ExchangeQuestion {
    /// A request to an authorization server.
    package init(_ request: EndpointRequest) {
        let head = request.exposedHead
        let fields = head.headerFields.map { HelperRequest.Field(name: $0.name.rawName, value: $0.value) }
        let body = request.exposedBody
        self.init(
            ExchangeQuestion(
                request: HelperRequest(
                    method: head.method.rawValue, url: request.endpoint.description, fields: fields),
                bodyByteCount: body.count, latestSending: request.latestSending,
                timeoutMilliseconds: request.answerTimeout.map { Int64($0 / .milliseconds(1)) },
                clientCertificate: request.exposedClientCertificate),
            body: body)
    }
}

/// A text that is to be shown as a QR code on a terminal.
package struct QRCodeQuestion: Codable, Sendable {
    package let text: String
    /// Whether the terminal is to be told the colours of the code, which it then shows as they should be.
    package let usesColor: Bool

    package init(text: String, usesColor: Bool) {
        self.text = text
        self.usesColor = usesColor
    }
}

/// The QR code of a text.
package enum QRCodeAnswer: Codable, Sendable {
    /// Lines for a terminal, and how many columns they take.
    case drawn(lines: [String], columns: Int)
    /// The text fits no QR code.
    case tooLong
}

/// What `crumb` asks of `crumb-network` where the answer is a service's own, on standard input: a line of JSON, and the
/// request's body behind it, as it comes. The answer is a ``HelperAnswer`` in a line of JSON with the body behind it, as
/// it comes.
package struct ServiceCall: Codable, Sendable {
    /// What stands behind the line.
    package enum Body: Codable, Sendable {
        case none
        /// A body of so many bytes.
        case whole(byteCount: Int)
        /// A body that ends when it ends.
        case streamed
    }

    package let request: HelperRequest
    package let body: Body

    /// Certificates in PEM that are trusted besides the system's.
    package let authorities: String?

    package init(_ request: HelperRequest, body: Body, authorities: String? = nil) {
        self.request = request
        self.body = body
        self.authorities = authorities
    }
}
