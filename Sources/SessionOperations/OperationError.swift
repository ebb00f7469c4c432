/// Why something cannot be done as it was asked for: a stable code, as the command has an exit status for, and one
/// sentence that a user can act on.
package struct OperationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable code.
    package let code: String
    /// What is wrong, and what to do.
    package let description: String

    package init(code: String, _ description: String) {
        self.code = code
        self.description = description
    }
}
