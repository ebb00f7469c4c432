/// Why a header field cannot be kept with a jar: a stable code, the field, one sentence a user can act on. Never holds a
/// value.
public struct FieldRuleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable code.
    public static let code = "field-invalid"

    /// The name that was given.
    public let subject: String
    private let detail: String

    init(_ subject: String, _ detail: String) {
        self.subject = subject
        self.detail = detail
    }

    /// One sentence that names the field and what to do.
    public var description: String {
        "\(subject): \(detail)"
    }
}
