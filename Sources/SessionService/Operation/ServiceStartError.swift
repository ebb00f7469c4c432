/// Why the service does not start: a stable code, and one sentence that an administrator can act on.
public struct ServiceStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable identifier.
    public enum Code: String, Sendable {
        /// The configuration says something that cannot be.
        case configurationInvalid = "configuration-invalid"
        /// An address cannot be listened on.
        case addressUnavailable = "address-unavailable"
        /// Another process listens there.
        case addressInUse = "address-in-use"
        /// An address that others can reach, without what protects it.
        case unprotected
        /// The certificate or its key cannot be used.
        case certificateInvalid = "certificate-invalid"
        /// A file cannot be read or written.
        case fileUnusable = "file-unusable"
    }

    /// What went wrong.
    public let code: Code
    /// One sentence that names the subject and what to do. Never holds a secret.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
