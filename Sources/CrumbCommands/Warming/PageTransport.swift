package import CookieModel

/// A GET request of a page, as a browser sends it.
package struct PageRequest: Sendable {
    package let url: RequestURL
    /// The fields in their order.
    package let fields: [(name: String, value: String)]
    /// How many octets the content may have.
    package let limit: Int
    /// Whether the content is wanted. Otherwise only its octets are counted.
    package let wantsContent: Bool
}

/// The response to a ``PageRequest``.
package struct PageResponse: Sendable {
    package let status: Int
    /// The fields in their order.
    package let fields: [(name: String, value: String)]
    /// How many octets the content has, as it was sent.
    package let octets: Int
    /// The content without its coding; `nil` if it is not wanted, or if the coding is not known.
    package let content: [UInt8]?

    package init(status: Int, fields: [(name: String, value: String)], octets: Int, content: [UInt8]?) {
        self.status = status
        self.fields = fields
        self.octets = octets
        self.content = content
    }

    /// The values of a field, whose name is in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }

    /// Why the gateway has answered in place of the server; `nil` if the response is the server's.
    var gatewayFailure: String? {
        guard let status = values("proxy-status").first(where: { $0.hasPrefix("crumb; error=") }) else { return nil }
        let details = status.split(separator: "; details=", maxSplits: 1).last ?? ""
        let reason = String(details).trimmingPrefix("\"").dropLast().description
            .replacing(/\\(.)/) { String($0.output.1) }
        let isUntrusted = status.hasPrefix("crumb; error=tls_certificate_error;") && reason.hasSuffix("is not trusted")
        return isUntrusted ? "\(reason): name its authority with --ca-file" : reason
    }

    /// The members of a field that is a list, in lower case.
    func members(_ name: String) -> [String] {
        values(name).flatMap { $0.split(separator: ",") }.map { $0.trimmingPrefix { $0 == " " }.lowercased() }
    }
}

/// Sends requests through a gateway.
package protocol PageTransport: Sendable {
    /// - Throws: An error whose description says why there is no response, or not all of it.
    func get(_ request: PageRequest) async throws -> PageResponse

    /// Closes the connections.
    func shutDown() async
}
