/// Why something cannot be done as it was asked for: a stable code, as the command has an exit status for, and one
/// sentence that a user can act on.
package struct OperationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    package let failure: FailureKind
    /// Its stable code.
    package var code: String { failure.code }
    /// What is wrong, and what to do.
    package let description: String

    package init(_ failure: FailureKind, _ description: String) {
        self.failure = failure
        self.description = description
    }
}
