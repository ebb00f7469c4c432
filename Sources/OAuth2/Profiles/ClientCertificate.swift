internal import Crypto
internal import HTTPTypes
internal import WebPrimitives

/// The certificate that a client presents to the server, and its private key (RFC 8705).
///
/// It authenticates the client, or has tokens bound to it, or both.
public struct ClientCertificate: Sendable, Equatable {
    /// The certificate, its issuers' certificates, and the private key, concatenated in PEM.
    package let pem: Secret
    /// The certificate's SHA-256 thumbprint, which a bound token names as `cnf.x5t#S256` (section 3.1).
    package let thumbprint: String

    /// Creates a certificate from its stored form.
    ///
    /// - Throws: ``OAuth2Error/Code/invalidKey`` if the text has no certificate or no unencrypted private key.
    public init(pem: Secret) throws(OAuth2Error) {
        let text = pem.exposedText ?? ""
        guard let certificate = PEMText.contents(of: "CERTIFICATE", in: text) else {
            throw OAuth2Error(.invalidKey, "The file is not a PEM file with a certificate.")
        }
        guard ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"].contains(where: { PEMText.has($0, in: text) }) else {
            throw OAuth2Error(.invalidKey, "The file is not a PEM file with an unencrypted private key.")
        }
        self.pem = pem
        thumbprint = Base64.textForURL(Array(SHA256.hash(data: certificate)))
    }

    /// Creates a certificate and its key from two files.
    ///
    /// - Throws: As ``init(pem:)``.
    package init(certificate: [UInt8], key: Secret) throws(OAuth2Error) {
        try self.init(pem: Secret(certificate + [UInt8(ascii: "\n")] + key.exposedBytes))
    }
}

/// Textual encodings of certificates and keys (RFC 7468).
package enum PEMText {
    /// Whether there is a block of that label.
    static func has(_ label: String, in text: String) -> Bool {
        lines(of: label, in: text) != nil
    }

    /// Returns the decoded content of the first block with a label.
    package static func contents(of label: String, in text: String) -> [UInt8]? {
        guard let lines = lines(of: label, in: text) else { return nil }
        return Base64.decode(lines.joined().utf8).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func lines(of label: String, in text: String) -> [String]? {
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        guard let start = lines.firstIndex(of: "-----BEGIN \(label)-----"),
            let end = lines[start...].firstIndex(of: "-----END \(label)-----")
        else { return nil }
        return Array(lines[(start + 1)..<end])
    }
}

/// A transport that shows a certificate to those that get more than anyone may read.
struct CertificateTransport: EndpointTransport {
    let base: any EndpointTransport
    let certificate: Secret

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        try await base.send(request.method == .get ? request : request.showing(certificate))
    }
}

extension TokenSet {
    /// The thumbprint of the certificate that the access token is bound to (RFC 8705, section 3.1); `nil` if the token
    /// is a JWT without one, or not readable for clients.
    package var certificateThumbprint: String? {
        let parts = accessToken.exposedBytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decodeForURL(parts[1]),
            case .object(let claims) = JSONDocument(payload)
        else { return nil }
        return claims.certificateThumbprint
    }
}

extension JSONObject {
    /// The thumbprint in a token's confirmation (RFC 8705, sections 3.1 and 3.2).
    var certificateThumbprint: String? {
        self["cnf"]?.object?["x5t#S256"]?.nonEmptyText
    }
}
