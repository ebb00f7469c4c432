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
